"""Compact models as somebody would write them down, decomposed by :func:`colgen.decompose`: no oracle is written.

Five families whose blocks are different things: knapsacks (assignment), knapsacks that are all the same and may stay
closed (bin packing, cutting stock), knapsacks of facilities (capacitated p-median), and lots of an item over time,
which no kernel knows (lot sizing).
"""

"""Graphs: stable sets, cliques, colourings."""

"""Mixed-integer linear models in MPS, LP and SMPS files, decomposed into blocks or handed to HiGHS.

The files are read by :func:`colgen.read`, and :func:`colgen.decompose` makes the problem.
"""

"""Mathematical problems on arrays, one a file.

Functions of plain Python are the public surface: by way of :mod:`colgen.solvers.arrays` they refuse what a cast would
change, indices out of range and NaN.  Compiled kernels (``@njit``) trust their arguments, and so does everybody the
named tuples that functions here return: whoever calls a kernel, or builds such a tuple by hand, answers for what is in
it.
"""

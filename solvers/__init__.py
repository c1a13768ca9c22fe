"""Mathematical problems on arrays, one per file.

Public functions are plain Python.  They validate their arguments with :mod:`colgen.solvers.arrays`.  It rejects NaN,
indices out of range and values that a cast would change.  Compiled kernels (``@njit``) do not check their arguments.
Functions do not check named tuples built by other functions here.  A caller who builds such a tuple, or calls a kernel,
must pass valid arrays.
"""

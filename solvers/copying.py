"""Entries of one array written over those of another, for kernels."""

from __future__ import annotations

from colgen.solvers.kernel_cache import njit


@njit(cache=True, nogil=True, borrows=True)
def overwrite(target, source):  # type: ignore[no-untyped-def]
    """``target[:] = source`` of arrays of one axis and one length.

    numba's own assignment brings the text of an error with it, and what puts texts together: four seconds of compiling
    for the first kernel that has one, and half a second for each further.
    """
    for i in range(len(target)):
        target[i] = source[i]

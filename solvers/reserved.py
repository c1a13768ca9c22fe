"""Large arrays of zeros that use memory only for the pages that are written to."""

from __future__ import annotations

import math
import mmap
import platform
import sys
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

_SMALL = 1 << 22
"""Arrays below this many bytes get no large pages from numpy."""

_NO_RESERVE = getattr(mmap, "MAP_NORESERVE", 0)
if not _NO_RESERVE and sys.platform == "linux" and platform.machine() in ("x86_64", "aarch64"):
    _NO_RESERVE = 0x4000  # Python defines the constant from 3.13


def sparse_zeros(shape: tuple[int, ...], dtype: DTypeLike = np.float64) -> NDArray[Any]:
    """Return an array of zeros that uses memory only where it is written to, and may exceed the memory of the machine.

    numpy's large arrays use large pages, one for each row that is written to.  numpy also rejects arrays larger than
    the memory of the machine even if little of them is used.
    """
    kind = np.dtype(dtype)
    size = math.prod(shape) * kind.itemsize
    if size < _SMALL or not hasattr(mmap, "MAP_PRIVATE"):
        return np.zeros(shape, dtype=kind)
    try:
        room = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NO_RESERVE)
    except (OSError, OverflowError) as error:
        raise MemoryError(f"cannot reserve address space for an array of shape {shape}") from error
    return np.frombuffer(room, dtype=kind).reshape(shape)

"""Arrays of which little is ever written to: they take room page by page, as they are."""

from __future__ import annotations

import math
import mmap
import platform
import sys
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

_SMALL = 1 << 22
"""Bytes of an array for which numpy asks for no large pages."""

_NO_RESERVE = getattr(mmap, "MAP_NORESERVE", 0)
if not _NO_RESERVE and sys.platform == "linux" and platform.machine() in ("x86_64", "aarch64"):
    _NO_RESERVE = 0x4000  # Python has a name for it from 3.13 on


def sparse_zeros(shape: tuple[int, ...], dtype: DTypeLike = np.float64) -> NDArray[Any]:
    """Zeros of which few will be written to: what is not takes no memory, and need not fit into it.

    numpy's own take large pages where they are large, of which a row that is written to takes a whole one; and more
    than the memory of the machine is refused, however little of it is used.
    """
    kind = np.dtype(dtype)
    size = math.prod(shape) * kind.itemsize
    if size < _SMALL or not hasattr(mmap, "MAP_PRIVATE"):
        return np.zeros(shape, dtype=kind)
    try:
        room = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NO_RESERVE)
    except (OSError, OverflowError) as error:
        raise MemoryError(f"no room for an array of shape {shape}") from error
    return np.frombuffer(room, dtype=kind).reshape(shape)

"""What is learned as it comes: arrays that are made longer in place, and how large an average has to be to be kept.

No second array stands beside the first.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

_GROWTH = 1.05
"""By so much arrays are longer after they have become too short: what is free in them takes room as well."""


def owned(values: ArrayLike, dtype: type, *shape: int) -> NDArray[Any]:
    """A copy that is no other array's part, so that it can be made longer."""
    array: NDArray[Any] = np.empty(shape, dtype=dtype)
    array[:] = np.reshape(values, shape)
    return array


def lengthen(needed: int, *arrays: NDArray[Any], behind: int = 0) -> None:
    """Make arrays long enough for so many rows, and some to spare, behind those that are there for good."""
    for array in arrays:
        array.resize((behind + int(_GROWTH * needed), *array.shape[1:]), refcheck=False)


def least_kept(sizes: NDArray[Any], cutoff: float) -> float:
    """What an averaged weight has to be to be kept: a share of the 99th hundredth of those that there are."""
    return cutoff * float(np.quantile(sizes, 0.99)) if len(sizes) else 0.0

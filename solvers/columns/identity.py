"""Detection of equal columns: 64-bit signatures of cost and pattern, and a hash table of them.

These kernels do not validate: starts and row numbers are int32, positions int64, costs and values float64, all
contiguous.
"""

from __future__ import annotations

import numpy as np
from numba import types

from colgen.solvers.columns.compressed import FLOATS, NUMBERS, POSITIONS, SIGNATURES, typed
from colgen.solvers.kernel_cache import njit

_ROW, _VALUE = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_FAR, _NEAR, _LAST = np.uint64(30), np.uint64(27), np.uint64(31)


@njit(cache=True, no_cpython_wrapper=True)
def _mix(x):  # type: ignore[no-untyped-def]
    """Apply splitmix64's mixing function."""
    x = (x ^ (x >> _FAR)) * _FIRST
    x = (x ^ (x >> _NEAR)) * _SECOND
    return x ^ (x >> _LAST)


@typed(types.uint64[::1](FLOATS, NUMBERS, NUMBERS, FLOATS))
def signatures(costs, starts, rows, values):  # type: ignore[no-untyped-def]
    """Return a 64-bit signature of each column's cost and pattern; different columns rarely have equal signatures.

    It is a sum over the entries, so their order does not matter, nor does the sign of zero.
    """
    number = np.empty(1)
    bits = number.view(np.uint64)
    found = np.empty(len(costs), dtype=np.uint64)
    for j in range(len(costs)):
        number[0] = costs[j] + 0.0
        total = _mix(bits[0])
        for entry in range(starts[j], starts[j + 1]):
            number[0] = values[entry] + 0.0
            total += _mix((np.uint64(rows[entry]) * _ROW) ^ (bits[0] * _VALUE))
        found[j] = _mix(total)
    return found


_COLUMNS = types.Tuple((FLOATS, NUMBERS, NUMBERS, FLOATS))


@typed(types.int64[::1](_COLUMNS, SIGNATURES, NUMBERS, SIGNATURES, _COLUMNS))
def find(given, numbers, slots, held_numbers, held):  # type: ignore[no-untyped-def]
    """Return the positions of the given columns among those held, or -1.

    Columns with equal signatures are compared entry by entry, in ascending row numbers.  ``given`` and ``held`` are
    costs, starts, rows and values; ``numbers`` and ``held_numbers`` their :func:`signatures`.  ``slots`` is a hash
    table with open addressing and linear probing, a power of two in length; see :func:`claim`.
    """
    costs, starts, rows, values = given
    held_costs, held_starts, held_rows, held_values = held
    found = np.full(len(costs), -1, dtype=np.int64)
    mask = np.uint64(len(slots) - 1)
    for j in range(len(costs)):
        at = numbers[j] & mask
        while slots[at] >= 0:
            position = slots[at]
            count, begin, other = starts[j + 1] - starts[j], starts[j], held_starts[position]
            same = held_numbers[position] == numbers[j] and held_costs[position] == costs[j]
            if same and held_starts[position + 1] - other == count:
                entry = 0
                while (
                    entry < count
                    and rows[begin + entry] == held_rows[other + entry]
                    and values[begin + entry] == held_values[other + entry]
                ):
                    entry += 1
                if entry == count:
                    found[j] = position
                    break
            at = (at + np.uint64(1)) & mask
    return found


@typed(types.void(types.int32[::1], SIGNATURES, POSITIONS))
def claim(slots, numbers, positions):  # type: ignore[no-untyped-def]
    """Insert positions into a hash table, each at its signature's slot or the next free one.  One must be free."""
    mask = np.uint64(len(slots) - 1)
    for position in positions:
        at = numbers[position] & mask
        while slots[at] >= 0:
            at = (at + np.uint64(1)) & mask
        slots[at] = position

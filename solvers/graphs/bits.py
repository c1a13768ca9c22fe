"""Sets of vertices as rows of bits, 64 per word; and random numbers for kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload
from numpy.typing import NDArray

from colgen.solvers.kernels import kernel

Words = NDArray[np.uint64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

_BITS = np.uint64(63)
_ONE = np.uint64(1)
_MODULUS = 2147483647


def num_words(vertices: int) -> int:
    """Return the number of 64-bit words for the vertices."""
    return (vertices + 63) // 64


def pack(mask: Mask) -> Words:
    """Return the rows of a mask as bits: shape (rows, vertices) becomes (rows, words)."""
    rows, n = mask.shape
    padded = np.zeros((rows, 64 * num_words(n)), dtype=np.uint8)
    padded[:, :n] = mask
    return np.packbits(padded, axis=1, bitorder="little").view("<u8").astype(np.uint64)


def unpack(words: Words, vertices: int) -> Mask:
    """Return the mask of packed rows: the inverse of :func:`pack`."""
    octets = np.ascontiguousarray(words.astype("<u8")).view(np.uint8).reshape(len(words), 8 * words.shape[1])
    return np.unpackbits(octets, axis=1, bitorder="little")[:, :vertices].astype(np.bool_)


def lowest(word: Any) -> int:
    """Return the position of the lowest set bit.  The word must not be 0."""
    bits = int(word)
    return (bits & -bits).bit_length() - 1


@intrinsic
def _trailing_zeros(context: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), generate


@overload(lowest)
def _lowest(word: Any) -> Any:
    def compiled(word: Any) -> Any:
        return _trailing_zeros(np.uint64(word))  # type: ignore[call-arg]

    return compiled if isinstance(word, types.Integer) else None


@kernel
def holds(words: Words, vertex: int) -> bool:
    """Return whether a set contains a vertex."""
    return bool((words[vertex >> 6] >> (np.uint64(vertex) & _BITS)) & _ONE != 0)


@kernel
def put(words: Words, vertex: int) -> None:
    """Add a vertex to a set."""
    words[vertex >> 6] |= _ONE << (np.uint64(vertex) & _BITS)


@kernel
def drop(words: Words, vertex: int) -> None:
    """Remove a vertex from a set."""
    words[vertex >> 6] &= ~(_ONE << (np.uint64(vertex) & _BITS))


@kernel
def draw(state: Ints, below: int) -> int:
    """Return an integer from 0 to ``below`` - 1, uniform up to 1 in 2^31 (Lehmer's generator)."""
    state[0] = state[0] * 48271 % _MODULUS
    return int(state[0] % below)


def seeded(seed: int) -> Ints:
    """Return the initial state of :func:`draw`."""
    return np.array([seed % (_MODULUS - 1) + 1], dtype=np.int64)

"""Sets of vertices as rows of bits, 64 a word, and the draws of kernels that search at random."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload
from numpy.typing import NDArray

from colgen.solvers.kernels import kernel

Words = NDArray[np.uint64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

_F = TypeVar("_F", bound=Callable[..., Any])

_BITS = np.uint64(63)
_ONE = np.uint64(1)
_MODULUS = 2147483647


def num_words(vertices: int) -> int:
    """How many words hold so many bits."""
    return (vertices + 63) // 64


def packed(mask: Mask) -> Words:
    """The rows of a mask as bits: shape (rows, vertices) to (rows, words)."""
    rows, n = mask.shape
    padded = np.zeros((rows, 64 * num_words(n)), dtype=np.uint8)
    padded[:, :n] = mask
    return np.packbits(padded, axis=1, bitorder="little").view("<u8").astype(np.uint64)


def unpacked(words: Words, vertices: int) -> Mask:
    """The reverse of :func:`packed`."""
    octets = np.ascontiguousarray(words.astype("<u8")).view(np.uint8).reshape(len(words), 8 * words.shape[1])
    return np.unpackbits(octets, axis=1, bitorder="little")[:, :vertices].astype(np.bool_)


def lowest(word: Any) -> int:
    """The place of the lowest bit of a word that is set; there must be one."""
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
    """Whether a set holds a vertex."""
    return bool((words[vertex >> 6] >> (np.uint64(vertex) & _BITS)) & _ONE != 0)


@kernel
def put(words: Words, vertex: int) -> None:
    """Put a vertex into a set."""
    words[vertex >> 6] |= _ONE << (np.uint64(vertex) & _BITS)


@kernel
def drop(words: Words, vertex: int) -> None:
    """Take a vertex out of a set."""
    words[vertex >> 6] &= ~(_ONE << (np.uint64(vertex) & _BITS))


@kernel
def draw(state: Ints, below: int) -> int:
    """A whole number from 0 to ``below`` - 1, uniform up to 1 in 2^31 (Lehmer's generator)."""
    state[0] = state[0] * 48271 % _MODULUS
    return int(state[0] % below)


def seeded(seed: int) -> Ints:
    """The state of :func:`draw`."""
    return np.array([seed % (_MODULUS - 1) + 1], dtype=np.int64)

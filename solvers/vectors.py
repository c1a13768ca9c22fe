"""Operations on rows of numbers in vectors of sixteen: sums and their maximum, and the positions above a bound.

LLVM vectorizes sums of rows, but not maxima of floating-point numbers or searches.  These functions express them as
operations on vectors of sixteen numbers, for any processor.  A vector is two AVX registers of float32, or four of
float64.  Remaining columns are processed together with preceding ones.  Recomputed values are the same.  The functions
are called from compiled code.  Without the compiler (``NUMBA_DISABLE_JIT=1``) their plain Python definitions run, which
also serve as specification.

Numbers may be -inf but not NaN or +inf, except in the tables of :func:`above` and :func:`any_above`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload
from numpy.typing import NDArray

Array = NDArray[Any]

WIDTH = 16
"""Numbers per vector."""

_F = TypeVar("_F", bound=Callable[..., Any])


def padded(length: int) -> int:
    """Return ``length`` rounded up to a multiple of ``WIDTH``."""
    return -(-length // WIDTH) * WIDTH


# --- plain definitions -----------------------------------------------------------------------------------------------


def sum_rows(a: Any, left: Array, i: int, right: Array, j: int, out: Array) -> Any:
    """Set ``out[k] = a + left[i, k] + right[j, k]`` for all columns k of ``right``.  Return the maximum."""
    num = right.shape[1]
    out[:num] = a + left[i, :num] + right[j]
    return out[:num].max()


def row_max(row: Array) -> Any:
    """Return the maximum of a row whose length is a multiple of ``WIDTH``."""
    return row.max()


def reaching(row: Array, start: int, bound: Any) -> int:
    """Return an integer whose bit k < ``WIDTH`` is set if ``row[start + k] >= bound``."""
    return sum(1 << k for k in range(WIDTH) if row[start + k] >= bound)


def above(row: Array, start: int, table: Array, i: int, bound: Any) -> int:
    """Return an integer whose bit k < ``WIDTH`` is set if ``row[start + k] + table[i, start + k] > bound``."""
    with np.errstate(invalid="ignore"):
        return sum(1 << k for k in range(WIDTH) if row[start + k] + table[i, start + k] > bound)


def row_argmax(table: Array, i: int) -> int:
    """Return the first position of the maximum of ``table[i]``."""
    return int(table[i].argmax())


def row_least(table: Array, i: int) -> Any:
    """Return the minimum of ``table[i]``."""
    return table[i].min()


def max_sum(left: Array, i: int, right: Array, j: int, table: Array, h: int) -> Any:
    """Return the maximum of ``left[i, k] + right[j, k] + table[h, k]`` over all columns k of ``right``."""
    num = right.shape[1]
    return (left[i, :num] + right[j] + table[h, :num]).max()


def any_above(a: Any, left: Array, i: int, right: Array, j: int, table: Array, h: int, bound: Any) -> bool:
    """Return whether ``a + left[i, k] + right[j, k] + table[h, k] > bound`` for some column k of ``right``."""
    num = right.shape[1]
    with np.errstate(invalid="ignore"):
        return bool((a + left[i, :num] + right[j] + table[h, :num] > bound).any())


def any_above_two(
    a: Any, i: int, b: Any, j: int, left: Array, right: Array, k: int, table: Array, h: int, bound: Any
) -> bool:
    """Return :func:`any_above` with the larger of ``a + left[i]`` and ``b + left[j]`` per column, and ``right[k]``."""
    num = right.shape[1]
    most = np.maximum(a + left[i, :num], b + left[j, :num])
    with np.errstate(invalid="ignore"):
        return bool((most + right[k] + table[h, :num] > bound).any())


def add_outer(column: Array, k: int, first: int, factor: Any, row: Array, j: int, table: Array, start: int) -> None:
    """Add ``factor * column[i, k] * row[j, start:]`` to ``table[i, start:]`` for all rows i from ``first`` on.

    ``start`` and the number of columns of ``table`` are multiples of ``WIDTH``.  Complex numbers are allowed.
    """
    table[first:, start:] += np.outer(factor * column[first:, k], row[j, start:])


def add_rows(column: Array, k: int, first: int, table: Array, row: Array, j: int, start: int) -> None:
    """Add ``Σ_i column[i, k] * table[i, start:]`` over all rows i from ``first`` on to ``row[j, start:]``.

    ``start`` and the number of columns of ``table`` are multiples of ``WIDTH``.  Complex numbers are allowed.
    """
    row[j, start:] += column[first : len(table), k] @ table[first:, start:]


def lowest_bit(bits: int) -> int:
    """Return the position of the lowest set bit; ``bits`` must not be zero."""
    return (bits & -bits).bit_length() - 1


# --- vector instructions ---------------------------------------------------------------------------------------------

_NO_NAN = ("nnan", "nsz")
_I64 = ir.IntType(64)


class _Vectors:
    """Emits operations on vectors of one floating-point type.

    Addresses point to array elements; vectors are loaded without alignment.
    """

    def __init__(self, builder: ir.IRBuilder, number: types.Float) -> None:
        self.builder = builder
        self.element = ir.FloatType() if number == types.float32 else ir.DoubleType()
        self.size = number.bitwidth // 8
        self.type = ir.VectorType(self.element, WIDTH)
        self.lowest = ir.Constant(self.type, [float("-inf")] * WIDTH)

    def at(self, base: ir.Value, index: ir.Value) -> ir.Value:
        offset = self.builder.mul(index, ir.Constant(_I64, self.size))
        return self.builder.inttoptr(self.builder.add(base, offset), self.type.as_pointer())

    def load(self, base: ir.Value, index: ir.Value) -> ir.Value:
        return self.builder.load(self.at(base, index), align=self.size)

    def store(self, vector: ir.Value, base: ir.Value, index: ir.Value) -> None:
        self.builder.store(vector, self.at(base, index), align=self.size)

    def spread(self, number: ir.Value) -> ir.Value:
        """Return a vector of equal numbers."""
        nothing = ir.Constant(self.type, ir.Undefined)
        one = self.builder.insert_element(nothing, number, ir.Constant(ir.IntType(32), 0))
        return self.builder.shuffle_vector(one, nothing, ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), [0] * WIDTH))

    def maximum(self, a: ir.Value, b: ir.Value) -> ir.Value:
        return self.builder.select(self.builder.fcmp_ordered(">", a, b, flags=_NO_NAN), a, b)

    def across(self, vector: ir.Value) -> ir.Value:
        """Return the largest number of a vector."""
        name = f"llvm.vector.reduce.fmax.v{WIDTH}f{8 * self.size}"
        module = self.builder.module
        function = module.globals.get(name) or ir.Function(module, ir.FunctionType(self.element, [self.type]), name)
        return self.builder.call(function, [vector], fastmath=_NO_NAN)

    def bits(self, comparison: ir.Value) -> ir.Value:
        """Return the results of a comparison as bits of an integer."""
        return self.builder.zext(self.builder.bitcast(comparison, ir.IntType(WIDTH)), _I64)

    def one(self, address: ir.Value) -> ir.Value:
        """Load one number."""
        return self.builder.load(self.builder.inttoptr(address, self.element.as_pointer()), align=self.size)

    def fold(
        self,
        length: ir.Value,
        start: ir.Value,
        step: Callable[[ir.Value, ir.Value], ir.Value],
        width: int = WIDTH,
    ) -> ir.Value:
        """Emit ``for k in range(0, length, width): value = step(k, value)``."""
        builder = self.builder
        before = builder.block
        head, body, after = (builder.append_basic_block() for _ in range(3))
        builder.branch(head)
        builder.position_at_end(head)
        k, value = builder.phi(_I64), builder.phi(start.type)
        k.add_incoming(ir.Constant(_I64, 0), before)
        value.add_incoming(start, before)
        builder.cbranch(builder.icmp_signed("<", k, length), body, after)
        builder.position_at_end(body)
        next_value = step(k, value)
        k.add_incoming(builder.add(k, ir.Constant(_I64, width)), builder.block)
        value.add_incoming(next_value, builder.block)
        builder.branch(head)
        builder.position_at_end(after)
        return value


def _emit_address(context: Any, array: types.Array) -> tuple[Any, _Generate]:
    def generate(target: Any, builder: ir.IRBuilder, signature: Any, arguments: Sequence[ir.Value]) -> ir.Value:
        return builder.ptrtoint(target.make_array(signature.args[0])(target, builder, arguments[0]).data, _I64)

    return types.int64(array), generate


_address: Any = intrinsic(_emit_address)
"""Address of an array's first element.  ``array.ctypes.data`` counts references, which costs more than sixteen sums."""


_Generate = Callable[[Any, ir.IRBuilder, Any, Sequence[ir.Value]], ir.Value]


def _emit_sum_vectors(
    context: Any, a: types.Float, left: types.Integer, right: types.Integer, out: types.Integer, length: types.Integer
) -> tuple[Any, _Generate]:
    def generate(_: Any, builder: ir.IRBuilder, __: Any, arguments: Sequence[ir.Value]) -> ir.Value:
        vectors = _Vectors(builder, a)
        number, x, y, z, n = arguments
        constant = vectors.spread(number)

        def step(k: ir.Value, best: ir.Value) -> ir.Value:
            total = builder.fadd(builder.fadd(constant, vectors.load(x, k)), vectors.load(y, k))
            vectors.store(total, z, k)
            return vectors.maximum(total, best)

        return vectors.across(vectors.fold(n, vectors.lowest, step))

    return a(a, types.int64, types.int64, types.int64, types.int64), generate


_sum_vectors: Any = intrinsic(_emit_sum_vectors)


def _emit_max_sum_vectors(
    context: Any, like: types.Float, left: types.Integer, right: types.Integer, table: types.Integer, n: types.Integer
) -> tuple[Any, _Generate]:
    def generate(_: Any, builder: ir.IRBuilder, __: Any, arguments: Sequence[ir.Value]) -> ir.Value:
        vectors = _Vectors(builder, like)
        _like, x, y, z, length = arguments

        def step(k: ir.Value, best: ir.Value) -> ir.Value:
            total = builder.fadd(vectors.load(x, k), vectors.load(y, k))
            return vectors.maximum(builder.fadd(total, vectors.load(z, k)), best)

        return vectors.across(vectors.fold(length, vectors.lowest, step))

    return like(like, types.int64, types.int64, types.int64, types.int64), generate


_max_sum_vectors: Any = intrinsic(_emit_max_sum_vectors)


def _emit_max_vectors(
    context: Any, like: types.Float, row: types.Integer, length: types.Integer
) -> tuple[Any, _Generate]:
    def generate(_: Any, builder: ir.IRBuilder, __: Any, arguments: Sequence[ir.Value]) -> ir.Value:
        vectors = _Vectors(builder, like)
        _like, x, n = arguments
        return vectors.across(
            vectors.fold(n, vectors.lowest, lambda k, best: vectors.maximum(vectors.load(x, k), best))
        )

    return like(like, types.int64, types.int64), generate


_max_vectors: Any = intrinsic(_emit_max_vectors)


def _emit_min_vectors(
    context: Any, like: types.Float, row: types.Integer, length: types.Integer
) -> tuple[Any, _Generate]:
    def generate(_: Any, builder: ir.IRBuilder, __: Any, arguments: Sequence[ir.Value]) -> ir.Value:
        vectors = _Vectors(builder, like)
        _like, x, n = arguments
        most = vectors.fold(n, vectors.lowest, lambda k, most: vectors.maximum(builder.fneg(vectors.load(x, k)), most))
        return builder.fneg(vectors.across(most))

    return like(like, types.int64, types.int64), generate


_min_vectors: Any = intrinsic(_emit_min_vectors)


def _emit_reaching_vector(context: Any, bound: types.Float, row: types.Integer) -> tuple[Any, _Generate]:
    def generate(_: Any, builder: ir.IRBuilder, __: Any, arguments: Sequence[ir.Value]) -> ir.Value:
        vectors = _Vectors(builder, bound)
        number, x = arguments
        row = vectors.load(x, ir.Constant(_I64, 0))
        return vectors.bits(builder.fcmp_ordered(">=", row, vectors.spread(number)))

    return types.int64(bound, types.int64), generate


_reaching_vector: Any = intrinsic(_emit_reaching_vector)


def _emit_above_vector(
    context: Any, bound: types.Float, row: types.Integer, table: types.Integer
) -> tuple[Any, _Generate]:
    def generate(_: Any, builder: ir.IRBuilder, __: Any, arguments: Sequence[ir.Value]) -> ir.Value:
        vectors = _Vectors(builder, bound)
        number, x, y = arguments
        zero = ir.Constant(_I64, 0)
        total = builder.fadd(vectors.load(x, zero), vectors.load(y, zero))
        return vectors.bits(builder.fcmp_ordered(">", total, vectors.spread(number)))

    return types.int64(bound, types.int64, types.int64), generate


_above_vector: Any = intrinsic(_emit_above_vector)


def _emit_any_above_vector(
    context: Any,
    bound: types.Float,
    a: types.Float,
    left: types.Integer,
    right: types.Integer,
    table: types.Integer,
    length: types.Integer,
) -> tuple[Any, _Generate]:
    def generate(_: Any, builder: ir.IRBuilder, __: Any, arguments: Sequence[ir.Value]) -> ir.Value:
        vectors = _Vectors(builder, bound)
        number, constant, x, y, z, n = arguments
        most, first = vectors.spread(number), vectors.spread(constant)

        def step(k: ir.Value, found: ir.Value) -> ir.Value:
            total = builder.fadd(builder.fadd(first, vectors.load(x, k)), vectors.load(y, k))
            total = builder.fadd(total, vectors.load(z, k))
            return builder.or_(found, vectors.bits(builder.fcmp_ordered(">", total, most)))

        return vectors.fold(n, ir.Constant(_I64, 0), step)

    return types.int64(bound, bound, types.int64, types.int64, types.int64, types.int64), generate


_any_above_vector: Any = intrinsic(_emit_any_above_vector)


def _emit_any_above_two_vectors(
    context: Any,
    bound: types.Float,
    a: types.Float,
    left: types.Integer,
    b: types.Float,
    other: types.Integer,
    right: types.Integer,
    table: types.Integer,
    length: types.Integer,
) -> tuple[Any, _Generate]:
    def generate(_: Any, builder: ir.IRBuilder, __: Any, arguments: Sequence[ir.Value]) -> ir.Value:
        vectors = _Vectors(builder, bound)
        number, one, x, two, w, y, z, n = arguments
        most, first, second = vectors.spread(number), vectors.spread(one), vectors.spread(two)

        def step(k: ir.Value, found: ir.Value) -> ir.Value:
            larger = vectors.maximum(builder.fadd(first, vectors.load(x, k)), builder.fadd(second, vectors.load(w, k)))
            total = builder.fadd(builder.fadd(larger, vectors.load(y, k)), vectors.load(z, k))
            return builder.or_(found, vectors.bits(builder.fcmp_ordered(">", total, most)))

        return vectors.fold(n, ir.Constant(_I64, 0), step)

    numbers = (types.int64,) * 3
    return types.int64(bound, bound, types.int64, bound, types.int64, *numbers), generate


_any_above_two_vectors: Any = intrinsic(_emit_any_above_two_vectors)


def _emit_add_outer(
    context: Any,
    factor: types.Float,
    column: types.Integer,
    step: types.Integer,
    row: types.Integer,
    table: types.Integer,
    stride: types.Integer,
    count: types.Integer,
) -> tuple[Any, _Generate]:
    def generate(_: Any, builder: ir.IRBuilder, __: Any, arguments: Sequence[ir.Value]) -> ir.Value:
        vectors = _Vectors(builder, factor)
        number, x, between, source, target, apart, rows = arguments
        given = vectors.load(source, ir.Constant(_I64, 0))

        def add(i: ir.Value, none: ir.Value) -> ir.Value:
            share = builder.fmul(number, vectors.one(builder.add(x, builder.mul(i, between))))
            place = builder.add(target, builder.mul(i, apart))
            zero = ir.Constant(_I64, 0)
            product = builder.fmul(vectors.spread(share), given)
            vectors.store(builder.fadd(vectors.load(place, zero), product), place, zero)
            return none

        return vectors.fold(rows, ir.Constant(_I64, 0), add, 1)

    return types.int64(factor, *(types.int64,) * 6), generate


_add_outer: Any = intrinsic(_emit_add_outer)


def _emit_add_rows(
    context: Any,
    like: types.Float,
    column: types.Integer,
    step: types.Integer,
    row: types.Integer,
    table: types.Integer,
    stride: types.Integer,
    count: types.Integer,
) -> tuple[Any, _Generate]:
    def generate(_: Any, builder: ir.IRBuilder, __: Any, arguments: Sequence[ir.Value]) -> ir.Value:
        vectors = _Vectors(builder, like)
        _like, x, between, target, source, apart, rows = arguments
        zero = ir.Constant(_I64, 0)

        def add(i: ir.Value, total: ir.Value) -> ir.Value:
            share = vectors.spread(vectors.one(builder.add(x, builder.mul(i, between))))
            return builder.fadd(
                total, builder.fmul(share, vectors.load(builder.add(source, builder.mul(i, apart)), zero))
            )

        vectors.store(vectors.fold(rows, vectors.load(target, zero), add, 1), target, zero)
        return zero

    return types.int64(like, *(types.int64,) * 6), generate


_add_rows: Any = intrinsic(_emit_add_rows)


def _emit_lowest_bit(context: Any, bits: types.Integer) -> tuple[Any, _Generate]:
    def generate(_: Any, builder: ir.IRBuilder, __: Any, arguments: Sequence[ir.Value]) -> ir.Value:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.int64), generate


_lowest_bit: Any = intrinsic(_emit_lowest_bit)


@overload(sum_rows, inline="always")
def _compile_sum_rows(a: Any, left: Any, i: Any, right: Any, j: Any, out: Any) -> Any:
    def compiled(a: Any, left: Any, i: Any, right: Any, j: Any, out: Any) -> Any:
        num = right.shape[1]
        whole = num - num % WIDTH
        x, y, z = _address(left) + i * left.strides[0], _address(right) + j * right.strides[0], _address(out)
        best = _sum_vectors(a, x, y, z, whole)
        if num > whole > 0:
            last = (num - WIDTH) * out.itemsize
            best = max(best, _sum_vectors(a, x + last, y + last, z + last, WIDTH))
        else:
            for k in range(whole, num):
                total = a + left[i, k] + right[j, k]
                out[k] = total
                best = max(best, total)
        return best

    return compiled


@overload(add_outer, inline="always")
def _compile_add_outer(column: Any, k: Any, first: Any, factor: Any, row: Any, j: Any, table: Any, start: Any) -> Any:
    def compiled(column: Any, k: Any, first: Any, factor: Any, row: Any, j: Any, table: Any, start: Any) -> None:
        x = _address(column) + first * column.strides[0] + k * column.strides[1]
        source, target = _address(row) + j * row.strides[0], _address(table) + first * table.strides[0]
        for begin in range(start, table.shape[1], WIDTH):
            offset = begin * table.itemsize
            _add_outer(
                factor, x, column.strides[0], source + offset, target + offset, table.strides[0], len(table) - first
            )

    def compiled_complex(
        column: Any, k: Any, first: Any, factor: Any, row: Any, j: Any, table: Any, start: Any
    ) -> None:
        for i in range(first, len(table)):
            for m in range(start, table.shape[1]):
                table[i, m] += factor * column[i, k] * row[j, m]

    return compiled_complex if isinstance(table.dtype, types.Complex) else compiled


@overload(add_rows, inline="always")
def _compile_add_rows(column: Any, k: Any, first: Any, table: Any, row: Any, j: Any, start: Any) -> Any:
    def compiled(column: Any, k: Any, first: Any, table: Any, row: Any, j: Any, start: Any) -> None:
        x = _address(column) + first * column.strides[0] + k * column.strides[1]
        target, source = _address(row) + j * row.strides[0], _address(table) + first * table.strides[0]
        for begin in range(start, table.shape[1], WIDTH):
            offset = begin * table.itemsize
            _add_rows(
                table[0, 0],
                x,
                column.strides[0],
                target + offset,
                source + offset,
                table.strides[0],
                len(table) - first,
            )

    def compiled_complex(column: Any, k: Any, first: Any, table: Any, row: Any, j: Any, start: Any) -> None:
        for i in range(first, len(table)):
            for m in range(start, table.shape[1]):
                row[j, m] += column[i, k] * table[i, m]

    return compiled_complex if isinstance(table.dtype, types.Complex) else compiled


@overload(max_sum, inline="always")
def _compile_max_sum(left: Any, i: Any, right: Any, j: Any, table: Any, h: Any) -> Any:
    def compiled(left: Any, i: Any, right: Any, j: Any, table: Any, h: Any) -> Any:
        num = right.shape[1]
        whole = num - num % WIDTH
        x, y = _address(left) + i * left.strides[0], _address(right) + j * right.strides[0]
        z = _address(table) + h * table.strides[0]
        best = _max_sum_vectors(right[j, 0], x, y, z, whole)
        if num > whole > 0:
            last = (num - WIDTH) * right.itemsize
            best = max(best, _max_sum_vectors(best, x + last, y + last, z + last, WIDTH))
        else:
            for k in range(whole, num):
                best = max(best, left[i, k] + right[j, k] + table[h, k])
        return best

    return compiled


@overload(row_max, inline="always")
def _compile_row_max(row: Any) -> Any:
    def compiled(row: Any) -> Any:
        return _max_vectors(row[0], _address(row), len(row))

    return compiled


@overload(reaching, inline="always")
def _compile_reaching(row: Any, start: Any, bound: Any) -> Any:
    def compiled(row: Any, start: Any, bound: Any) -> Any:
        return _reaching_vector(bound, _address(row) + start * row.itemsize)

    return compiled


@overload(above, inline="always")
def _compile_above(row: Any, start: Any, table: Any, i: Any, bound: Any) -> Any:
    def compiled(row: Any, start: Any, table: Any, i: Any, bound: Any) -> Any:
        offset = start * row.itemsize
        return _above_vector(bound, _address(row) + offset, _address(table) + i * table.strides[0] + offset)

    return compiled


@overload(row_argmax, inline="always")
def _compile_row_argmax(table: Any, i: Any) -> Any:
    def compiled(table: Any, i: Any) -> Any:
        num = table.shape[1]
        whole = num - num % WIDTH
        address = _address(table) + i * table.strides[0]
        best = _max_vectors(table[i, 0], address, whole)
        last = address + (num - WIDTH) * table.itemsize
        if num > whole > 0:
            best = max(best, _max_vectors(best, last, WIDTH))
        else:
            for k in range(whole, num):
                best = max(best, table[i, k])
        for first in range(0, whole, 4 * WIDTH):  # 64 at a time: their position is not predictable for branches
            bits = 0
            for k in range(first, min(first + 4 * WIDTH, whole), WIDTH):
                bits |= _reaching_vector(best, address + k * table.itemsize) << (k - first)
            if bits:
                return first + _lowest_bit(bits)
        if whole > 0:
            return num - WIDTH + _lowest_bit(_reaching_vector(best, last))
        where = whole
        while table[i, where] < best:
            where += 1
        return where

    return compiled


@overload(row_least, inline="always")
def _compile_row_least(table: Any, i: Any) -> Any:
    def compiled(table: Any, i: Any) -> Any:
        num = table.shape[1]
        whole = num - num % WIDTH
        address = _address(table) + i * table.strides[0]
        least = _min_vectors(table[i, 0], address, whole)
        if num > whole > 0:
            least = min(least, _min_vectors(least, address + (num - WIDTH) * table.itemsize, WIDTH))
        else:
            for k in range(whole, num):
                least = min(least, table[i, k])
        return least

    return compiled


@overload(any_above, inline="always")
def _compile_any_above(a: Any, left: Any, i: Any, right: Any, j: Any, table: Any, h: Any, bound: Any) -> Any:
    def compiled(a: Any, left: Any, i: Any, right: Any, j: Any, table: Any, h: Any, bound: Any) -> Any:
        num = right.shape[1]
        whole = num - num % WIDTH
        x, y = _address(left) + i * left.strides[0], _address(right) + j * right.strides[0]
        z = _address(table) + h * table.strides[0]
        if _any_above_vector(bound, a, x, y, z, whole):
            return True
        if num > whole > 0:
            last = (num - WIDTH) * right.itemsize
            return _any_above_vector(bound, a, x + last, y + last, z + last, WIDTH) != 0
        for k in range(whole, num):
            if a + left[i, k] + right[j, k] + table[h, k] > bound:
                return True
        return False

    return compiled


@overload(any_above_two, inline="always")
def _compile_any_above_two(
    a: Any, i: Any, b: Any, j: Any, left: Any, right: Any, k: Any, table: Any, h: Any, bound: Any
) -> Any:
    def compiled(a: Any, i: Any, b: Any, j: Any, left: Any, right: Any, k: Any, table: Any, h: Any, bound: Any) -> Any:
        num = right.shape[1]
        whole = num - num % WIDTH
        x, w = _address(left) + i * left.strides[0], _address(left) + j * left.strides[0]
        y, z = _address(right) + k * right.strides[0], _address(table) + h * table.strides[0]
        if _any_above_two_vectors(bound, a, x, b, w, y, z, whole):
            return True
        if num > whole > 0:
            last = (num - WIDTH) * right.itemsize
            return _any_above_two_vectors(bound, a, x + last, b, w + last, y + last, z + last, WIDTH) != 0
        for c in range(whole, num):
            if max(a + left[i, c], b + left[j, c]) + right[k, c] + table[h, c] > bound:
                return True
        return False

    return compiled


@overload(lowest_bit, inline="always")
def _compile_lowest_bit(bits: Any) -> Any:
    def compiled(bits: Any) -> Any:
        return _lowest_bit(bits)

    return compiled

"""Validation of array arguments: convert an argument to the array type that a kernel expects, or raise an error.

numpy's casts are silent: 50.5 becomes 50 pieces, 1e308 an arbitrary integer, a complex number its real part.  Compiled
code with an index out of range reads foreign memory.  These functions convert an argument if no value changes.
Otherwise they raise :class:`ArrayError`.

    def knapsack(profits: ArrayLike, widths: ArrayLike, capacity: int) -> ...:
        profits = as_floats(profits, "profits", shape=("items",))
        widths = as_integers(widths, "widths", shape=profits.shape, low=1)
        capacity = as_integer(capacity, "capacity", low=0)

They accept lists, objects with ``__array__`` or ``__dlpack__``, floats of 16 to 64 bits (also bfloat16), and integers
of any width.
Arrays need not be contiguous and may have foreign byte order.  A contiguous array of the expected type is returned
without a copy.  So results may share memory with arguments and may be read-only.  Its check costs a few microseconds
and two passes over the numbers.
"""

from __future__ import annotations

import contextlib
import math
import operator
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

Shape: TypeAlias = tuple[int | str | None, ...]
"""Lengths of the axes: a number; None for any; a word for equal lengths wherever it occurs."""

EXACT = 2**53
"""Floats of 64 bits represent all integers up to this; a larger one may have been rounded."""


_INTEGRALITY = 1e-6
"""A bound of an integer variable that misses an integer by at most this is that integer; integers have scale 1."""

_LAST_BITS = 2.0**-50
"""Relative version of the same tolerance: the rounding error of large bounds."""


class ArrayError(ValueError):
    """An argument is invalid; the message has its name, the expected values, and the first wrong entry."""


# --- bounds ----------------------------------------------------------------------------------------------------------


def integral_bounds(
    lower: NDArray[np.float64], upper: NDArray[np.float64], integer: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Round the bounds of integer variables inward, to integers.  Return the arguments themselves if nothing changes.

    No integer value is lost.  HiGHS 1.15 must not receive fractional bounds of integer columns: it presolves some such
    programs to wrong solutions.  A bound within rounding of an integer becomes that integer.  If the lower bound then
    exceeds the upper one, the variable has no value.
    """
    if not integer.any():
        return lower, upper
    nearest_low, nearest_high = np.rint(lower), np.rint(upper)
    if (((nearest_low == lower) & (nearest_high == upper)) | ~integer).all():
        return lower, upper
    low = np.where(_is_near(lower, nearest_low), nearest_low, np.ceil(lower)) + 0.0
    high = np.where(_is_near(upper, nearest_high), nearest_high, np.floor(upper)) + 0.0
    return np.where(integer, low, lower), np.where(integer, high, upper)


def _is_near(bounds: NDArray[np.float64], nearest: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which bounds are integers up to rounding; infinite ones are not evaluated."""
    off = np.abs(np.subtract(bounds, nearest, out=np.zeros_like(bounds), where=np.isfinite(bounds)))
    near: NDArray[np.bool_] = off <= np.maximum(_INTEGRALITY, _LAST_BITS * np.abs(bounds))
    return near


# --- arrays ----------------------------------------------------------------------------------------------------------


def as_floats(
    value: Any,
    name: str,
    *,
    shape: Shape | None = None,
    low: float = -math.inf,
    high: float = math.inf,
    finite: bool = True,
    minus_infinity: bool = False,
    dtype: DTypeLike | None = np.float64,
) -> NDArray[Any]:
    """Return an array of floats without NaN.

    Parameters
    ----------
    value : array_like
        Floats, integers or booleans.
    name : str
        Name of the argument, for messages.
    shape : Shape, optional
        Expected lengths of the axes, see :data:`Shape`; None for any.
    low, high : float
        Expected range, ends included.
    finite : bool
        Whether infinities are rejected.
    minus_infinity : bool
        Whether -inf is accepted in any case: it marks forbidden entries.
    dtype : dtype, optional
        Expected type, of 32 or 64 bits.  None keeps float32 and float64 and converts the rest to float64.  Numbers are
        rounded to the precision of the type; an overflow to infinity is an error.
    """
    array = _array(value, name, "numbers")
    if array.dtype is (_DOUBLE if dtype is np.float64 else _SINGLE if dtype is np.float32 else None):
        # Fast path: a sum of squares is finite only if all numbers are.
        if shape is not None and array.shape != shape:
            _check_shape(array, name, shape)
        unbounded = finite and low == -math.inf and high == math.inf
        if (
            unbounded
            and 0 < array.size <= _SMALL
            and array.flags.c_contiguous
            # argmax finds NaN before anything else
            and (math.isfinite(np.vdot(array, array)) or (minus_infinity and array.item(array.argmax()) < math.inf))
        ):
            return array
    if array.dtype.kind not in "fiub" or array.dtype.itemsize > 8:
        raise ArrayError(f"{name}: expected numbers, got {_kind(array)}")
    wanted = np.dtype(dtype) if dtype is not None else array.dtype if array.dtype in _FLOATS else _FLOATS[-1]
    if shape is not None:
        _check_shape(array, name, shape)
    given = array
    if array.dtype != wanted or not array.flags.c_contiguous:
        with np.errstate(over="ignore"):
            array = _contiguous(array, wanted)
    if not array.size:
        return array
    least, most = float(np.minimum.reduce(array, axis=None)), float(np.maximum.reduce(array, axis=None))
    bottom = low if not finite or minus_infinity else max(low, -_LARGEST)
    top = high if not finite else min(high, _LARGEST)
    if not (least >= bottom and most <= top) or (given.dtype.kind in "iu" and max(-least, most) >= EXACT):
        _refuse_floats(given, array, name, low, high, finite, minus_infinity)
    elif given.dtype.itemsize > wanted.itemsize and (minus_infinity or not finite):
        _refuse_overflow(given, array, name)
    return array


def as_batch(value: Any, name: str, *, lengths: Any = None, root: int = 0) -> list[NDArray[Any]] | None:
    """Return the square arrays of a batch of shape (instances, n, n), cut to their lengths.  None if it is not a batch.

    ``root`` is the number of leading rows and columns that the lengths do not count.

    Raises
    ------
    ArrayError
        If lengths are given without a batch, or are not one integer from 1 to n - root per instance.
    """
    array = _array(value, name, "arrays of one size")
    if array.ndim != 3:
        if lengths is not None:
            raise ArrayError(f"lengths: expected {name} of shape (instances, n, n) to go with them")
        return None
    if lengths is None:
        return list(array)
    counted = as_integers(lengths, "lengths", shape=(len(array),), low=1, high=array.shape[1] - root) + root
    return [own[:count, :count] for own, count in zip(array, counted.tolist(), strict=True)]


def as_numbers(
    value: Any, name: str, *, shape: Shape | None = None, dtype: DTypeLike | None = np.float64
) -> NDArray[Any]:
    """Return floats that may include infinities and NaN, for callers that check every entry themselves.

    ``dtype`` None keeps float32 and float64 and converts the rest to float64.
    """
    array = _array(value, name, "numbers")
    if array.dtype.kind == "f" and array.dtype.itemsize <= 8:
        if shape is not None:
            _check_shape(array, name, shape)
        return _contiguous(array, array.dtype if dtype is None and array.dtype in _FLOATS else _DOUBLE)
    return as_floats(array, name, shape=shape)


def as_integers(
    value: Any,
    name: str,
    *,
    shape: Shape | None = None,
    low: int | None = None,
    high: int | None = None,
    dtype: DTypeLike | None = np.int64,
) -> NDArray[Any]:
    """Return an array of integers; floats are accepted if integral and at most 2⁵³ (a larger one may be rounded).

    The range ``low`` to ``high`` includes its ends and is by default that of the type.  ``dtype`` None keeps signed
    integers and converts the rest to int64.  Other parameters are as for :func:`as_floats`.
    """
    return _integers(value, name, shape, low, high, dtype, "integers")


def as_indices(
    value: Any,
    name: str,
    *,
    upper: int,
    shape: Shape | None = None,
    low: int = 0,
    dtype: DTypeLike | None = np.int64,
) -> NDArray[Any]:
    """Return an array of indices i with ``low`` ≤ i < ``upper``, the number of indexed objects.

    ``low`` is -1 if that value means "no index".  Booleans are rejected: a mask is not a list of indices.  Other
    parameters are as for :func:`as_integers`.
    """
    return _integers(value, name, shape, low, upper - 1, dtype, "indices")


def as_booleans(value: Any, name: str, *, shape: Shape | None = None) -> NDArray[np.bool_]:
    """Return an array of booleans; zeros and ones are accepted."""
    array = _array(value, name, "booleans")
    if array.dtype.kind not in "biuf" or array.dtype.itemsize > 8:
        raise ArrayError(f"{name}: expected booleans, got {_kind(array)}")
    if shape is not None:
        _check_shape(array, name, shape)
    if array.dtype.kind != "b":
        wrong = (array != 0) & (array != 1)
        if wrong.any():
            raise ArrayError(f"{name}: expected booleans, got {_first(array, wrong)}")
    return _contiguous(array, np.dtype(np.bool_))


def as_offsets(value: Any, name: str, *, total: int, empty: bool = True, dtype: DTypeLike = np.int64) -> NDArray[Any]:
    """Return increasing offsets of groups in an array of ``total`` entries, from 0 to ``total``.

    Group k has the entries ``offsets[k]`` to ``offsets[k + 1] - 1``; ``empty`` allows empty groups.
    """
    array = as_integers(value, name, shape=(None,), dtype=dtype)
    if not len(array) or array[0] != 0 or array[-1] != total:
        ends = f"{array[0]} to {array[-1]}" if len(array) else "none"
        raise ArrayError(f"{name}: expected offsets from 0 to {total}, got {ends}")
    wrong = array[1:] < array[:-1] if empty else array[1:] <= array[:-1]
    if wrong.any():
        k = int(np.argmax(wrong))
        increasing = "offsets that do not decrease" if empty else "offsets that increase"
        raise ArrayError(f"{name}: expected {increasing}, got {array[k + 1]} after {array[k]} at [{k + 1}]")
    return array


# --- single numbers --------------------------------------------------------------------------------------------------


def as_integer(value: Any, name: str, *, low: int | None = None, high: int | None = None) -> int:
    """Return one integer of at most 64 bits."""
    number: int | None = None
    if not isinstance(value, (bool, np.bool_)):
        try:
            number = operator.index(value)
        except TypeError:
            if isinstance(value, (float, np.floating)) and float(value).is_integer() and abs(float(value)) <= EXACT:
                number = int(value)
    bottom, top = _LEAST if low is None else low, _MOST if high is None else high
    if number is None or not bottom <= number <= top:
        raise ArrayError(f"{name}: expected {_range('an integer', low, high)}, got {_short(value)}")
    return number


def as_float(value: Any, name: str, *, low: float = -math.inf, high: float = math.inf, finite: bool = True) -> float:
    """Return one float, never NaN."""
    number = math.nan
    scalar = isinstance(value, (int, float, np.integer, np.floating, Fraction)) and not isinstance(value, bool)
    if scalar or (isinstance(value, np.ndarray) and not value.ndim and value.dtype.kind in "fiu"):
        with contextlib.suppress(OverflowError):
            number = float(value)
    if not low <= number <= high or (finite and math.isinf(number)):
        raise ArrayError(f"{name}: expected {_numbers('a number', low, high, finite, False)}, got {_short(value)}")
    return number


# --- helpers ---------------------------------------------------------------------------------------------------------

_FLOATS = _SINGLE, _DOUBLE = (np.dtype(np.float32), np.dtype(np.float64))
_LONG = np.dtype(np.int64)
_SMALL = 4096
"""Up to this many numbers a sum of squares is faster than a minimum and a maximum."""

_LARGEST = float(np.finfo(np.float64).max)
_LEAST, _MOST = -(2**63), 2**63 - 1


def _array(value: Any, name: str, what: str) -> NDArray[Any]:
    """Return the argument as an array of its own type."""
    if type(value) is np.ndarray:
        return value if value.dtype.kind != "V" else _without_brain_floats(value)
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise ArrayError(f"{name}: expected {what}, got an array with masked entries")
    if getattr(value, "requires_grad", False) is True:
        raise ArrayError(
            f"{name}: expected {what}, got a tensor that requires gradients: pass tensor.detach(), or use a layer of "
            "colgen.torch, through which gradients flow"
        )
    if getattr(getattr(value, "device", None), "type", "cpu") != "cpu":
        raise ArrayError(f"{name}: expected {what}, got a tensor on the device {value.device}: pass tensor.cpu()")
    try:
        if str(getattr(value, "dtype", "")) == "torch.bfloat16":
            value = value.float()  # numpy has no such type
        foreign = hasattr(value, "__dlpack__") and not hasattr(value, "__array__")
        return _without_brain_floats(np.from_dlpack(value) if foreign else np.asarray(value))
    except (ValueError, TypeError, OverflowError, RecursionError, BufferError, RuntimeError):
        ragged = isinstance(value, (list, tuple))
        got = "rows of different lengths" if ragged else f"an object of type {type(value).__name__}"
        raise ArrayError(f"{name}: expected {what}, got {got}") from None


def _without_brain_floats(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array with float32 for bfloat16, a type that other packages add to numpy."""
    return array.astype(np.float32) if array.dtype.name == "bfloat16" else array


def _integers(
    value: Any,
    name: str,
    shape: Shape | None,
    low: int | None,
    high: int | None,
    dtype: DTypeLike | None,
    what: Literal["integers", "indices"],
) -> NDArray[Any]:
    array = _array(value, name, what)
    if array.dtype is _LONG and dtype is np.int64 and low == 0 and high is not None and array.flags.c_contiguous:
        # Fast path: interpreted as unsigned numbers, negative ones are the largest.
        if shape is not None and array.shape != shape:
            _check_shape(array, name, shape)
        unsigned = array.view(np.uint64)
        if not array.size or unsigned.item(unsigned.argmax()) <= high:
            return array
    kind = array.dtype.kind
    if kind not in ("iuf" if what == "indices" else "iufb") or array.dtype.itemsize > 8:
        raise ArrayError(f"{name}: expected {what}, got {_kind(array)}")
    wanted = np.dtype(dtype) if dtype is not None else array.dtype if kind == "i" else np.dtype(np.int64)
    if shape is not None:
        _check_shape(array, name, shape)
    if array.size:
        least, most = np.minimum.reduce(array, axis=None), np.maximum.reduce(array, axis=None)
        # NaN and infinities fail the first comparison
        if kind == "f" and (not (least >= -EXACT and most <= EXACT) or (array != np.trunc(array)).any()):
            wrong = ~((array >= -EXACT) & (array <= EXACT)) | (array != np.trunc(array))
            raise ArrayError(f"{name}: expected {what}, got {_first(array, wrong)}")
        least_kept, most_kept = _kept_by(wanted)
        bottom = least_kept if low is None else max(low, least_kept)
        top = most_kept if high is None else min(high, most_kept)
        if int(least) < bottom or int(most) > top:
            wrong = np.array([not bottom <= int(entry) <= top for entry in array.flat]).reshape(array.shape)
            plain = low is None and high is None
            expected = f"{what} of {8 * wanted.itemsize} bits" if plain else _range(what, low, high)
            raise ArrayError(f"{name}: expected {expected}, got {_first(array, wrong)}")
    return _contiguous(array, wanted)


@lru_cache(maxsize=16)
def _kept_by(dtype: np.dtype[Any]) -> tuple[int, int]:
    """Return the smallest and the largest integer of a type; numpy recomputes them at each call."""
    kept = np.iinfo(dtype)
    return int(kept.min), int(kept.max)


def _contiguous(array: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return a contiguous array of this type, without a copy if possible (a scalar stays an array without axes)."""
    if array.dtype == dtype and array.flags.c_contiguous:
        return array
    return array.astype(dtype, order="C")


def _check_shape(array: NDArray[Any], name: str, shape: Shape) -> None:
    if array.shape == shape:
        return
    lengths: dict[str, int] = {}
    fits = array.ndim == len(shape)
    for length, wanted in zip(array.shape, shape, strict=False):
        if isinstance(wanted, str):
            wanted = lengths.setdefault(wanted, length)
        fits = fits and (wanted is None or wanted == length)
    if not fits:
        words = ", ".join("any" if wanted is None else str(wanted) for wanted in shape)
        expected = f"({words},)" if len(shape) == 1 else f"({words})"
        raise ArrayError(f"{name}: expected the shape {expected}, got {array.shape}")


def _refuse_floats(
    given: NDArray[Any], array: NDArray[Any], name: str, low: float, high: float, finite: bool, minus_infinity: bool
) -> None:
    """Raise an error that names the first wrong entry, if there is one."""
    wrong = ~((array >= low) & (array <= high))
    if minus_infinity:
        wrong &= ~np.isneginf(array)
    if finite:
        wrong |= np.isposinf(array)
        if not minus_infinity:
            wrong |= np.isneginf(array)
    if wrong.any():
        expected = _numbers("numbers", low, high, finite, minus_infinity)
        raise ArrayError(f"{name}: expected {expected}, got {_first(given, wrong)}")
    if given.dtype.kind in "iu":
        # compared as Python integers: numpy would compare them as floats, which may be rounded
        changed = np.array([int(float(v)) != v for v in given.ravel().tolist()]).reshape(given.shape)
        if changed.any():
            raise ArrayError(f"{name}: expected numbers that a float can hold, got {_first(given, changed)}")


def _refuse_overflow(given: NDArray[Any], array: NDArray[Any], name: str) -> None:
    wrong = np.isinf(array) & np.isfinite(given)
    if wrong.any():
        raise ArrayError(f"{name}: expected numbers that {array.dtype} can hold, got {_first(given, wrong)}")


def _first(array: NDArray[Any], wrong: NDArray[np.bool_]) -> str:
    """Return the first wrong entry and its position."""
    where = np.unravel_index(int(np.argmax(wrong)), array.shape) if array.ndim else ()
    value = array[where].item()
    return f"{value} at [{', '.join(map(str, where))}]" if where else f"{value}"


def _kind(array: NDArray[Any]) -> str:
    """Return a description of the contents of an array."""
    if array.dtype.names:
        return "records"
    words = {"c": "complex numbers", "O": "objects", "U": "strings", "S": "bytes", "V": "raw bytes"}
    words |= {"M": "dates", "m": "durations", "b": "booleans", "T": "strings"}
    return words.get(array.dtype.kind, str(array.dtype))


def _range(what: str, low: int | None, high: int | None) -> str:
    if low is not None and high is not None:
        return f"{what} from {low} to {high}" if low <= high else f"no {what}"
    if low is not None:
        return f"{what} of at least {low}"
    return what if high is None else f"{what} of at most {high}"


def _numbers(what: str, low: float, high: float, finite: bool, minus_infinity: bool) -> str:
    words = f"finite {what}" if what == "numbers" else "a finite number"
    if not finite:
        words = what
    bounded = _range(words, *(None if math.isinf(end) else end for end in (low, high)))  # type: ignore[arg-type]
    return f"{bounded}, or -inf" if finite and minus_infinity else bounded


def _short(value: Any) -> str:
    text = repr(value) if isinstance(value, (int, float, str, np.generic)) else f"a {type(value).__name__}"
    return text if len(text) <= 40 else f"{text[:37]}..."

"""Resources that are written by the user."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from numba import cfunc, typeof, types
from numba.core.errors import NumbaError
from numba.extending import typeof_impl
from numpy.typing import ArrayLike

from colgen.solvers.arrays import ArrayError, as_float, as_floats, as_integer
from colgen.solvers.kernel_cache import njit
from colgen.solvers.paths.labelling.layout import Floats


class CustomResource:
    """A resource whose extension and dominance are written by the user.

    Its value is a vector of floats.  The functions are compiled; they index their arguments, and use nothing else (no
    ``len``, no slices, no arrays from outside but constants).

    Parameters
    ----------
    extend
        ``extend(before, arc, vertex, after) -> bool``: writes all values at the head of an arc to ``after``, and
        returns whether the path is allowed.  ``arc`` and ``vertex`` are the rows of ``arc_data`` and ``vertex_data``,
        the latter that of the head.
    dominates
        ``dominates(one, other) -> bool``: whether every continuation that ``other`` allows is allowed after ``one``.
    start
        The values at the source.
    arc_data, vertex_data
        One row of numbers per arc, and per vertex.
    order
        ``(component, low, high)``: a component that no arc decreases, and between what its values lie.  Labels are
        settled in its order.  None: in that of another resource, or of the number of arcs.
    backward, start_backward, dominates_backward
        The same for paths to the sink, extended from their first vertex to the one before: then ``vertex`` is the row
        of that one.  A component that orders must not decrease here either; it lies between -high and -low.
    joins
        ``joins(forward, backward, arc, vertex) -> bool``: whether a path may continue, over an arc, with a path to the
        sink; ``vertex`` is the row of the arc's head.  The arc into the sink is joined too, with ``start_backward``.
        Without ``backward`` and ``joins`` the search goes forward only, and ``extend`` decides about every arc.
    """

    def __init__(
        self,
        extend: Callable[..., bool],
        dominates: Callable[..., bool],
        start: ArrayLike,
        *,
        arc_data: ArrayLike | None = None,
        vertex_data: ArrayLike | None = None,
        order: tuple[int, float, float] | None = None,
        backward: Callable[..., bool] | None = None,
        start_backward: ArrayLike | None = None,
        dominates_backward: Callable[..., bool] | None = None,
        joins: Callable[..., bool] | None = None,
    ) -> None:
        self.start: Floats = as_floats(start, "start", shape=(None,))
        self.arc_data = None if arc_data is None else as_floats(arc_data, "arc_data", shape=(None, None), finite=False)
        self.vertex_data = (
            None if vertex_data is None else as_floats(vertex_data, "vertex_data", shape=(None, None), finite=False)
        )
        self.order = order
        if order is not None:
            as_integer(order[0], "order", low=0, high=len(self.start) - 1)
            as_float(order[2], "order", low=as_float(order[1], "order"))
        if (backward is None) != (joins is None) or (backward is None) != (start_backward is None):
            raise ArrayError("backward: expected backward, start_backward and joins together, or none of them")
        if dominates_backward is not None and backward is None:
            raise ArrayError("dominates_backward: expected backward, start_backward and joins with it")
        self.both = backward is not None
        self.start_backward: Floats = (
            self.start
            if start_backward is None
            else as_floats(start_backward, "start_backward", shape=self.start.shape)
        )
        self.extend, self.dominates = compiled(extend, 4), compiled(dominates, 2)
        if backward is None or joins is None:
            # Paths to the sink that bounds are made of leave the resource out of account: `extend` is for the other
            # direction.  A route is a path that `extend` allows up to the sink.
            self.backward, self.dominates_backward = functions().extend, functions().dominates
            self.joins = compiled(_joined_by(extend), 4)
        else:
            self.backward, self.joins = compiled(backward, 4), compiled(joins, 4)
            self.dominates_backward = self.dominates if dominates_backward is None else compiled(dominates_backward, 2)

    def check_data(self, arcs: int, vertices: int) -> None:
        """Refuse data with another number of rows than a network has arcs, or vertices: they would be read beyond."""
        for name, data, count in (("arc_data", self.arc_data, arcs), ("vertex_data", self.vertex_data, vertices)):
            if data is not None and len(data) != count:
                raise ArrayError(f"{name}: expected {count} rows, one per {name[:-5]}, got {len(data)}")


class Functions(NamedTuple):
    """Compiled functions of the user, or such as are never called."""

    extend: Any
    dominates: Any
    joins: Any


class Written(types.WrapperAddressProtocol):
    """A compiled function whose type is made once: numba makes it anew for each call of a kernel that takes one."""

    def __init__(self, function: Any) -> None:
        self.function, self.type = function, typeof(function)

    def __call__(self, *arguments: Any) -> bool:
        return bool(self.function(*arguments))

    def __wrapper_address__(self) -> int:
        return int(self.function._wrapper_address)

    def signature(self) -> Any:
        """What it takes and returns."""
        return self.type.signature


@typeof_impl.register(Written)
def _type_of(written: Written, _context: Any) -> Any:
    return written.type


def compiled(function: Callable[..., bool], arguments: int, *, cache: bool = False) -> Written:
    """A function of addresses of floats, as the kernels call it."""
    plain = getattr(function, "py_func", function)
    if not callable(plain):
        raise ArrayError(f"{function!r}: expected a function")
    signature = types.boolean(*[types.CPointer(types.float64)] * arguments)
    try:
        return Written(cfunc(signature, cache=cache)(plain))
    except (NumbaError, TypeError) as error:
        name = getattr(plain, "__name__", repr(plain))
        raise ArrayError(
            f"{name}: expected a function of {arguments} vectors that numba compiles and that returns True or False on "
            "every path (did you forget `return`?)"
        ) from error


def _joined_by(extend: Callable[..., bool]) -> Callable[..., bool]:
    """Join paths with the empty path at the sink by extending them: its values are only room for what comes there."""
    extended = njit(getattr(extend, "py_func", extend))

    def joins(forward: Any, at_sink: Any, arc: Any, vertex: Any) -> bool:
        return bool(extended(forward, arc, vertex, at_sink))

    return joins


def functions() -> Functions:
    """What stands in where the user has written nothing."""
    global _functions
    if _functions is None:
        four, two = compiled(_allow, 4, cache=True), compiled(_fits, 2, cache=True)
        _functions = Functions(four, two, four)
    return _functions


_functions: Functions | None = None


def _allow(_before: Any, _arc: Any, _vertex: Any, _after: Any) -> bool:
    return True


def _fits(_one: Any, _other: Any) -> bool:
    return True

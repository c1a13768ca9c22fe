"""User-defined resources."""

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
    """A resource with user-defined extension and dominance.

    Its value is a vector of floats.  The functions are compiled.  They may index their arguments and use constants, but
    no ``len``, slices or outside arrays.

    Parameters
    ----------
    extend : ``extend(before, arc, vertex, after) -> bool``
        Write the values at the head of an arc to ``after`` and return whether the path is feasible.  ``arc`` is the row
        of ``arc_data``, ``vertex`` the head's row of ``vertex_data``.
    dominates : ``dominates(one, other) -> bool``
        Whether every continuation that is feasible after ``other`` is so after ``one``.
    start : the values at the source
    arc_data : one row of numbers per arc
    vertex_data : one row of numbers per vertex
    order : ``(component, low, high)``: a component that no arc decreases, and its range
        Labels are settled in its order.  None: in the order of another resource, or of the number of arcs.
    backward : ``extend`` for paths to the sink, which are extended at their beginning
        ``vertex`` is the row of the new first vertex.  The ordering component must not decrease either, and ranges from
        -high to -low.  ``start_backward`` and ``dominates_backward`` belong to it.
    joins : ``joins(forward, backward, arc, vertex) -> bool``
        Whether a path can be joined over an arc with a path to the sink; ``vertex`` is the row of the arc's head.  The
        arc into the sink is joined with ``start_backward``.  Without ``backward`` and ``joins`` the search is forward
        only, and ``extend`` decides about every arc.
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
            raise ArrayError("backward: expected all of backward, start_backward and joins, or none")
        if dominates_backward is not None and backward is None:
            raise ArrayError("dominates_backward: expected backward, start_backward and joins as well")
        self.both = backward is not None
        self.start_backward: Floats = (
            self.start
            if start_backward is None
            else as_floats(start_backward, "start_backward", shape=self.start.shape)
        )
        self.extend, self.dominates = compile_function(extend, 4), compile_function(dominates, 2)
        if backward is None or joins is None:
            # `extend` is for forward paths: bounds from paths to the sink relax the resource.  A route is feasible if
            # `extend` accepts all of its arcs.
            self.backward, self.dominates_backward = default_functions().extend, default_functions().dominates
            self.joins = compile_function(_joins_by_extending(extend), 4)
        else:
            self.backward, self.joins = compile_function(backward, 4), compile_function(joins, 4)
            self.dominates_backward = (
                self.dominates if dominates_backward is None else compile_function(dominates_backward, 2)
            )

    def check_data(self, arcs: int, vertices: int) -> None:
        """Raise an error unless data has one row per arc, and per vertex: kernels do not check bounds."""
        for name, data, count in (("arc_data", self.arc_data, arcs), ("vertex_data", self.vertex_data, vertices)):
            if data is not None and len(data) != count:
                raise ArrayError(f"{name}: expected {count} rows, one per {name[:-5]}, got {len(data)}")


class Functions(NamedTuple):
    """Compiled user functions, or defaults."""

    extend: Any
    dominates: Any
    joins: Any


class CompiledFunction(types.WrapperAddressProtocol):
    """A compiled function whose numba type is created once; numba would recreate it for each kernel call."""

    def __init__(self, function: Any) -> None:
        self.function, self.type = function, typeof(function)

    def __call__(self, *arguments: Any) -> bool:
        return bool(self.function(*arguments))

    def __wrapper_address__(self) -> int:
        return int(self.function._wrapper_address)

    def signature(self) -> Any:
        return self.type.signature


@typeof_impl.register(CompiledFunction)
def _type_of(written: CompiledFunction, _context: Any) -> Any:
    return written.type


def compile_function(function: Callable[..., bool], arguments: int, *, cache: bool = False) -> CompiledFunction:
    """Return the function compiled for pointers to floats."""
    plain = getattr(function, "py_func", function)
    if not callable(plain):
        raise ArrayError(f"{function!r}: expected a function")
    signature = types.boolean(*[types.CPointer(types.float64)] * arguments)
    try:
        return CompiledFunction(cfunc(signature, cache=cache)(plain))
    except (NumbaError, TypeError) as error:
        name = getattr(plain, "__name__", repr(plain))
        raise ArrayError(
            f"{name}: expected a function of {arguments} vectors that numba compiles and that always returns True or "
            "False (is a `return` missing?)"
        ) from error


def _joins_by_extending(extend: Callable[..., bool]) -> Callable[..., bool]:
    """Return a ``joins`` that extends a path to the sink.  The values at the sink are only a buffer."""
    extended = njit(getattr(extend, "py_func", extend))

    def joins(forward: Any, at_sink: Any, arc: Any, vertex: Any) -> bool:
        return bool(extended(forward, arc, vertex, at_sink))

    return joins


def default_functions() -> Functions:
    """Return the default functions."""
    global _functions
    if _functions is None:
        four, two = compile_function(_allow, 4, cache=True), compile_function(_fits, 2, cache=True)
        _functions = Functions(four, two, four)
    return _functions


_functions: Functions | None = None


def _allow(_before: Any, _arc: Any, _vertex: Any, _after: Any) -> bool:
    return True


def _fits(_one: Any, _other: Any) -> bool:
    return True

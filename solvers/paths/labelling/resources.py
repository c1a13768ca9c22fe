"""What paths consume."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numba import cfunc, typeof, types
from numba.extending import typeof_impl
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from solvers.arrays import ArrayError, as_float, as_floats, as_integer
from solvers.paths.labelling.network import Network

Floats = NDArray[np.float64]

_ROUNDING = 1e-9
"""What sums of consumptions may be wrong by, relative to their limit, where they are not whole numbers."""


class Resource:
    """A resource that every arc consumes some of, with limits at the vertices.

    The value at the head of an arc is ``max(lower[head], value at the tail + consumption[arc])``, which must be at most
    ``upper[head]``: time, with windows.  With lower limits that never bind it is a capacity.

    Parameters
    ----------
    consumption
        One number an arc, of any sign.
    upper, lower
        A number, or one a vertex.
    waiting
        Whether a value below the lower limit becomes that limit.  False: the path is forbidden.
    start
        The value at the source, before its lower limit.
    name
        For messages.

    Notes
    -----
    Sums of whole numbers are exact.  Others are allowed to exceed a limit by 10⁻⁹ of it: give whole numbers (times in
    tenths, say) where that matters.
    """

    def __init__(
        self,
        consumption: ArrayLike,
        upper: ArrayLike,
        lower: ArrayLike = 0.0,
        *,
        waiting: bool = True,
        start: float = 0.0,
        name: str = "resource",
    ) -> None:
        self.name, self.waiting = name, bool(waiting)
        self.consumption: Floats = as_floats(consumption, f"consumption of {name}", shape=(None,))
        self.upper: Floats = as_floats(upper, f"upper limit of {name}", finite=False)
        self.lower: Floats = as_floats(lower, f"lower limit of {name}", finite=False)
        self.start = as_float(start, f"start of {name}")

    @classmethod
    def on_vertices(cls, network: Network, consumption: ArrayLike, upper: ArrayLike, **options: Any) -> Resource:
        """What every visit of a vertex consumes: a load."""
        each = as_floats(consumption, "consumption", shape=(network.num_vertices,))
        return cls(each[network.heads], upper, **options)


class CustomResource:
    """A resource whose extension and dominance are written by the user.

    Its value is a vector of floats.  The functions are compiled; they index their arguments, and see nothing else (no
    ``len``, no slices, no arrays from outside but constants).

    Parameters
    ----------
    extend
        ``extend(before, arc, vertex, after) -> bool``: writes the values at the head of an arc, and says whether the
        path is allowed.  ``arc`` and ``vertex`` are the rows of ``arc_data`` and ``vertex_data``, the latter that of
        the head.
    dominates
        ``dominates(one, other) -> bool``: whether every continuation that ``other`` allows is allowed after ``one``.
    start
        The values at the source.
    arc_data, vertex_data
        One row of numbers an arc, and a vertex.
    order
        ``(component, low, high)``: a component that no arc decreases, and between what its values lie.  Labels are
        settled in its order.  None: in that of another resource, or of the number of arcs.
    backward, start_backward, dominates_backward
        The same for paths to the sink, extended from their first vertex to the one before: then ``vertex`` is the row
        of that one.  A component that orders must not decrease here either; it lies between -high and -low.
    joins
        ``joins(forward, backward, arc, vertex) -> bool``: whether a path may go on, over an arc, with a path to the
        sink; ``vertex`` is the row of the arc's head.  Without ``backward`` and ``joins`` the search goes forward only.
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
        self.both = backward is not None
        self.start_backward: Floats = (
            self.start
            if start_backward is None
            else as_floats(start_backward, "start_backward", shape=self.start.shape)
        )
        self.extend, self.dominates = compiled(extend, 4), compiled(dominates, 2)
        self.backward = self.extend if backward is None else compiled(backward, 4)
        self.dominates_backward = self.dominates if dominates_backward is None else compiled(dominates_backward, 2)
        self.joins = functions().joins if joins is None else compiled(joins, 4)


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
    return Written(cfunc(types.boolean(*[types.CPointer(types.float64)] * arguments), cache=cache)(plain))


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


@dataclass(frozen=True)
class Limits:
    """Resources as arrays, in one direction: by arc, by vertex, and at the origin.

    Attributes
    ----------
    consumption, lower, upper, start, slack
        As of :class:`solvers.paths.labelling.layout.Side`.
    critical, compared
        Which one orders labels, and how many of them dominance compares.
    lowest, highest, step
        Of the critical one: between what its values lie, and the least that an arc consumes.
    """

    consumption: Floats
    lower: Floats
    upper: Floats
    start: Floats
    slack: Floats
    critical: int
    compared: int
    lowest: float
    highest: float
    step: float

    def reversed(self, sink: int) -> Limits:
        """In the direction backwards: of the reversed network, with values of the other sign."""
        return Limits(
            self.consumption,
            -self.upper,
            -self.lower,
            -self.upper[sink],
            self.slack,
            self.critical,
            self.compared,
            -self.highest,
            -self.lowest,
            self.step,
        )


def limits(network: Network, resources: tuple[Resource, ...]) -> Limits:
    """The resources as arrays, that which orders labels first; where there is none, the number of arcs orders them.

    Raises
    ------
    ArrayError
        If a resource does not fit the network.
    """
    n, arcs = network.num_vertices, network.num_arcs
    rows: list[tuple[Floats, Floats, Floats, float]] = []
    for resource in resources:
        if len(resource.consumption) != arcs:
            got = len(resource.consumption)
            raise ArrayError(f"consumption of {resource.name}: expected {arcs} numbers, one an arc, got {got}")
        upper, lower = (_per_vertex(side, resource.name, n) for side in (resource.upper, resource.lower))
        if resource.waiting:
            rows.append((resource.consumption, lower, upper, max(resource.start, lower[network.source])))
            continue
        # Without waiting, a lower limit is an upper limit on what is left.
        nothing = np.full(n, -np.inf)
        rows.append((resource.consumption, nothing, upper, resource.start))
        if np.isfinite(lower).any():
            rows.append((-resource.consumption, nothing, -lower, -resource.start))
    ordering = [k for k, row in enumerate(rows) if _orders(*row)]
    # what every cycle consumes comes first, then windows: they are what paths run out of
    ordering.sort(key=lambda k: (not progresses(network, rows[k][0]), bool((rows[k][1] == rows[k][1][0]).all())))
    compared = len(rows)
    if ordering:
        rows.insert(0, rows.pop(ordering[0]))
    else:
        rows.append((np.ones(arcs), np.zeros(n), np.full(n, n - 1.0), 0.0))
    critical = 0 if ordering else compared
    consumption, lower, upper = (np.stack([row[k] for row in rows], axis=-1) for k in range(3))
    start = np.array([row[3] for row in rows], dtype=np.float64)
    slack = np.zeros(len(rows))
    for k, row in enumerate(rows):
        finite = [side[np.isfinite(side)] for side in row[:3]]
        if not all((side == np.rint(side)).all() for side in (*finite, np.array(row[3]))):
            slack[k] = _ROUNDING * max((np.abs(side).max(initial=0.0) for side in finite), default=0.0)
    upper = upper + slack
    mine = consumption[:, critical]
    return Limits(
        np.ascontiguousarray(consumption),
        np.ascontiguousarray(lower),
        np.ascontiguousarray(upper),
        start,
        slack,
        critical,
        compared,
        float(start[critical]),
        float(max(upper[:, critical].max(), start[critical])),
        float(mine[mine > 0].min(initial=np.inf)),
    )


def _orders(consumption: Floats, lower: Floats, upper: Floats, start: float) -> bool:
    """Whether a resource never decreases, and ends somewhere."""
    ends = np.isfinite(upper).all() and np.isfinite(start)
    return bool(ends and (consumption >= 0).all() and (consumption > 0).any())


def progresses(network: Network, consumption: Floats) -> bool:
    """Whether every cycle consumes something."""
    free = consumption == 0
    n = network.num_vertices
    graph = coo_array(
        (np.ones(int(free.sum()), dtype=np.int8), (network.tails[free], network.heads[free])), shape=(n, n)
    )
    return bool(connected_components(graph, connection="strong")[0] == n)


def _per_vertex(limit: Floats, name: str, n: int) -> Floats:
    if limit.ndim == 0:
        return np.full(n, float(limit))
    return np.asarray(as_floats(limit, f"limits of {name}", shape=(n,), finite=False))

"""Resources of paths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen.solvers.arrays import ArrayError, as_float, as_floats
from colgen.solvers.paths.labelling.network import Network
from colgen.solvers.paths.labelling.rules import Rules

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_ROUNDING = 2.0**-50
"""Rounding error per term of a sum of fractional consumptions, relative to the largest limit."""


class Resource:
    """A resource with consumption on arcs and limits at vertices.

    The value at the head of an arc is ``max(lower[head], value at the tail + consumption[arc])``, at most
    ``upper[head]``, like time with windows.  If lower limits never bind, it is a capacity.  A vertex with an empty
    window (lower limit above the upper one) is on no path.

    Parameters
    ----------
    consumption : one number per arc, of any sign
    upper : a number, or one per vertex
    lower : a number, or one per vertex
    waiting : whether a value below the lower limit is raised to it; False: the path is infeasible
    start : the value at the source, before its lower limit; at most the source's upper limit
    penalty : thresholds and rates, each a number or one per vertex, such as due times and costs per unit of lateness
        A path pays ``rate max(0, value - threshold)`` at each vertex but the source.  The search is then forward only.
    name : used in messages

    Notes
    -----
    Sums of integers are exact.  Other sums may exceed a limit by 10⁻⁹ of it.  If that matters, use integers (times in
    tenths, for instance).
    """

    def __init__(
        self,
        consumption: ArrayLike,
        upper: ArrayLike,
        lower: ArrayLike = 0.0,
        *,
        waiting: bool = True,
        start: float = 0.0,
        penalty: tuple[ArrayLike, ArrayLike] | None = None,
        name: str = "resource",
    ) -> None:
        self.name, self.waiting = name, bool(waiting)
        self.consumption: Floats = as_floats(consumption, f"consumption of {name}", shape=(None,))
        self.upper: Floats = as_floats(upper, f"upper limit of {name}", finite=False)
        self.lower: Floats = as_floats(lower, f"lower limit of {name}", finite=False)
        self.start = as_float(start, f"start of {name}")
        threshold, rate = (0.0, 0.0) if penalty is None else penalty
        self.threshold: Floats = as_floats(threshold, f"thresholds of {name}")
        self.rate: Floats = as_floats(rate, f"rates of {name}")
        if (self.rate < 0).any():
            raise ArrayError(f"rates of {name}: expected numbers of at least 0, got {self.rate.min():g}")

    @classmethod
    def on_vertices(cls, network: Network, consumption: ArrayLike, upper: ArrayLike, **options: Any) -> Resource:
        """Return a resource consumed by visits of vertices, such as a load."""
        each = as_floats(consumption, "consumption", shape=(network.num_vertices,))
        return cls(each[network.heads], upper, **options)


@dataclass(frozen=True)
class Limits:
    """Resources as arrays in one direction: by arc, by vertex, and at the origin.

    * ``consumption``, ``lower``, ``upper``, ``start``, ``slack``: as in
      :class:`colgen.solvers.paths.labelling.layout.Side`.
    * ``critical``: the resource that orders labels.
    * ``compared``: number of resources that dominance compares.
    * ``lowest``, ``highest``, ``step``: range of the critical resource, and the least positive consumption of an arc.
    * ``closed``: mask of vertices that no path can visit: the window is empty, or excludes the start.
    * ``carried``: backward consumption of the last resources, loads that only requests bring and take.
    * ``threshold``, ``rate``: of penalties by vertex, without rows if there are none.
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
    closed: NDArray[np.bool_]
    carried: Floats
    threshold: Floats
    rate: Floats

    def reversed(self, sink: int) -> Limits:
        """Return the limits of the backward direction, with negated values and without penalties.

        A carried load is that of the open requests, in this direction too.
        """
        count = self.consumption.shape[1] - self.carried.shape[1]
        consumption, lower, upper = self.consumption.copy(), -self.upper, -self.lower
        consumption[:, count:], lower[:, count:], upper[:, count:] = self.carried, -np.inf, self.upper[:, count:]
        start = -self.upper[sink]
        start[count:] = 0.0
        return Limits(
            consumption,
            lower,
            upper,
            start,
            self.slack,
            self.critical,
            self.compared,
            -self.highest,
            -self.lowest,
            self.step,
            self.closed,
            self.carried,
            self.threshold[:0],
            self.rate[:0],
        )


def limits(network: Network, resources: tuple[Resource, ...], rules: Rules | None = None) -> Limits:
    """Return the resources as arrays, the ordering one first; by default the number of arcs orders labels."""
    n, arcs = network.num_vertices, network.num_arcs
    nothing = np.zeros(n)
    rows: list[_Row] = []
    loads: list[_Row] = []
    for resource in resources:
        if len(resource.consumption) != arcs:
            got = len(resource.consumption)
            raise ArrayError(f"consumption of {resource.name}: expected {arcs} numbers, one per arc, got {got}")
        upper, lower = (_per_vertex(side, resource.name, n) for side in (resource.upper, resource.lower))
        if rules is not None and _is_carried(network, resource, lower, upper, rules):
            loads.append(_Row(resource.consumption, np.full(n, -np.inf), upper, 0.0, nothing, nothing))
            continue
        pays = _per_vertex(resource.threshold, resource.name, n), _per_vertex(resource.rate, resource.name, n)
        if resource.waiting:
            rows.append(_Row(resource.consumption, lower, upper, max(resource.start, lower[network.source]), *pays))
            continue
        # Without waiting, a lower limit is an upper limit on the negated value.
        free = np.full(n, -np.inf)
        rows.append(_Row(resource.consumption, free, upper, resource.start, *pays))
        if (lower > -np.inf).any():
            rows.append(_Row(-resource.consumption, free, -lower, -resource.start, nothing, nothing))
    ordering = [k for k, row in enumerate(rows) if _orders(row)]
    # prefer resources that every cycle consumes, then those with windows: they limit paths most
    ordering.sort(key=lambda k: (not progresses(network, rows[k][0]), bool((rows[k][1] == rows[k][1][0]).all())))
    compared = len(rows)
    if ordering:
        first = rows.pop(ordering[0])
        # Values never fall below the start; as a lower limit this also ends backward walks.
        rows.insert(0, first._replace(lower=np.maximum(first.lower, first.start)))
    else:
        rows.append(_Row(np.ones(arcs), np.zeros(n), np.full(n, n - 1.0), 0.0, nothing, nothing))
    critical = 0 if ordering else compared
    rows += loads
    consumption, lower, upper = (np.stack([row[k] for row in rows], axis=-1) for k in range(3))
    threshold, rate = (np.stack([row[k] for row in rows], axis=-1) for k in (4, 5))
    if not rate.any():
        threshold, rate = threshold[:0], rate[:0]
    begin = np.array([row.start for row in rows], dtype=np.float64)
    slack = np.zeros(len(rows))
    for k, row in enumerate(rows):
        slack[k] = rounding(n, *row[:3], np.array(row.start))
    upper = upper + slack
    closed = np.asarray((lower > upper).any(axis=1))
    closed[network.source] |= (begin > upper[network.source]).any()
    mine = consumption[:, critical]
    slack[len(rows) - len(loads) :] = np.inf  # paths are joined if the same requests are open
    carried = np.zeros((arcs, len(loads)))
    for k, load in enumerate(loads):
        carried[:, k] = -_on_vertices(network, load.consumption)[network.tails]
    return Limits(
        np.ascontiguousarray(consumption),
        np.ascontiguousarray(lower),
        np.ascontiguousarray(upper),
        begin,
        slack,
        critical,
        compared,
        float(begin[critical]),
        float(max(upper[:, critical].max(), begin[critical])),
        float(mine[mine > 0].min(initial=np.inf)),
        closed,
        carried,
        threshold,
        rate,
    )


class _Row(NamedTuple):
    """A resource with one upper limit: by arc and by vertex."""

    consumption: Floats
    lower: Floats
    upper: Floats
    start: float
    threshold: Floats
    rate: Floats


def penalties(network: Network, mine: Limits, starts: Sequence[int] | Ints, arcs: Ints) -> Floats:
    """Return what paths pay for their values of resources; path k has ``arcs[starts[k]:starts[k + 1]]``."""
    paid = np.zeros(len(starts) - 1)
    if len(mine.rate):
        for k, (first, end) in enumerate(pairwise(starts)):
            level = mine.start
            for arc in arcs[first:end]:
                head = network.heads[arc]
                level = np.maximum(level + mine.consumption[arc], mine.lower[head])
                paid[k] += mine.rate[head] @ np.maximum(level - mine.threshold[head], 0.0)
    return paid


def _on_vertices(network: Network, consumption: Floats) -> Floats:
    """Return the consumption of an arc into each vertex."""
    found = np.zeros(network.num_vertices)
    found[network.heads] = consumption
    return found


def _is_carried(network: Network, resource: Resource, lower: Floats, upper: Floats, rules: Rules) -> bool:
    """Return whether a resource is the total size of the open requests, with one upper limit."""
    pickups, deliveries = rules.pickups, rules.deliveries
    if not len(pickups):
        return False
    size = _on_vertices(network, resource.consumption)
    others = np.delete(size, [*pickups, *deliveries])
    return bool(
        resource.start == 0
        and not resource.rate.any()
        and (lower <= 0).all()
        and (upper == upper[0]).all()
        and (size[network.heads] == resource.consumption).all()
        and (size[pickups] == -size[deliveries]).all()
        and (size[pickups] >= 0).all()
        and (others == 0).all()
    )


def _orders(row: _Row) -> bool:
    """Return whether a resource never decreases and has finite limits."""
    ends = np.isfinite(row.upper).all() and np.isfinite(row.start)
    return bool(ends and (row.consumption >= 0).all() and (row.consumption > 0).any())


def rounding(terms: int, *numbers: Floats) -> float:
    """Return a bound on the rounding error of a sum of so many numbers; 0 if all are integers or infinite."""
    finite = [each[np.isfinite(each)] for each in numbers]
    if all((each == np.rint(each)).all() for each in finite):
        return 0.0
    return _ROUNDING * terms * max(float(np.abs(each).max(initial=0.0)) for each in finite)


def bounded(network: Network, mine: Limits, *, remembered: bool) -> Limits:
    """Return limits that bound the length of paths that are not elementary.

    If cycles need not consume a resource, paths that remember vertices have at most as many arcs as elementary ones.
    """
    if mine.critical < mine.compared and progresses(network, mine.consumption[:, mine.critical]):
        return mine
    if not remembered:
        raise ArrayError(
            "resources: expected one that never decreases, has finite limits and is consumed on every cycle, "
            "as routes that are not elementary could have any length"
        )
    n, place = network.num_vertices, mine.compared
    consumption, lower, upper = mine.consumption, mine.lower, mine.upper
    start, slack, threshold, rate = mine.start, mine.slack, mine.threshold, mine.rate
    if mine.critical < place:
        consumption, lower, upper, start, slack = (
            np.insert(each, place, value, axis=-1)
            for each, value in ((consumption, 1.0), (lower, 0.0), (upper, n - 1.0), (start, 0.0), (slack, 0.0))
        )
        threshold, rate = (np.insert(each, place, 0.0, axis=-1) for each in (threshold, rate))
    return replace(
        mine, consumption=consumption, lower=lower, upper=upper, start=start, slack=slack, threshold=threshold,
        rate=rate, critical=place, compared=place + 1, lowest=0.0, highest=n - 1.0, step=1.0,
    )  # fmt: skip


def progresses(network: Network, consumption: Floats) -> bool:
    """Return whether every cycle has positive consumption."""
    free = consumption == 0
    n = network.num_vertices
    from scipy.sparse import coo_array  # a slow import, 0.1 seconds
    from scipy.sparse.csgraph import connected_components

    graph = coo_array(
        (np.ones(int(free.sum()), dtype=np.int8), (network.tails[free], network.heads[free])), shape=(n, n)
    )
    return bool(connected_components(graph, connection="strong")[0] == n)


def _per_vertex(limit: Floats, name: str, n: int) -> Floats:
    if limit.ndim == 0:
        return np.full(n, float(limit))
    return np.asarray(as_floats(limit, f"limits of {name}", shape=(n,), finite=False))

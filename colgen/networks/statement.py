"""The statement that variables over the arcs of a graph are a sum of paths."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pyomo.environ as pyo
from pyomo.core.base.block import ScalarBlock
from pyomo.core.expr.numvalue import NumericValue

from colgen.core.errors import InputError
from colgen.networks.commodities import Commodities, Unsplittable, as_commodities
from colgen.networks.filling import fill
from colgen.networks.graph import Graph, Ints
from colgen.networks.rules import Consecutive, Neighbourhoods, NoCycles, Resource, Rule, Vertex
from colgen.networks.windows import penalty


class Paths(ScalarBlock):  # type: ignore[misc]
    """A path block: variables over the arcs of a graph are a sum of paths from source to sink.

    It is a component of a Pyomo model, ``model.routes = Paths(...)``, or an element of ``by`` in
    :func:`colgen.decompose`.  Flow conservation is not written.  Until :meth:`compact` writes it, other solvers refuse
    the model.

    Parameters
    ----------
    graph
        ``(tails, heads)`` or, with parallel arcs, ``(tails, heads, keys)``: one entry per arc each.  Vertices have any
        hashable names.
    flow
        The number of paths over each arc: a Pyomo ``Var`` with the index ``(tail, head)`` or ``(tail, head, key)``, a
        sequence of variables in the order of the arcs, or an array of columns of a
        :class:`~colgen.decomposition.reading.compact_model.CompactModel`.  Integer variables mean an integer number of
        each path.
    source, sink
        The ends of all paths.  They may be the same vertex, such as a depot.
    commodities
        Instead of source and sink: ``(origins, destinations, demands)``, one entry per commodity each, or
        :class:`colgen.networks.Commodities`.  The flow of an arc is the total over the commodities.  The rule
        :class:`colgen.networks.Unsplittable` states one path per commodity.
    count
        The number of paths: ``(lower, upper)``, or one number.
    resources
        :class:`colgen.networks.Resource` objects, and at most one
        :class:`colgen.solvers.paths.labelling.CustomResource`.
    rules
        Rules of :mod:`colgen.networks`.

    Raises
    ------
    InputError
        If the graph has loops, or vertices that are on no path from source to sink, or a limit is contradictory.

    Examples
    --------
    >>> m = pyo.ConcreteModel()
    >>> arcs = [("s", "a"), ("s", "b"), ("a", "b"), ("a", "t"), ("b", "t")]
    >>> m.x = pyo.Var(arcs, domain=pyo.Binary)
    >>> m.visit = pyo.Constraint(["a", "b"], rule=lambda m, v: sum(m.x[i, j] for i, j in arcs if j == v) == 1)
    >>> m.length = pyo.Objective(expr=sum((3 + (i == "s")) * m.x[i, j] for i, j in arcs))
    >>> load = Resource({"a": 2, "b": 2}, upper=3, name="load")
    >>> m.routes = Paths(tuple(zip(*arcs)), m.x, "s", "t", resources=[load])
    >>> solve(decompose(m)).objective
    14.0
    """

    def __init__(
        self,
        graph: Sequence[Any],
        flow: Any,
        source: Vertex = None,
        sink: Vertex = None,
        *,
        commodities: Commodities | Sequence[Any] | None = None,
        count: float | tuple[float, float] = (0, math.inf),
        resources: Iterable[Any] = (),
        rules: Iterable[Rule | Unsplittable] = (),
    ) -> None:
        super().__init__()
        if commodities is not None:
            resources, rules = tuple(resources), tuple(rules)
            if source is not None or sink is not None or count != (0, math.inf) or resources:
                raise InputError("commodities: expected neither source, sink and count nor resources with them")
            if not all(isinstance(rule, Unsplittable) for rule in rules):
                raise InputError("commodities: expected no rules but Unsplittable with them")
            self._graph = Graph.without_ends(graph)
        else:
            self._graph = Graph(graph, source, sink)
        self._commodities: Commodities | None = None
        if commodities is not None:
            self._commodities = as_commodities(commodities, self._graph.vertices, len(self._graph.tails))
        self._flow = _FlowOf(flow, self._graph)
        lower, upper = count if isinstance(count, tuple) else (count, count)
        if not 0 <= lower <= upper:
            raise InputError(f"count: expected 0 ≤ lower ≤ upper, got {count!r}")
        self._count = float(lower), float(upper)
        self._resources, self._rules = tuple(resources), tuple(rules)
        if commodities is None:
            check_rules(self._rules)  # type: ignore[arg-type]
        for resource in self._resources:
            if isinstance(resource, Resource):
                check_limits(self._graph, resource, any(not isinstance(rule, Consecutive) for rule in self._rules))
            elif not hasattr(resource, "dominates"):
                raise InputError(f"resources: expected a Resource or a CustomResource, not {resource!r}")
        self.refuses_other_solvers = pyo.Expression(rule=lambda block: _Unfilled(block.name))
        self.call_compact_first = pyo.Constraint(expr=self.refuses_other_solvers <= 0)

    @property
    def vertices(self) -> tuple[Vertex, ...]:
        """The names of the vertices in the order of arrays over vertices; source and sink are last if they are one."""
        return self._graph.vertices

    @property
    def is_filled(self) -> bool:
        """Whether :meth:`compact` has written flow conservation."""
        return self.component("call_compact_first") is None

    def compact(self) -> tuple[str, ...]:
        """Write flow conservation, resources and rules as linear constraints, so that other solvers accept the model.

        Returns
        -------
        tuple of str
            Names of the resources and rules that have no linear form in this model, and ``"cycles"`` for a flow that
            may have cycles apart from its paths.  If it is empty, the model is exact; otherwise it is a relaxation.

        Raises
        ------
        InputError
            If the block is in no Pyomo model, or has its constraints already.
        """
        return fill(self)


def flow_columns(paths: Paths, position: Mapping[int, int], width: int, name: str) -> Ints:
    """Return the column of each arc, -1 for arcs whose variable is fixed to 0.

    ``position`` has the columns of Pyomo variables by ``id``; ``width`` is the number of columns.
    """
    flow = paths._flow
    if flow.columns is not None:
        columns = flow.columns
        if len(columns) and not (columns.min() >= 0 and columns.max() < width):
            raise InputError(f"{name}: flow: expected columns from 0 to {width - 1}, got {int(columns.max())}")
    else:
        columns = np.full(len(flow.variables), -1, dtype=np.int64)
        for k, variable in enumerate(flow.variables):
            if not variable.fixed:
                found = position.get(id(variable))
                if found is None:
                    raise InputError(f"{name}: flow: {variable.name!r} is not an active variable of the model")
                columns[k] = found
            elif variable.value != 0.0:
                raise InputError(
                    f"{name}: flow: {variable.name!r} is fixed to {variable.value}; expected 0 or a free variable: "
                    "state the value as a constraint"
                )
    open_columns = columns[columns >= 0]
    repeated = np.flatnonzero(np.bincount(open_columns, minlength=1) > 1)
    if len(repeated):
        first, second = np.flatnonzero(columns == repeated[0])[:2]
        names = paths._graph.names
        raise InputError(f"{name}: flow: the arcs {names[first]} and {names[second]} have the same variable")
    return columns


class _FlowOf:
    """The variables or columns of the arcs."""

    def __init__(self, flow: Any, graph: Graph) -> None:
        self.columns: Ints | None = None
        self.variables: list[Any] = []
        count = len(graph.tails)
        if isinstance(flow, np.ndarray) and flow.dtype.kind in "iu":
            self.columns = flow.astype(np.int64)
            given = len(flow)
        elif hasattr(flow, "is_indexed") and flow.is_indexed():
            self.variables = [_member(flow, name) for name in graph.names]
            given = count
        else:
            try:
                self.variables = list(flow)
            except TypeError:
                raise InputError(
                    f"flow: expected a Pyomo Var over the arcs or an array of columns, not {flow!r}"
                ) from None
            given = len(self.variables)
        if given != count:
            raise InputError(f"flow: expected one variable per arc, got {given} for {count} arcs")


def _member(flow: Any, name: tuple[Hashable, ...]) -> Any:
    flat = tuple(part for end in name for part in (end if isinstance(end, tuple) else (end,)))
    if flat not in flow:
        raise InputError(f"flow: {flow.name!r} has no variable of the arc {name}")
    return flow[flat]


class _Unfilled(NumericValue):  # type: ignore[misc]
    """A body that no writer of models accepts: it raises an InputError that explains what to do."""

    __slots__ = ("block",)

    def __init__(self, block: str) -> None:
        self.block = block

    def __getstate__(self) -> str:
        return self.block

    def __setstate__(self, state: str) -> None:
        self.block = state

    def _refuse(self, *_arguments: Any, **_options: Any) -> Any:
        raise InputError(
            f"the path block {self.block!r} has no flow conservation yet: solve the model with colgen.decompose, or "
            f"call {self.block}.compact() before other solvers"
        )

    is_potentially_variable = is_fixed = is_constant = is_expression_type = polynomial_degree = __call__ = _refuse

    def getname(self, *_arguments: Any, **_options: Any) -> str:
        return "no flow conservation"

    to_string = getname


def check_rules(rules: Sequence[Rule]) -> None:
    """Raise an InputError for objects that are not rules, and for two rules that are not enforced together."""
    for rule in rules:
        if not isinstance(rule, Rule):
            raise InputError(f"rules: expected rules of colgen.networks, such as Elementary(), not {rule!r}")
        if isinstance(rule, NoCycles) and (rule.arcs != int(rule.arcs) or rule.arcs < 2):
            raise InputError(f"NoCycles: expected an integer of at least 2, as there are no loops, got {rule.arcs!r}")
    memories = [type(rule).__name__ for rule in rules if isinstance(rule, (Neighbourhoods, NoCycles))]
    if len(memories) > 1 and len(set(memories)) + memories.count("Neighbourhoods") > 1:
        raise InputError(f"rules: expected at most one of Neighbourhoods and NoCycles, got {' and '.join(memories)}")


def check_limits(graph: Graph, resource: Resource, ends_cycles: bool = False) -> None:
    """Raise an InputError for limits that no path satisfies at a vertex, or arrays of the wrong length.

    ``ends_cycles`` is whether rules limit cycles; otherwise each resource must limit some.
    """
    name = f"resource {resource.name!r}"
    consumption = graph.per_arc(resource.consumption, f"consumption of {name}")
    upper = graph.per_vertex(resource.upper, f"upper of {name}", math.inf)
    if resource.lower is not None:
        lower = graph.per_vertex(resource.lower, f"lower of {name}", -math.inf)
        if (lower > upper).any():
            k = int(np.argmax(lower > upper))
            raise InputError(
                f"{name}: the limits of vertex {graph.vertices[k]!r} are {lower[k]:g} to {upper[k]:g}, expected lower "
                "≤ upper"
            )
    if upper[graph.source] < resource.start:
        raise InputError(
            f"{name}: the upper limit {upper[graph.source]:g} of the source is below the start {resource.start:g}"
        )
    penalty(graph, resource)  # raises an error if it is none
    bounded = np.isfinite(upper).any() or (resource.lower is not None and not resource.waiting)
    if not (ends_cycles or graph.is_acyclic) and not (consumption.any() and bounded):
        what = "no finite upper limit" if consumption.any() else "no consumption"
        raise InputError(
            f"{name}: it has {what}, so it never bounds a cycle: remove it, or add a limit, or a rule such as "
            "Elementary()"
        )
    if (consumption >= 0.0).all() and (upper < resource.start).any():
        k = int(np.argmax(upper < resource.start))
        raise InputError(
            f"{name}: the upper limit {upper[k]:g} of vertex {graph.vertices[k]!r} is below the start "
            f"{resource.start:g}, and the resource never decreases"
        )

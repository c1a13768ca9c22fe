"""Flow conservation, resources and rules of a path block as linear constraints in its Pyomo model."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyomo.environ as pyo
from scipy import sparse

from colgen.core.errors import FormulationError, InputError
from colgen.core.sense import Sense
from colgen.model.rows import Rows, compile_model, free_variables
from colgen.networks.commodity_rows import write_conservation
from colgen.networks.expanded import Expanded, expand
from colgen.networks.graph import Floats, Graph, Ints
from colgen.networks.rules import AtMostOne, Consecutive, Elementary, Neighbourhoods, NoCycles, Requests, Resource
from colgen.networks.windows import Limited, earliest, fits, latest, limited
from colgen.solvers.topological import levels

_COPIES = 12
"""Most paths that have a flow each."""

_IMPLIED = (Elementary, Neighbourhoods, NoCycles)
"""Rules that a path satisfies if it visits no vertex twice."""


def fill(paths: Any) -> tuple[str, ...]:
    """Write the constraints of a block; return the names of its resources and rules that have no linear form.

    There are three forms.  Without resources and cycles, conservation is enough.  If rows or bounds limit the visits of
    each vertex to one, the level of a resource at a vertex is a variable.  If the number of paths is small and none
    visits a vertex twice, each path has a flow and levels of its own.
    """
    graph, flow, rules = paths._graph, paths._flow.variables, paths._rules
    if paths._flow.columns is not None or paths.parent_block() is None:
        raise InputError("compact: expected a component of a Pyomo model, whose flow is Pyomo variables")
    if paths.is_filled:
        raise InputError(f"compact: {paths.name} has its flow conservation already")
    upper = np.array([_upper(variable) for variable in flow])
    if paths._commodities is not None:
        return _fill_commodities(paths, flow, paths._commodities.costs)
    integer = all(variable.is_integer() for variable in flow)
    runs = [rule for rule in rules if isinstance(rule, Consecutive)]
    network = expand(graph, np.flatnonzero(upper > 0.0) if runs else np.arange(len(flow)), runs)
    least, most = paths._count
    most = min(most, float(upper[graph.tails == graph.source].sum()))
    simple = graph.is_acyclic or any(isinstance(rule, Elementary) for rule in rules)
    limits: list[Resource | Requests] = [each for each in paths._resources if isinstance(each, Resource)]
    named = [_name(each) for each in paths._resources if not isinstance(each, Resource)]
    for rule in rules:
        if isinstance(rule, AtMostOne):
            limits += [Resource(dict.fromkeys(each, 1.0), 1.0, name="AtMostOne") for each in rule.sets]
        elif isinstance(rule, Requests):
            limits.append(rule)
    model = _Model(paths)
    _open(paths, flow)
    form = _Form(graph, network, upper > 0.0)
    if graph.is_acyclic and not limits:
        form.write(paths, flow, (least, most))
    elif integer and ((simple and most < 2) or model.visits_at_most_once(upper)):
        form.limit(paths, form.write(paths, flow, (least, most)), limits)
    elif integer and simple and most < _COPIES + 1:
        form.write_each(paths, flow, least, math.floor(most), limits)
    else:
        form.write(paths, flow, (least, most))
        named += map(_name, limits)
        if not graph.is_acyclic and (limits or runs or not model.loses_cycles()):
            named += [_name(rule) for rule in rules if isinstance(rule, _IMPLIED)] or ["cycles"]
    return tuple(dict.fromkeys(named))


def _open(paths: Any, flow: Sequence[Any]) -> None:
    """Remove the component that other solvers refuse, and write that flows are not negative."""
    paths.del_component(paths.call_compact_first)
    paths.del_component(paths.refuses_other_solvers)
    from_zero = [
        a for a, variable in enumerate(flow) if not variable.fixed and (variable.lb is None or variable.lb < 0.0)
    ]
    paths.sign = pyo.Constraint(from_zero, rule=lambda block, a: flow[a] >= 0)


def _fill_commodities(paths: Any, flow: Sequence[Any], costs: Floats | None) -> tuple[str, ...]:
    """Write the flows of commodities; ``costs`` are those that the model's objective lacks."""
    free = costs is None or bool((costs >= 0.0).all())
    exact = paths._graph.is_acyclic or (free and _Model(paths).loses_cycles())
    _open(paths, flow)
    write_conservation(paths)
    return () if exact else ("cycles",)


class _Form:
    """The constraints of a graph, over the arcs of its network; see :func:`colgen.networks.expanded.expand`."""

    def __init__(self, graph: Graph, network: Expanded, is_open: np.ndarray) -> None:
        self.graph, self.network, self.open = graph, network, np.flatnonzero(is_open)
        self.copies: list[list[int]] = [[] for _ in graph.tails]
        for k, arc in enumerate(network.arc_of.tolist()):
            self.copies[arc].append(k)

    def write(self, part: Any, flow: Sequence[Any], count: tuple[float, float]) -> Sequence[Any]:
        """Write conservation of one flow, and the number of its paths; return the flow."""
        network = self.network
        if np.array_equal(network.arc_of, np.arange(len(flow))):
            use = list(flow)
        else:
            kind = pyo.NonNegativeIntegers if flow[0].is_integer() else pyo.NonNegativeReals
            part.run = pyo.Var(range(len(network.arc_of)), domain=kind)
            use = list(part.run.values())
            part.runs = pyo.Constraint(
                self.open.tolist(), rule=lambda block, a: flow[a] == sum(use[k] for k in self.copies[a])
            )
        self._conserve(part, use, count)
        return flow

    def write_each(
        self, part: Any, flow: Sequence[Any], least: float, most: int, limits: Sequence[Resource | Requests]
    ) -> None:
        """Write a flow of one path at most, and its levels, for each of the paths."""
        graph, network = self.graph, self.network
        arcs, entered = range(len(network.arc_of)), graph.heads[network.arc_of]
        inner = np.setdiff1d(entered, [graph.sink]).tolist()
        into = {v: np.flatnonzero(entered == v).tolist() for v in inner}
        first = np.flatnonzero(network.tails == network.source).tolist()
        part.path = pyo.Block(range(most))
        uses = []
        for path in part.path.values():
            path.run = pyo.Var(arcs, domain=pyo.Binary)
            self._conserve(path, list(path.run.values()), (0.0, 1.0))
            use = [sum(path.run[k] for k in copies) if copies else 0.0 for copies in self.copies]
            if not graph.is_acyclic:
                path.once = pyo.Constraint(inner, rule=lambda path, v: sum(path.run[k] for k in into[v]) <= 1)
            self.limit(path, use, limits)
            uses.append(use)
        part.flow = pyo.Constraint(range(len(flow)), rule=lambda block, a: flow[a] == sum(use[a] for use in uses))
        used = [sum(path.run[k] for k in first) for path in part.path.values()]
        part.order = pyo.Constraint(range(1, most), rule=lambda block, k: used[k] <= used[k - 1])
        part.count = pyo.Constraint(rule=lambda block: _at_least(used, least))

    def _conserve(self, part: Any, use: Sequence[Any], count: tuple[float, float]) -> None:
        network = self.network
        balance: list[list[Any]] = [[] for _ in network.vertex_of]
        for variable, tail, head in zip(use, network.tails.tolist(), network.heads.tolist(), strict=True):
            balance[tail].append(variable)
            balance[head].append(-variable)
        inner = [v for v, terms in enumerate(balance) if terms and v not in (network.source, network.sink)]
        part.conservation = pyo.Constraint(inner, rule=lambda block, v: pyo.quicksum(balance[v]) == 0)
        leaving = balance[network.source]
        part.least = pyo.Constraint(rule=lambda block: _at_least(leaving, count[0]))
        if leaving and math.isfinite(count[1]):
            part.most = pyo.Constraint(expr=pyo.quicksum(leaving) <= count[1])

    def limit(self, part: Any, use: Sequence[Any], limits: Sequence[Resource | Requests]) -> None:
        """Write levels of resources at vertices that are visited at most once, requests, and no cycles."""
        graph, count = self.graph, len(self.graph.vertices)
        rows = [row for each in limits if isinstance(each, Resource) for row in limited(graph, each)]
        pairs = [pair for each in limits if isinstance(each, Requests) for pair in each.pairs]
        if pairs or not (graph.is_acyclic or any(self._ends_cycles(row) for row in rows)):
            ones, free = np.ones(len(graph.tails)), np.full(count, -math.inf)
            nothing = np.zeros(count)
            rows.append(Limited("order", ones, free, np.full(count, count - 1.0), 0.0, nothing, nothing))
        part.resource = pyo.Block(range(len(rows)))
        for k, row in enumerate(rows):
            self._write_levels(part.resource[k], use, row)
        if pairs:
            self._write_requests(part, use, pairs, part.resource[len(rows) - 1].level)

    def _write_requests(self, part: Any, use: Sequence[Any], pairs: Sequence[Any], order: Any) -> None:
        """Write that both vertices of a request are on one path, named by its first inner vertex, in their order."""
        graph, count = self.graph, len(self.graph.vertices)
        number = {vertex: v for v, vertex in enumerate(graph.vertices)}
        part.first = pyo.Var(range(count), bounds=(0, count - 1))
        part.request = pyo.ConstraintList()
        for arc in self.open.tolist():
            tail, head = int(graph.tails[arc]), int(graph.heads[arc])
            if head != graph.sink:
                first = part.first[tail] if tail != graph.source else head
                for sign in (1, -1):
                    part.request.add(sign * (part.first[head] - first) <= (count - 1) * (1 - use[arc]))
        for pickup, delivery in ((number[p], number[d]) for p, d in pairs):
            into = [[use[a] for a in self.open.tolist() if graph.heads[a] == v] for v in (pickup, delivery)]
            into = [[term for term in terms if not isinstance(term, float)] for terms in into]
            if pickup not in order or delivery not in order or not all(into):
                part.request.add(pyo.quicksum([*into[0], *into[1], 0 * part.first[0]]) == 0)
                continue
            visited = pyo.quicksum(into[0])
            part.request.add(visited == pyo.quicksum(into[1]))
            part.request.add(order[delivery] - order[pickup] >= visited - count * (1 - visited))
            for sign in (1, -1):
                part.request.add(sign * (part.first[pickup] - part.first[delivery]) <= (count - 1) * (1 - visited))

    def _ends_cycles(self, row: Limited) -> bool:
        used, graph = row.consumption[self.open], self.graph
        free = self.open[used == 0.0]
        return bool((used >= 0.0).all()) and levels(len(row.lower), graph.tails[free], graph.heads[free]) is not None

    def _write_levels(self, part: Any, use: Sequence[Any], row: Limited) -> None:
        """Write ``level[head] >= level[tail] + consumption`` for used arcs, with consumptions of at most 1."""
        graph, arcs = self.graph, self.open
        low, high = earliest(graph, row, arcs), latest(graph, row, arcs)
        least, most = _of_paths(graph, row, arcs)
        low, high = np.where(np.isinf(low) & (low < 0.0), least, low), np.where(high == math.inf, most, high)
        tails, heads, consumption = graph.tails[arcs], graph.heads[arcs], row.consumption[arcs]
        fit = fits(graph, row, arcs, low, high)
        closed = [use[a] for a in arcs[~fit].tolist() if not isinstance(use[a], float)]
        part.closed = pyo.Constraint(range(len(closed)), rule=lambda block, k: closed[k] == 0)
        unit = float(np.abs(consumption).max(initial=0.0)) or 1.0
        inner = np.setdiff1d(np.concatenate([tails[fit], heads[fit]]), [graph.source, graph.sink]).tolist()
        part.level = pyo.Var(inner, bounds=lambda block, v: (low[v] / unit, max(low[v], high[v]) / unit))
        start, end = low[graph.source] / unit, high[graph.sink] / unit
        binding = []
        for arc, tail, head, used in zip(arcs[fit], tails[fit], heads[fit], consumption[fit] / unit, strict=True):
            before = part.level[tail] if tail != graph.source else start
            after = part.level[head] if head != graph.sink else end
            highest = start if tail == graph.source else high[tail] / unit
            lowest = end if head == graph.sink else low[head] / unit
            slack = highest + used - lowest
            if slack > 0.0 and not (tail == graph.source and head == graph.sink):
                binding.append(after - before >= used - slack * (1 - use[arc]))
        part.consumption = pyo.Constraint(range(len(binding)), rule=lambda block, k: binding[k])
        if row.rate.any():
            self._write_penalties(part, use, row, unit, high)

    def _write_penalties(self, part: Any, use: Sequence[Any], row: Limited, unit: float, high: Floats) -> None:
        """Write the excess at the head of each used arc into a vertex with a penalty, and add its cost."""
        graph, start = self.graph, max(row.start, float(row.lower[self.graph.source]))
        arcs = [a for a in self.open.tolist() if row.rate[graph.heads[a]] > 0.0 and not isinstance(use[a], float)]
        part.excess = pyo.Var(arcs, domain=pyo.NonNegativeReals)
        part.penalty = pyo.ConstraintList()
        for arc in arcs:
            tail, head = int(graph.tails[arc]), int(graph.heads[arc])
            if tail != graph.source and tail not in part.level:
                continue  # the arc is closed
            before = unit * part.level[tail] if tail != graph.source else start
            most = start if tail == graph.source else max(float(high[tail]), float(row.lower[tail]))
            late = row.consumption[arc] - row.threshold[head]
            if most + late > 0.0:
                part.penalty.add(part.excess[arc] >= before + late - (most + late) * (1 - use[arc]))
            waits = row.lower[head] - row.threshold[head]
            if waits > 0.0:
                part.penalty.add(part.excess[arc] >= waits * use[arc])
        objective = _objective_of(part.model())
        cost = pyo.quicksum(float(row.rate[graph.heads[a]]) * part.excess[a] for a in arcs)
        objective.set_value(objective.expr + cost)


@contextlib.contextmanager
def set_aside(model: Any, *others: Any) -> Iterator[tuple[Any, ...]]:
    """Deactivate the path blocks of a model that are not filled, and others, while the rest is read; yield them."""
    blocks = model.component_objects(pyo.Block, active=True)
    unfilled = tuple(
        block
        for block in blocks
        if any(block is other for other in others) or (hasattr(type(block), "is_filled") and not block.is_filled)
    )
    for block in unfilled:
        block.deactivate()
    try:
        yield unfilled
    finally:
        for block in unfilled:
            block.activate()


class _Model:
    """What the rows and bounds of the whole model imply for the flow of a block."""

    def __init__(self, paths: Any) -> None:
        self.paths = paths
        self.rows: Rows | None = None

    def _read(self) -> tuple[Rows, Ints]:
        model = self.paths.model()
        try:
            with set_aside(model, self.paths):
                rows = compile_model(model)
        except FormulationError as error:
            raise InputError(f"compact: {error}") from None
        position = {id(variable): k for k, variable in enumerate(free_variables(model)[2])}
        columns = [position.get(id(variable), -1) for variable in self.paths._flow.variables]
        return rows, np.array(columns, dtype=np.int64)

    def visits_at_most_once(self, upper: Floats) -> bool:
        """Return whether at most one path visits each inner vertex, once, if the flow is integer."""
        graph = self.paths._graph
        rows, columns = self._read()
        matrix = sparse.coo_array(rows.matrix)
        matrix.eliminate_zeros()
        (of_row, of_column), count, width = matrix.coords, len(graph.vertices), len(rows.costs)
        arc = np.full(width, -1)
        arc[columns[columns >= 0]] = np.flatnonzero(columns >= 0)
        lower = np.where(arc >= 0, np.maximum(rows.lower, 0.0), rows.lower)
        most = np.full(count, math.inf)
        for ends in (graph.heads, graph.tails):
            np.minimum(most, np.bincount(ends, upper, minlength=count), out=most)
            fixed = np.bincount(ends[columns < 0], upper[columns < 0], minlength=count)
            degree = np.bincount(ends[columns >= 0], minlength=count)
            for data, side in ((matrix.data, rows.row_upper), (-matrix.data, -rows.row_lower)):
                least = np.where(data > 0.0, data * lower[of_column], data * rows.upper[of_column])
                others = np.bincount(of_row, least, minlength=len(side))
                mine = np.flatnonzero((arc[of_column] >= 0) & (data > 0.0))
                code = of_row[mine] * count + ends[arc[of_column[mine]]]
                codes, group, times = np.unique(code, return_inverse=True, return_counts=True)
                coefficient = np.full(len(codes), math.inf)
                np.minimum.at(coefficient, group, data[mine])
                row, vertex = np.divmod(codes, count)
                room = side[row] - (others[row] - np.bincount(group, least[mine], minlength=len(codes)))
                full = times == degree[vertex]
                np.minimum.at(most, vertex[full], (room / coefficient + fixed[vertex])[full])
        inner = np.delete(most, [graph.source, graph.sink])
        return bool((inner < 2.0 - 1e-6).all())

    def loses_cycles(self) -> bool:
        """Return whether a solution without cycles of the flow is feasible and as good."""
        graph = self.paths._graph
        rows, columns = self._read()
        count = len(graph.vertices)
        graph_of = sparse.csr_array((np.ones(len(graph.tails)), (graph.tails, graph.heads)), shape=(count, count))
        part = sparse.csgraph.connected_components(graph_of, connection="strong")[1]
        cyclic = columns[(part[graph.tails] == part[graph.heads]) & (columns >= 0)]
        costs = rows.costs[cyclic] * (1.0 if rows.sense is Sense.MINIMIZE else -1.0)
        entries = sparse.coo_array(sparse.csc_array(rows.matrix)[:, cyclic])
        row, data = entries.coords[0], entries.data
        free = np.where(data > 0.0, rows.row_lower[row] == -math.inf, rows.row_upper[row] == math.inf)
        return bool((costs >= 0.0).all() and (free | (data == 0.0)).all())


def _of_paths(graph: Graph, row: Limited, arcs: Ints) -> tuple[float, float]:
    """Return bounds on the levels of paths that visit no vertex twice."""
    count = len(graph.vertices)
    least, most = np.zeros(count), np.zeros(count)
    np.minimum.at(least, graph.heads[arcs], row.consumption[arcs])
    np.maximum.at(most, graph.heads[arcs], row.consumption[arcs])
    begin = max([row.start, *row.lower[np.isfinite(row.lower)].tolist()])
    return row.start + float(least.sum()), begin + float(most.sum())


def _objective_of(model: Any) -> Any:
    """Return the objective of a model, to which penalties are added."""
    found = list(model.component_data_objects(pyo.Objective, active=True))
    if len(found) != 1:
        raise InputError(f"compact: expected one objective, to add penalties, got {len(found)}")
    return found[0]


def _at_least(terms: Sequence[Any], least: float) -> Any:
    """Return ``Σ terms >= least``, and a constraint that nothing satisfies if the sum is empty."""
    if least <= 0.0:
        return pyo.Constraint.Skip
    return pyo.quicksum(terms) >= least if terms else pyo.Constraint.Infeasible


def _upper(variable: Any) -> float:
    upper = variable.value if variable.fixed else variable.ub
    return math.inf if upper is None else float(upper)


def _name(part: Any) -> str:
    """Return the name of a resource or rule."""
    return str(getattr(part, "name", type(part).__name__))

"""Fuzz models with path blocks, compared with all paths in HiGHS, and with the compact model where it is exact."""

from __future__ import annotations

import copy
import dataclasses
import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any, cast

import numpy as np
import pyomo.environ as pyo
from scipy import optimize

from colgen import CompactModel, InputError, Paths, Termination, TimeLimit, decompose, solve
from colgen.decomposition.networked import NetworkModel
from colgen.networks import AtMostOne, Consecutive, Elementary, Neighbourhoods, NoCycles, Requests, Resource
from tests.fuzz.judging import UNKNOWN, Claims, Truths, claims_of, find_fault, single
from tests.fuzz.scores import Rng, Sample, draw_scale

NAME = "networks"

_SECONDS, _TRUTH_SECONDS = 60.0, 20.0
"""Time limits in seconds: of a run, where reaching it is a failure, and of HiGHS as the reference."""

_MOST_PATHS = 2_000
"""Larger pools are not judged."""

_NEAR = 1e-6
"""Tolerance of rows, relative to the scale of their coefficients."""

_DOMAINS = {"binary": pyo.Binary, "integer": pyo.NonNegativeIntegers, "continuous": pyo.NonNegativeReals}

_REFUSED = (
    ["cycles", "ng"],
    ["ng", "ng"],
    ["cycles", "requests"],
    ["cycles", "runs"],
    ["requests", "requests"],
    ["requests", "runs"],
)
"""Pairs of rules that are refused, in graphs with cycles at least."""

Walk = tuple[int, ...]
"""Numbers of arcs."""


# --- samples ---------------------------------------------------------------------------------------------------------


def draw(rng: Rng) -> Sample:
    """Draw up to three graphs of up to seven vertices, and rows over the arcs of all."""
    inner = int(rng.integers(1, 6))
    kind = str(rng.choice(["binary", "integer", "continuous"], p=[0.45, 0.3, 0.25]))
    most = 1 if rng.random() < 0.8 else 3
    graphs = [_draw_graph(rng, inner, kind) for _ in range(int(rng.choice([1, 2, 3], p=[0.6, 0.3, 0.1])))]
    rows: list[dict[str, Any]] = []
    if rng.random() < 0.8:
        which = str(rng.choice(["=", "<", ">", "mixed"], p=[0.45, 0.25, 0.2, 0.1]))
        out = bool(rng.random() < 0.2)
        for v in range(1, inner + 1):
            sense = which if which != "mixed" else str(rng.choice(["=", "<", ">"]))
            side = 1 if rng.random() < 0.85 else int(rng.integers(0, 4))
            side = max(side, most) if rng.random() < 0.8 else side
            terms = [
                [g, a, 1] for g, each in enumerate(graphs) for a, arc in enumerate(each["arcs"]) if arc[out ^ 1] == v
            ]
            if terms and rng.random() < 0.9:
                rows.append(_row(rng, terms, sense, side, 0.1))
    every = [(g, a) for g, each in enumerate(graphs) for a in range(len(each["arcs"]))]
    for _ in range(int(rng.choice([0, 1, 2, 3], p=[0.35, 0.3, 0.2, 0.15]))):
        chosen = rng.choice(len(every), size=min(len(every), int(rng.integers(1, 8))), replace=False)
        values = rng.choice([-2, -1, 1, 1, 1, 2, 3], len(chosen)) if rng.random() < 0.6 else np.ones(len(chosen), int)
        terms = [[*every[k], int(value)] for k, value in zip(chosen.tolist(), values.tolist(), strict=True)]
        rows.append(
            _row(rng, terms, str(rng.choice(["=", "<", ">"], p=[0.15, 0.45, 0.4])), int(rng.integers(-1, 5)), 0.3)
        )
    low = int(rng.integers(-1, 6)) if rng.random() < 0.3 else 1
    costs = rng.integers(min(low, 4), 8, len(every)).astype(float)
    if rng.random() < 0.2:
        costs = costs + np.round(rng.normal(size=len(costs)), 3)
    static = {"integer": bool(rng.random() < 0.5), "bounds": [0, 2] if rng.random() < 0.5 else [-1, 2]}
    arrays = {"costs": costs, "static": np.array([float(rng.integers(-3, 6))])}
    settings = {
        "kind": kind,
        "graphs": graphs,
        "rows": rows,
        "static": static,
        "arrays": bool(rng.random() < 0.2),
        "split": False,
    }
    settings["split"] = bool(rng.random() < 0.3)
    return Sample(NAME, arrays, draw_scale(rng), (float(rng.integers(-5, 6)),), settings)


def _row(rng: Rng, terms: list[Any], sense: str, side: int, static: float) -> dict[str, Any]:
    more = int(rng.choice([-1, 1, 2])) if rng.random() < static else 0
    power = int(rng.choice([0, 0, 0, 0, -3, 3, 6])) if rng.random() < 0.5 else 0
    return {"terms": terms, "sense": sense, "side": side, "static": more, "scale": 10.0**power}


def _draw_graph(rng: Rng, inner: int, kind: str) -> dict[str, Any]:
    """Draw a graph over vertices 1 to ``inner``; 0 is the source and -1 the sink, or 0 is both."""
    loop, acyclic, share = bool(rng.random() < 0.4), bool(rng.random() < 0.4), rng.choice([0.5, 0.8, 1.0])
    sink = 0 if loop else -1
    pairs = [
        (i, j) for i in range(inner + 1) for j in (*range(1, inner + 1), sink) if i != j and not (acyclic and 0 < j < i)
    ]
    arcs: list[Any] = [pair for pair in pairs if rng.random() < share]
    if rng.random() < 0.2:
        arcs += [arcs[k] for k in rng.integers(0, len(arcs), 2).tolist()] if arcs else []
    arcs = _trimmed([[*pair] for pair in arcs], sink) or [[0, 1], [1, sink]]
    count: list[Any] = [0, None]
    if rng.random() < 0.5:
        count = [int(rng.integers(0, 3)), int(rng.integers(2, 5))] if rng.random() < 0.6 else [1, 1]
    upper: list[Any] = [1 if kind == "binary" else None] * len(arcs)
    if kind != "binary" and rng.random() < 0.6:
        upper = [float(rng.choice([1, 2, 3])) - 0.5 * (kind == "continuous") for _ in arcs]
    visited = sorted({j for _, j in arcs if j > 0})
    rules = [_draw_rule(rng, visited) for _ in range(int(rng.choice([0, 1, 2], p=[0.35, 0.5, 0.15])))]
    if sorted(rule[0] for rule in rules) in _REFUSED:
        rules = rules[:1]
    resources = [_draw_resource(rng, arcs, inner, sink) for _ in range(int(rng.choice([0, 1, 2], p=[0.3, 0.5, 0.2])))]
    fixed = [a for a in range(len(arcs)) if rng.random() < 0.05] if rng.random() < 0.2 else []
    return {
        "arcs": arcs,
        "sink": sink,
        "count": count,
        "upper": upper,
        "rules": rules,
        "resources": resources,
        "fixed": fixed,
    }


def _trimmed(arcs: list[list[int]], sink: int) -> list[list[int]]:
    """Return the arcs between vertices that are on a walk from source to sink."""
    ahead: set[Any] = {0}
    back: set[Any] = {"sink"}
    for _ in arcs:
        ahead |= {j for i, j in arcs if i in ahead}
        back |= {i for i, j in arcs if (j == sink and "sink" in back) or (j != 0 and j in back)}
    return [[i, j] for i, j in arcs if i in ahead and (j == sink or j in back)]


def _draw_rule(rng: Rng, inner: list[int]) -> list[Any]:
    kind = str(
        rng.choice(["elementary", "ng", "cycles", "runs", "sets", "requests"], p=[0.4, 0.15, 0.1, 0.15, 0.1, 0.1])
    )
    kind = "elementary" if kind == "requests" and len(inner) < 2 else kind
    if kind == "sets":
        return [kind, [[v for v in inner if rng.random() < 0.5] or inner[:1] for _ in range(int(rng.integers(1, 3)))]]
    if kind == "requests":
        mixed = rng.permutation(inner).tolist()
        return [kind, [mixed[k : k + 2] for k in range(0, len(mixed) - 1, 2)][: int(rng.integers(1, 3))]]
    if kind == "ng":
        return [kind, [[v, u] for v in inner for u in inner if u == v or rng.random() < 0.5]]
    if kind == "cycles":
        return [kind, int(rng.integers(2, 4))]
    if kind == "runs":
        least = int(rng.integers(1, 4))
        most = None if rng.random() < 0.4 else least + int(rng.integers(0, 2))
        members = [v for v in inner if rng.random() < 0.6] or inner[:1]
        return [kind, members, least, most, bool(rng.random() < 0.3)]
    return [kind]


def _draw_resource(rng: Rng, arcs: list[list[int]], inner: int, sink: int) -> dict[str, Any]:
    """Draw integer data in a unit: a load, times with windows, or a quantity of any sign, perhaps without waiting."""
    kind = str(rng.choice(["load", "time", "any", "exact"], p=[0.35, 0.3, 0.15, 0.2]))
    unit = 10.0 ** int(rng.choice([0, 0, 0, -3, 3, 6]))
    inside, sinks = range(1, inner + 1), "sink"
    if kind == "load":
        each = {v: int(rng.integers(0 if rng.random() < 0.2 else 1, 5)) for v in inside}
        use = [each.get(j, 0) for _, j in arcs]
        return {"use": use, "upper": int(rng.integers(2, 12)), "lower": None, "waiting": True, "start": 0, "unit": unit}
    use = rng.integers(-2 if kind == "any" or (kind == "exact" and rng.random() < 0.5) else 0, 5, len(arcs)).tolist()
    lower: dict[Any, int] = {v: int(rng.integers(0, 8)) for v in inside if rng.random() < 0.5}
    upper: dict[Any, int] = {v: lower.get(v, 0) + int(rng.integers(1, 8)) for v in inside if rng.random() < 0.7}
    if kind == "exact" and rng.random() < 0.6:
        lower, upper = {sinks: int(rng.integers(1, 6))}, {}
    upper[sinks] = lower.get(sinks, 0) + int(rng.integers(4, 14))
    upper[0] = 20
    everywhere = kind == "time" and rng.random() < 0.6
    if everywhere:
        upper = {v: upper.get(v, 20) for v in (0, *inside, sinks)}
    start = int(rng.integers(0, 3)) if rng.random() < 0.3 and min(upper.values()) > 2 else 0
    as_lists = {"upper": [[v, u] for v, u in upper.items()], "lower": [[v, u] for v, u in lower.items()]}
    return {"use": use, **as_lists, "waiting": kind != "exact", "start": start, "unit": unit}


# --- models ----------------------------------------------------------------------------------------------------------


def model_of(sample: Sample) -> pyo.ConcreteModel:
    """Return the model: ``x[graph, arc]``, the rows, ``z``, and path blocks ``g0``, ``g1``, ..."""
    how, scale = sample.settings, sample.scale
    m = pyo.ConcreteModel()
    m.x = pyo.Var(
        [(g, a) for g, graph in enumerate(how["graphs"]) for a in range(len(graph["arcs"]))],
        domain=_DOMAINS[how["kind"]],
        bounds=lambda m, g, a: (0, how["graphs"][g]["upper"][a]),
    )
    m.z = pyo.Var(domain=pyo.Integers if how["static"]["integer"] else pyo.Reals, bounds=how["static"]["bounds"])

    def row(m: Any, r: int) -> Any:
        each = how["rows"][r]
        body = (
            sum(each["scale"] * value * m.x[g, a] for g, a, value in each["terms"])
            + each["scale"] * each["static"] * m.z
        )
        side = each["scale"] * each["side"]
        return body == side if each["sense"] == "=" else body <= side if each["sense"] == "<" else body >= side

    half = len(how["rows"]) // 2 if how["split"] else 0
    m.row = pyo.Constraint(range(half, len(how["rows"])), rule=row)
    m.other = pyo.Constraint(range(half), rule=row)
    costs = (scale * sample.arrays["costs"]).tolist()
    m.cost = pyo.Objective(
        expr=sum(cost * m.x[index] for cost, index in zip(costs, m.x, strict=True))
        + scale * float(sample.arrays["static"][0]) * m.z
        + sample.constant
    )
    for g, graph in enumerate(how["graphs"]):
        flow = [m.x[g, a] for a in range(len(graph["arcs"]))]
        for a in graph["fixed"]:
            m.x[g, a].fix(0)
        m.add_component(f"g{g}", paths_of(graph, flow))
    return m


def paths_of(graph: dict[str, Any], flow: Any) -> Paths:
    """Return the statement of a graph."""
    arcs, sink = graph["arcs"], graph["sink"]
    tails, heads = zip(*arcs, strict=True)
    rules: list[Any] = []
    for name, *data in graph["rules"]:
        if name == "elementary":
            rules.append(Elementary())
        elif name == "ng":
            remembered: dict[Any, list[int]] = {}
            for v, u in data[0]:
                remembered.setdefault(v, []).append(u)
            rules.append(Neighbourhoods(remembered=remembered))
        elif name == "cycles":
            rules.append(NoCycles(data[0]))
        elif name == "sets":
            rules.append(AtMostOne(data[0]))
        elif name == "requests":
            rules.append(Requests([tuple(pair) for pair in data[0]]))
        else:
            rules.append(Consecutive(*data))
    order = Paths((tails, heads), flow, 0, sink).vertices
    resources = []
    for k, each in enumerate(graph["resources"]):
        low, high = _limits(each)
        ends = ["sink" if place == len(order) - 1 and sink == 0 else v for place, v in enumerate(order)]
        names = ["sink" if v == sink and sink < 0 else v for v in ends]
        lower = None if each["lower"] is None else [each["unit"] * low.get(v, -math.inf) for v in names]
        upper = [each["unit"] * high.get(v, math.inf) for v in names]
        use = [each["unit"] * value for value in each["use"]]
        resources.append(
            Resource(use, upper, lower, waiting=each["waiting"], start=each["unit"] * each["start"], name=f"r{k}")
        )
    low, high = graph["count"]
    count = (low, math.inf if high is None else high)
    return Paths((tails, heads), flow, 0, sink, count=count, resources=resources, rules=rules)


def _limits(resource: dict[str, Any]) -> tuple[dict[Any, float], dict[Any, float]]:
    """Return the limits at vertices, by number or "sink"."""
    if resource["lower"] is None:
        upper = resource["upper"]
        return {}, dict.fromkeys((*range(10), "sink"), upper)
    return dict(map(tuple, resource["lower"])), dict(map(tuple, resource["upper"]))


# --- truth -----------------------------------------------------------------------------------------------------------


def walks(graph: dict[str, Any]) -> list[Walk] | None:
    """Return all feasible walks, by the definitions of resources and rules; None if there are too many."""
    arcs, sink = graph["arcs"], graph["sink"]
    leaving: dict[int, list[int]] = {}
    for a, (tail, _) in enumerate(arcs):
        if a not in graph["fixed"] and graph["upper"][a] != 0:
            leaving.setdefault(tail, []).append(a)
    elementary = any(rule[0] == "elementary" for rule in graph["rules"])
    longest = math.inf if elementary or _ends(graph) else len({v for arc in arcs for v in arc}) + (sink == 0)
    found: list[Walk] = []
    steps = 0

    def extend(walk: Walk, visited: tuple[int, ...], values: tuple[float, ...]) -> bool:
        nonlocal steps
        at = visited[-1] if visited else 0
        for a in leaving.get(at, ()):
            head = arcs[a][1]
            steps += 1
            if len(walk) >= longest or steps > 200_000 or len(found) > _MOST_PATHS:
                return steps <= 200_000 and len(found) <= _MOST_PATHS
            is_sink = head == sink
            after = _consumed(graph, a, "sink" if is_sink else head, values)
            if after is None or not (is_sink or _may_visit(graph["rules"], visited, head)):
                continue
            if is_sink:
                if all(_is_complete(rule, visited) for rule in graph["rules"]):
                    found.append((*walk, a))
            elif not extend((*walk, a), (*visited, head), after):
                return False
        return True

    start = []
    for each in graph["resources"]:
        low, high = _limits(each)
        level = each["start"]
        if each["waiting"]:
            level = max(level, low.get(0, -math.inf))
        if level > high.get(0, math.inf) or level < low.get(0, -math.inf):
            return []
        start.append(level)
    return found if extend((), (), tuple(start)) else None


def _consumed(graph: dict[str, Any], arc: int, head: Any, values: Sequence[float]) -> tuple[float, ...] | None:
    after = []
    for each, value in zip(graph["resources"], values, strict=True):
        low, high = _limits(each)
        level = value + each["use"][arc]
        if each["waiting"]:
            level = max(level, low.get(head, -math.inf))
        if not low.get(head, -math.inf) <= level <= high.get(head, math.inf):
            return None
        after.append(level)
    return tuple(after)


def _may_visit(rules: list[list[Any]], visited: tuple[int, ...], head: int) -> bool:
    for name, *data in rules:
        if name == "elementary" and head in visited:
            return False
        if name == "cycles" and head in visited[-data[0] :]:
            return False
        if name == "ng" and _is_remembered(data[0], rules, visited, head):
            return False
        if name == "sets" and any(head in each and set(each) & set(visited) for each in data[0]):
            return False
    return True


def _is_remembered(known: list[list[int]], rules: list[list[Any]], visited: tuple[int, ...], head: int) -> bool:
    """Return whether neighbourhoods forbid a visit; those of a request count as one, deliveries remember all."""
    pairs = [pair for rule in rules if rule[0] == "requests" for pair in rule[1]]
    alike = next((pair for pair in pairs if head in pair), [head])
    deliveries = [delivery for _, delivery in pairs]
    places = [k for k, v in enumerate(visited) if v in alike]
    if head in deliveries or not places:
        return False
    return all(v in deliveries or v in alike or any([v, u] in known for u in alike) for v in visited[places[-1] :])


def _is_complete(rule: list[Any], visited: tuple[int, ...]) -> bool:
    """Return whether a walk from source to sink satisfies requests, and a rule about runs."""
    if rule[0] == "requests":
        for pickup, delivery in rule[1]:
            turns = [v for v in visited if v in (pickup, delivery)]
            if turns != [pickup, delivery] * (len(turns) // 2):
                return False
    if rule[0] != "runs":
        return True
    _, members, least, most, at_ends = rule
    groups = [(inside, len(list(group))) for inside, group in itertools.groupby(visited, key=lambda v: v in members)]
    for place, (inside, length) in enumerate(groups):
        ends = place in (0, len(groups) - 1)
        if inside and ((most is not None and length > most) or (length < least and (at_ends or not ends))):
            return False
    return True


def _ends(graph: dict[str, Any]) -> bool:
    """Return whether a resource limits the number of arcs of all walks; others have one arc per vertex at most."""
    for each in graph["resources"]:
        _, high = _limits(each)
        places = {v if v != graph["sink"] else "sink" for arc in graph["arcs"] for v in arc} | {0, "sink"}
        if min(each["use"]) >= 0 and max(each["use"]) > 0 and all(v in high for v in places):
            free = [arc for arc, use in zip(graph["arcs"], each["use"], strict=True) if use == 0]
            inner = {v for arc in graph["arcs"] for v in arc if v > 0}
            for _ in range(len(inner) + 1):
                inner = {v for v in inner if any(i in inner and j == v for i, j in free)}
            if not inner:
                return True
    return False


def _best(sample: Sample) -> tuple[float, list[list[Walk]]]:
    """Return the least objective at scale 1 without the constant, by HiGHS over all walks, and the walks.

    NaN if it is unknown, infinite if the model is infeasible, minus infinity if it is unbounded.
    """
    how = sample.settings
    pools = []
    for graph in how["graphs"]:
        found = walks(graph)
        if found is None:
            return math.nan, []
        pools.append(found)
    starts = np.cumsum([0, *(len(graph["arcs"]) for graph in how["graphs"])])
    arcs = int(starts[-1])
    columns = [(g, walk) for g, pool in enumerate(pools) for walk in pool]
    use = np.zeros((arcs, len(columns) + 1))
    counts = np.zeros((len(pools), len(columns) + 1))
    for k, (g, walk) in enumerate(columns):
        np.add.at(use[:, k], [starts[g] + a for a in walk], 1.0)
        counts[g, k] = 1.0
    upper = [math.inf if u is None else u for graph in how["graphs"] for u in graph["upper"]]
    matrix, low, high = [*use, *counts], [0.0] * arcs, list(upper)
    for graph in how["graphs"]:
        low.append(graph["count"][0])
        high.append(math.inf if graph["count"][1] is None else graph["count"][1])
    for each in how["rows"]:
        line = np.zeros(len(columns) + 1)
        line[-1] = each["static"]
        for g, a, value in each["terms"]:
            line += value * use[starts[g] + a]
        matrix.append(line)
        low.append(each["side"] if each["sense"] != "<" else -math.inf)
        high.append(each["side"] if each["sense"] != ">" else math.inf)
    costs = np.append(sample.arrays["costs"] @ use[:, :-1], sample.arrays["static"][0])
    whole = how["kind"] != "continuous"
    z = how["static"]
    integrality = np.append(np.full(len(columns), int(whole)), int(z["integer"]))
    bounds = optimize.Bounds(
        np.append(np.zeros(len(columns)), z["bounds"][0]), np.append(np.full(len(columns), np.inf), z["bounds"][1])
    )
    rows = optimize.LinearConstraint(np.array(matrix), np.array(low, float), np.array(high, float))

    def run(objective: Any) -> Any:
        options = {"mip_rel_gap": 0.0, "presolve": False, "time_limit": _TRUTH_SECONDS}
        return optimize.milp(objective, integrality=integrality, bounds=bounds, constraints=rows, options=options)

    solved = run(costs)
    if solved.status == 0:
        return float(solved.fun), pools
    if solved.status == 1:
        return math.nan, pools
    feasible = run(np.zeros_like(costs)).status
    return (math.inf if feasible == 2 else -math.inf if feasible == 0 else math.nan), pools


# --- judgement -------------------------------------------------------------------------------------------------------


def evaluate(sample: Sample) -> tuple[Truths, Claims]:
    """Return truth and claims, both negated."""
    least, pools = _best(sample)
    if math.isnan(least):
        return UNKNOWN
    size = sample.scale * max(float(np.abs(sample.arrays["costs"]).max(initial=0.0)), 1.0)
    truths = Truths(np.array([-sample.scale * least - sample.constant]), size, np.array([-sample.constant]))
    if sample.settings["kind"] == "continuous" or not sample.settings["static"]["integer"]:
        truths = dataclasses.replace(truths, tolerance=5.0 * _NEAR)
    model = model_of(sample)
    no_path = not all(pools)
    if no_path:
        try:
            decompose(model)
        except InputError as error:
            if not any(words in str(error) for words in ("no path satisfies", "trivially infeasible")):
                raise
            return UNKNOWN
    if sample.settings["arrays"] and not any(graph["fixed"] for graph in sample.settings["graphs"]):
        problem = decompose(*_as_arrays(sample))
    else:
        problem = cast(NetworkModel, decompose(model))
    result = solve(problem, stop=TimeLimit(_SECONDS))
    if (result.termination is Termination.UNBOUNDED) != (least == -math.inf):
        raise AssertionError(f"ended with {result.termination.name}, expected the least objective {least:g}")
    if least == -math.inf:
        return dataclasses.replace(truths, best=np.zeros(1)), single(0.0, 0.0, 0.0, True)
    worth = -np.inf if result.answer is None else -_worth(sample, result.answer, pools)
    if result.termination is Termination.NO_BRANCHING:
        # Integer flows may be a sum of fractional paths only, where vertices are visited several times.
        best = float(truths.best[0])
        claimed = worth if math.isnan(worth) else max(worth, best)
        return truths, single(claimed, min(-result.dual_bound, best), claimed, True)
    claims = claims_of(result, worth, -1.0)
    if find_fault(truths, claims) is None:
        _check_compact(sample, least, truths)
    return truths, claims


def _as_arrays(sample: Sample) -> tuple[CompactModel, list[Paths]]:
    model = model_of(sample)
    graphs = sample.settings["graphs"]
    for g in range(len(graphs)):
        model.del_component(f"g{g}")
    compact = CompactModel.from_pyomo(model)
    starts = np.cumsum([0, *(len(graph["arcs"]) for graph in graphs)])
    return compact, [
        paths_of(graph, np.arange(start, start + len(graph["arcs"])))
        for graph, start in zip(graphs, starts.tolist(), strict=False)
    ]


def _check_compact(sample: Sample, least: float, truths: Truths) -> None:
    """Raise an AssertionError if a compact model that is called exact has another optimum; it is solved at scale 1."""
    model = model_of(dataclasses.replace(sample, scale=1.0, constants=()))
    names = [model.component(f"g{g}").compact() for g in range(len(sample.settings["graphs"]))]
    try:
        f = CompactModel.from_pyomo(model).formulation
    except InputError as error:
        if "trivially infeasible" not in str(error):
            raise
        assert least == math.inf, f"the compact model is infeasible, expected the optimum {least:g}"
        return
    solved = optimize.milp(
        f.costs,
        integrality=f.integer.astype(int),
        bounds=optimize.Bounds(f.lower, f.upper),
        constraints=optimize.LinearConstraint(f.matrix, f.row_lower, f.row_upper),
        options={"mip_rel_gap": 0.0, "presolve": False, "time_limit": _TRUTH_SECONDS},
    )
    found = {0: solved.fun, 2: math.inf}.get(solved.status)
    if found is None:
        return
    near = truths.tolerance * max(1.0, abs(least) if math.isfinite(least) else 1.0, truths.size / sample.scale)
    if any(names):
        assert not found > least + near, f"the compact relaxation has the optimum {found:g} above {least:g}"
    else:
        equal = found == least or abs(found - least) <= near
        assert equal, f"the compact model has the optimum {found:g}, expected {least:g}"


def _worth(sample: Sample, answer: Any, pools: list[list[Walk]]) -> float:
    """Return the objective of an answer computed from the data alone; NaN if it is infeasible."""
    how = sample.settings
    z = float(answer["z"])
    x = [
        np.array([answer.get(f"x[{g},{a}]", 0.0) for a in range(len(graph["arcs"]))])
        for g, graph in enumerate(how["graphs"])
    ]
    flow = [np.zeros(len(each)) for each in x]
    counts = np.zeros(len(x))
    known = [set(pool) for pool in pools]
    fits = how["static"]["bounds"][0] - _NEAR <= z <= how["static"]["bounds"][1] + _NEAR
    whole = how["kind"] != "continuous"
    for path in answer.paths:
        g = int(path.graph.removeprefix("g").removeprefix("paths ")) - path.graph.startswith("paths ")
        fits = fits and path.arcs in known[g] and path.amount >= 0 and (not whole or path.amount == round(path.amount))
        np.add.at(flow[g], list(path.arcs), path.amount)
        counts[g] += path.amount
    for g, graph in enumerate(how["graphs"]):
        upper = np.array([math.inf if u is None else u for u in graph["upper"]])
        most = math.inf if graph["count"][1] is None else graph["count"][1]
        fits = fits and bool((np.abs(flow[g] - x[g]) <= _NEAR * np.maximum(1.0, flow[g])).all())
        fits = fits and bool((x[g] <= upper + _NEAR).all()) and graph["count"][0] - _NEAR <= counts[g] <= most + _NEAR
    for each in how["rows"]:
        activity = sum(value * x[g][a] for g, a, value in each["terms"]) + each["static"] * z
        gap = activity - each["side"]
        fits = fits and (gap <= 10 * _NEAR or each["sense"] == ">") and (gap >= -10 * _NEAR or each["sense"] == "<")
    if not fits or (how["static"]["integer"] and z != round(z)):
        return math.nan
    total = float(sample.arrays["costs"] @ np.concatenate(x) + sample.arrays["static"][0] * z)
    return sample.scale * total + sample.constant


def simplify(sample: Sample) -> Iterator[Sample]:
    """Yield samples without a row, a rule, a resource, a limit on the number of paths or a fixed arc."""
    how = sample.settings
    for r in range(len(how["rows"])):
        yield sample.with_settings(rows=how["rows"][:r] + how["rows"][r + 1 :])
    for g, graph in enumerate(how["graphs"]):
        for name in ("rules", "resources", "fixed"):
            for k in range(len(graph[name])):
                yield _changed(sample, g, **{name: graph[name][:k] + graph[name][k + 1 :]})
        if graph["count"] != [0, None]:
            yield _changed(sample, g, count=[0, None])
        for a, upper in enumerate(graph["upper"]):
            if upper != 0:
                yield _changed(sample, g, upper=[*graph["upper"][:a], 0, *graph["upper"][a + 1 :]])
        for k, each in enumerate(graph["resources"]):
            if each["unit"] != 1.0:
                plain = [*graph["resources"][:k], {**each, "unit": 1.0}, *graph["resources"][k + 1 :]]
                yield _changed(sample, g, resources=plain)
    for r, row in enumerate(how["rows"]):
        if row["scale"] != 1.0 or row["static"]:
            changed = {**row, "scale": 1.0, "static": 0}
            yield sample.with_settings(rows=[*how["rows"][:r], changed, *how["rows"][r + 1 :]])
    for k in np.flatnonzero(sample.arrays["costs"] != 1.0).tolist():
        costs = sample.arrays["costs"].copy()
        costs[k] = 1.0
        yield dataclasses.replace(sample, arrays={**sample.arrays, "costs": costs})


def _changed(sample: Sample, number: int, **changes: Any) -> Sample:
    graphs = copy.deepcopy(sample.settings["graphs"])
    graphs[number].update(changes)
    return sample.with_settings(graphs=graphs)

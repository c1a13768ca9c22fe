"""Forgeries: false certificates, built from the format without using the checker.

Each starts from a small correct certificate and falsifies one thing: the instance, the answer, a node, a reason or the
end.  Digests and numbers of lines are corrected, so that nothing else is wrong.  Others are written from scratch:
programs for which a rule does not hold.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tests.fuzz.handmade import (
    CERTIFICATES,
    CUSTOMERS,
    CYCLE,
    HAND,
    KNAPSACK,
    MACHINES,
    MENTIONS,
    MODEL,
    NETWORK,
    PATH,
    REQUEST,
    ROLLS,
    TIMED,
    TREE,
    TREE_OF_BLOCK,
    Record,
    certificate,
    claim,
    formulate,
    seal,
)

Change = Callable[[list[Record]], Any]
"""A function that falsifies the lines of a certificate."""

GONE = object()
"""Value that removes an entry."""


@dataclass(frozen=True)
class Forgery:
    """A false certificate.

    Attributes
    ----------
    kind
        Kind of the instance.
    what
        Description of the false part.
    lines
        Lines of the file.
    """

    kind: str
    what: str
    lines: list[str]

    def __str__(self) -> str:
        return f"{self.kind}: {self.what}"


def make_forgeries() -> list[Forgery]:
    """Return all forgeries."""
    forged = []
    for name, records in CERTIFICATES.items():
        for what, change in (*_general_changes(records), *_OWN.get(name, ())):
            changed = copy.deepcopy(records)
            change(changed)
            forged.append(_encode(name, what, seal(changed)))
        forged += [Forgery(name, what, lines) for what, lines in _malformed_lines(records)]
    forged += [_encode("from scratch", what, records) for what, records in _FROM_SCRATCH]
    return forged


def _encode(kind: str, what: str, records: Sequence[Record]) -> Forgery:
    return Forgery(kind, what, [json.dumps(record) for record in records])


def put(value: Any, *path: Any) -> Change:
    """Return a change that sets a value, appends it, or removes the entry."""

    def change(records: list[Record]) -> None:
        *way, last = path
        place: Any = records
        for key in way:
            place = place[key]
        if value is GONE:
            del place[last]
        elif isinstance(place, list) and last == len(place):
            place.append(value)
        else:
            place[last] = value

    return change


def both(*changes: Change) -> Change:
    """Return a change that applies several changes."""

    def change(records: list[Record]) -> None:
        for each in changes:
            each(records)

    return change


def instance(value: Any, *path: Any) -> Change:
    """Return a change of the instance."""
    return put(value, 1, "instance", *path)


def answer(value: Any, *path: Any) -> Change:
    """Return a change of the answer."""
    return put(value, 3, "answer", *path)


def leaf(value: Any, *path: Any, line: int = -2) -> Change:
    """Return a change of a claim, by default of the last leaf."""
    return put(value, line, "claim", *path)


def end(**values: Any) -> Change:
    """Return a change of the end."""
    return both(*(put(value, -1, "end", key) for key, value in values.items()))


# --- changes for every instance --------------------------------------------------------------------------------------


def _general_changes(records: list[Record]) -> Iterator[tuple[str, Change]]:
    """Yield descriptions and changes that falsify any certificate."""
    objective, last = records[3]["answer"]["objective"], records[-2]["claim"]
    sign = -1 if records[1]["instance"]["kind"] in _MAXIMISED else 1
    better, duals, least = objective - sign, last["duals"], last["least"]
    stated_optimum = both(answer(better, "objective"), end(objective=better, bound=better))
    trusted = [put({"trusted": better}, k, "claim") for k, record in enumerate(records) if "claim" in record]
    yield "another version", put(2, 0, "version")
    yield "a version that is the value true", put(True, 0, "version")
    if records[1]["instance"] != HAND:
        yield "a field of the instance that nothing reads", instance([[0, 1]], "conflicts")
        yield "an instance that states how often columns are used", instance([0, 0], "uses")
    yield "an instance without its kind", instance(GONE, "kind")
    yield "a better objective", stated_optimum
    yield "a better objective of trusted columns", both(stated_optimum, answer("trusted", "columns"))
    yield "a better objective with all claims trusted", both(stated_optimum, answer("trusted", "columns"), *trusted)
    yield "a trusted bound and an answer", put({"trusted": objective}, -2, "claim")
    yield "an answer without columns", answer([], "columns")
    yield "a column that is not used", answer(0, "columns", 0, 1)
    yield "a column used a negative number of times", answer(-1, "columns", 0, 1)
    yield "a column used true times", answer(True, "columns", 0, 1)
    yield "a column used a half times", answer("1/2", "columns", 0, 1)
    yield "a column used too often", answer(1000, "columns", 0, 1)
    yield "a column of no pricing problem", answer(9, "columns", 0, 0)
    yield "a column of the last pricing problem but one", answer(-1, "columns", 0, 0)
    yield "an answer with a field that nothing reads", answer(1, "more")
    yield "an objective in decimals", answer(float(objective), "objective")
    yield "a bound beyond the answer", both(leaf(objective + sign, "bound"), end(bound=objective + sign))
    yield "a reduced cost larger than the least", leaf(_more(least[0]), "least", 0)
    yield "a reduced cost of no pricing problem", leaf([*least, 0], "least")
    yield "no reduced cost", leaf([], "least")
    yield "a dual value of no row", leaf([*duals, 1], "duals")
    yield "a number of pieces that no split counts", leaf([[0, 0, 0, 0, 5]], "counts")
    yield "a denominator of 0", leaf(0, "unit")
    yield "a negative denominator", leaf(-1, "unit")
    yield "a denominator that is true", leaf(True, "unit")
    yield "costs of weight 2", leaf(2, "weight")
    yield "costs of negative weight", leaf(-1, "weight")
    if last["weight"]:
        yield "costs of weight 0, and a bound", leaf(0, "weight")
        yield "a claim without a bound", leaf(None, "bound")
    yield (
        "an infeasible leaf without a positive worth",
        leaf(
            {
                **last,
                "weight": 0,
                "unit": 1,
                "duals": [0] * len(duals),
                "least": [0] * len(least),
                "bound": None,
                "worth": 0,
            }
        ),
    )
    yield "a claim with a field that nothing reads", leaf(1, "more")
    yield "a claim with potentials of another pricing problem", leaf({"most": 0, "penalties": []}, "potentials")
    yield "a node left open and an optimum", put(None, -2, "claim")
    for children in ([], [7]):
        nodes = [{"node": 0, "split": "trusted", "children": children}, *({**records[-2], "node": 7} for _ in children)]
        yield f"a split that is trusted, of children {children}", put(nodes, slice(4, -1))
    yield "a leaf twice", lambda lines: lines.insert(-1, copy.deepcopy(lines[-2]))
    yield "a leaf of a node that nothing made", lambda lines: lines.insert(-1, {**lines[-2], "node": 99})
    yield "no leaf", put([], slice(4, -1))
    yield "a leaf left out", put(GONE, -2)
    yield "a leaf that is a fixing too", put({}, -2, "fix")
    yield "a better answer than possible", end(objective=better, bound=better)
    yield "an end that claims infeasibility", end(proves="infeasible", objective=None, bound=None)
    yield "an end that claims only a bound", end(proves="bound")
    yield "an end with another bound", end(bound=better)
    yield "an end with another objective", end(objective=objective + sign)
    yield "an end without an objective", end(objective=None)
    yield "an answer that the end does not have", put(None, 3, "answer")


_DERIVED = ("segmentations", "constituents", "alignments", "monotone chains", "matchings")
_MAXIMISED = ("chain_map", "trees", "title_path", "coreference", *_DERIVED)


def _more(number: Any) -> Any:
    return number + 1 if isinstance(number, int) else f"1{number}"


def _malformed_lines(records: list[Record]) -> Iterator[tuple[str, list[str]]]:
    """Yield descriptions and false lines that no record encodes."""
    lines = [json.dumps(record) for record in records]
    *head, last, closing = lines
    for number in ("NaN", "-Infinity", "-0.0", "1e400"):
        yield f"a denominator of {number}", [*head, last.replace('"unit": ', f'"unit": {number}, "x": ', 1), closing]
    yield "the digest of another instance", [lines[0], lines[1].replace('"sha256": "', '"sha256": "0'), *lines[2:]]
    yield "a line after the end", [*lines, lines[-2]]
    yield "two ends", [*lines, closing]
    yield "no end", [*head, last]
    yield "nothing but a head", lines[:4]
    yield "no head", lines[1:]
    yield "the answer before the formulation", [*lines[:2], lines[3], lines[2], *lines[4:]]
    yield "two formulations", [*lines[:3], lines[2], *lines[3:]]
    ends = json.loads(closing)["end"]
    for key in ("lines", "leaves"):
        yield f"one of {key} too many", [*head, last, json.dumps({"end": {**ends, key: ends[key] + 1}})]
        yield f"no number of {key}", [*head, last, json.dumps({"end": {k: v for k, v in ends.items() if k != key}})]
    yield "an empty line", [*head, "", last, closing]
    yield "a list for a line", [*head, f"[{last}]", closing]


# --- changes for one kind of instance --------------------------------------------------------------------------------

_PIECES = ("split", "pieces")
_FIX = 5
_GIVEN = ("claim", "potentials")

_LOAD = ("graphs", 0, "resources", 0)
_PAYS = ("graphs", 0, "resources", 1, "penalties")

_OWN: dict[str, list[tuple[str, Change]]] = {
    "cutting_stock": [
        ("a demand less, the answer as before", instance(2, "demands", 0)),
        ("a width of 0", instance(0, "widths", 1)),
        ("a negative width", instance(-5, "widths", 1)),
        ("a width that is true", instance(True, "widths", 1)),
        ("a width as a text", instance("5", "widths", 1)),
        ("a negative demand", instance(-2, "demands", 1)),
        ("a demand of a half", instance("1/2", "demands", 1)),
        ("a demand of no width", instance([3, 2, 1], "demands")),
        ("a width without a demand", instance([6, 5, 4], "widths")),
        ("a negative roll", instance(-10, "roll")),
        ("a huge roll", instance(10**15, "roll")),
        ("a roll as a text", instance("10", "roll")),
        ("a shorter roll than the pattern", instance(9, "roll")),
        ("more pieces of an item than are demanded", answer([[0, 4, [[0, 1]]], [0, 1, [[1, 2]]]], "columns")),
        ("a pattern wider than the roll", answer([[0, 2, [[0, 1], [1, 1]]], [0, 1, [[0, 1]]]], "columns")),
        ("an item named twice in a pattern", answer([[0, 3, [[0, 1]]], [0, 1, [[1, 1], [1, 1]]]], "columns")),
        ("a pattern with a negative number of pieces", answer([[1, -2]], "columns", 1, 2)),
        ("an item that does not exist", answer([[-1, 2]], "columns", 1, 2)),
        ("dual values that make columns pay", both(leaf([3, 1], "duals"), leaf([-1], "least"))),
        ("dual values of one row more", leaf([2, 2], "duals")),
        ("a formulation with a lower demand", put(formulate([], []), 2, "formulation")),
    ],
    "cutting_stock, tree": [
        ("children that leave a number of pieces out", put(0, 4, "split", "at_most")),
        ("the second child left out", both(put([1], 4, "children"), put(GONE, 5), put(GONE, 5))),
        ("the same child twice", put([1, 1], 4, "children")),
        ("three children", put([1, 2, 3], 4, "children")),
        ("a node that is its own child", put([0, 2], 4, "children")),
        ("a split at positions that are not there", put([0, 1, 0, 11], 4, *_PIECES)),
        ("a split at positions the other way round", put([0, 1, 10, 0], 4, *_PIECES)),
        ("a split on no item", put([0, -1, 0, 10], 4, *_PIECES)),
        ("a split on no pricing problem", put([-1, 1, 0, 10], 4, *_PIECES)),
        ("a split on a negative number of pieces", put(-1, 4, "split", "at_most")),
        ("a split with a field that nothing reads", put(1, 4, "split", "pair")),
        ("a dual value of a side that a number of pieces does not have", leaf([[0, 1, 0, 10, 1]], "counts")),
        ("a number of pieces counted twice", leaf([[0, 1, 0, 10, -1]] * 2, "counts")),
        ("an empty node that is worth more", leaf(2, "worth")),
        ("an empty node of denominator 2", leaf(2, "unit")),
        ("a fixing that closes more", put(4, _FIX, "fix", "closed")),
        ("a fixing that closes less", put(2, _FIX, "fix", "closed")),
        ("a fixing with a higher bound", put(5, _FIX, "fix", "bound")),
        ("a fixing with a larger reduced cost", put([1], _FIX, "fix", "least")),
        ("a fixing of columns", put("columns", _FIX, "fix", "what")),
        ("a fixing of denominator 0", put(0, _FIX, "fix", "unit")),
        ("a fixing of a node that is not open", put(1000, _FIX, "node")),
        ("a fixing without an answer", both(put(None, 3, "answer"), end(objective=None, proves="bound"))),
        ("a fixing with a field that nothing reads", put(1, _FIX, "fix", "left")),
    ],
    "cutting_stock, cut": [
        ("a cut that pays", leaf(1, "cuts", 0, "dual")),
        ("a cut that is divided by 1", leaf([1, [0, 1]], "cuts", 0, "cut")),
        ("a cut that is divided by 0", leaf([0, [0, 1]], "cuts", 0, "cut")),
        ("a cut that is divided by -2", leaf([-2, [0, 1]], "cuts", 0, "cut")),
        ("a cut over a row that is not there", leaf([2, [0, 2]], "cuts", 0, "cut")),
        ("a cut over the last row but none", leaf([2, [0, -1]], "cuts", 0, "cut")),
        ("a cut over a row that is true", leaf([2, [0, True]], "cuts", 0, "cut")),
        ("a cut of a half", leaf(["5/2", [0, 1]], "cuts", 0, "cut")),
        ("a cut with a field that nothing reads", leaf(1, "cuts", 0, "rhs")),
        ("a cut that costs, its side left out", leaf(-2, "cuts", 0, "dual")),
    ],
    "assignment": [
        ("a task on two machines", answer([[1, 1]], "columns", 1, 2)),
        ("two sets of a machine", answer(0, "columns", 1, 0)),
        ("a task that is on no machine", answer([], "columns", 1, 2)),
        ("more tasks than a machine holds", answer([[0, 1, [[0, 1], [1, 1]]]], "columns")),
        ("a cost that is a half", instance("1/2", "costs", 0, 0)),
        ("a cost that is true", instance(True, "costs", 0, 0)),
        ("a cheaper task", both(instance(1, "costs", 0, 1), answer(4, "objective"), end(objective=4, bound=4))),
        ("a task that takes no room", instance(0, "sizes", 0, 1)),
        ("a task of negative size", instance(-1, "sizes", 0, 1)),
        ("a machine with a size less", instance([1], "sizes", 1)),
        ("a machine with a cost less", instance([3], "costs", 1)),
        ("a machine without room", instance(0, "capacities", 1)),
        ("a machine without a capacity", instance([1], "capacities")),
        ("a negative capacity", instance(-1, "capacities", 0)),
        ("a set of copies", answer([[1, 2]], "columns", 0, 2)),
        ("dual values that make machines pay", leaf([4, 2], "duals")),
        ("no machines", both(instance([], "costs"), instance([], "sizes"), instance([], "capacities"))),
    ],
    "colouring": [
        ("neighbours of one colour", answer([[0, 1, [0, 1]], [0, 1, [2, 4]], [0, 1, [3]]], "columns")),
        ("a vertex without a colour", answer([0], "columns", 0, 2)),
        ("a vertex with two colours", answer([4, 1], "columns", 2, 2)),
        ("a vertex twice in a set", answer([0, 2, 0], "columns", 0, 2)),
        ("a vertex that is not there", answer([5], "columns", 2, 2)),
        ("the last vertex by its place from behind", answer([-1], "columns", 2, 2)),
        ("an edge less", both(put(GONE, 1, "instance", "edges", 4), end(bound="5/2", proves="bound"))),
        ("an edge from a vertex to itself", instance([4, 4], "edges", 4)),
        ("an edge to no vertex", instance([0, 5], "edges", 4)),
        ("an edge of three vertices", instance([0, 2, 4], "edges", 4)),
        ("an edge that is true", instance([True, 0], "edges", 0)),
        ("a negative number of vertices", instance(-5, "vertices")),
        ("more vertices than there is memory", instance(10**15, "vertices")),
        ("vertices as a text", instance("5", "vertices")),
        ("true vertices", instance(True, "vertices")),
        ("a bound that is rounded too far", both(leaf(1, "unit"), leaf([-1], "least"), leaf(5, "bound"))),
    ],
    "colouring, tree": [
        ("a pair of one vertex", put([0, 0], 4, "split", "pair")),
        ("a pair with no vertex", put([0, 5], 4, "split", "pair")),
        ("a pair from behind", put([0, -1], 4, "split", "pair")),
        ("a pair of three", put([0, 2, 4], 4, "split", "pair")),
        ("one child of a pair", both(put([1], 4, "children"), put(GONE, -2))),
        ("children of a pair in a circle", put([1, 0], 4, "children")),
        ("an arc of no tree", put({"arc": [0, 2]}, 4, "split")),
        ("points of no block", put({"within": [0, [[0, 1, None]]], "at_most": 0}, 4, "split")),
        ("pieces of no item", put({"pieces": [0, 0, 0, 0], "at_most": 0}, 4, "split")),
        ("a split that is nothing", put({}, 4, "split")),
    ],
    "vehicle_routing": [
        ("a customer who is not visited", answer([0, 2], "columns", 0, 2)),
        ("a customer visited twice", answer([0, 3, 5, 2], "columns", 0, 2)),
        ("a route over the depot", answer([0, 2, 1, 4], "columns", 0, 2)),
        ("a customer who is not there", answer([0, 6], "columns", 0, 2)),
        ("an empty route", answer([0, 1, []], "columns", 1)),
        ("a route that is too full", instance(1, "capacity")),
        ("a demand more", instance(2, "demands", 1)),
        ("a negative demand", instance(-1, "demands", 1)),
        ("a demand of the depot", instance(1, "demands", 0)),
        ("a negative distance", instance(-3, "distances", 0, 1)),
        ("a distance that is not there", instance(None, "distances", 2, 1)),
        ("a distance in decimals", instance(3.5, "distances", 0, 1)),
        ("a row of distances less", put(GONE, 1, "instance", "distances", 2)),
        ("a shorter way", instance(2, "distances", 0, 1)),
        ("negative ticks", instance(-1, "ticks")),
        ("a negative capacity", instance(-2, "capacity")),
        ("a negative number of vehicles", instance(-1, "vehicles")),
        ("a vehicle and a half", instance("3/2", "vehicles")),
        ("service without windows", instance([0, 1, 1], "service")),
        ("windows without service", instance(TIMED["windows"], "windows")),
        ("no customers", both(instance([[0]], "distances"), instance([0], "demands"), answer([], "columns"))),
    ],
    "networks": [
        ("a vertex that is not visited", answer([0, 4], "columns", 0, 2)),
        ("a path that jumps", answer([0, 5], "columns", 0, 2)),
        ("a path that does not reach the sink", answer([0, 2], "columns", 0, 2)),
        ("a vertex visited twice", answer([0, 2, 3, 4], "columns", 0, 2)),
        ("a path of an arc that is not there", answer([0, 6], "columns", 0, 2)),
        ("a path that is too full", instance(1, "graphs", 0, "resources", 0, "upper", 2)),
        ("a path that consumes too much", instance(2, "graphs", 0, "resources", 0, "consumption", 2)),
        ("a path that starts too full", instance(3, "graphs", 0, "resources", 0, "start")),
        ("a cheaper arc", instance(2, "graphs", 0, "arcs", 0, 2)),
        ("an arc into the source", instance([1, 0, 3], "graphs", 0, "arcs", 4)),
        ("an arc out of the sink", instance([3, 2, 3], "graphs", 0, "arcs", 4)),
        ("an arc to a vertex from behind", instance([1, -1, 3], "graphs", 0, "arcs", 4)),
        ("a sink that is the source", instance(0, "graphs", 0, "sink")),
        ("a row of the source", instance(0, "graphs", 0, "rows", 0)),
        ("a row from behind", instance(-1, "graphs", 0, "rows", 2)),
        ("a limit less", put(GONE, 1, "instance", "graphs", 0, "resources", 0, "upper", 3)),
        ("a consumption less", put(GONE, 1, "instance", "graphs", 0, "resources", 0, "consumption", 5)),
        ("a consumption in decimals", instance(0.5, "graphs", 0, "resources", 0, "consumption", 4)),
        ("paths without limit that may cover no row", instance(None, "graphs", 0, "rows", 1)),
        ("no rows", both(instance(0, "rows"), instance([None] * 4, "graphs", 0, "rows"), answer([], "columns"))),
        ("more paths than allowed", instance([0, 0], "graphs", 0, "uses")),
        (
            "a start above the limit of the source",
            both(instance(1, *_LOAD, "start"), instance([0, 9, 9, 9], *_LOAD, "upper")),
        ),
    ],
    "networks, request": [
        ("a delivery before its pickup", answer([1, 3, 4], "columns", 0, 2)),
        ("a pickup without its delivery", answer([0, 4], "columns", 0, 2)),
        ("a delivery without its pickup", answer([1, 5], "columns", 0, 2)),
        ("a request the other way round", instance([[2, 1]], "graphs", 0, "requests")),
        ("a request of the sink", instance([[1, 3]], "graphs", 0, "requests")),
        ("a request of the source", instance([[0, 2]], "graphs", 0, "requests")),
        ("a request from behind", instance([[1, -2]], "graphs", 0, "requests")),
        ("a request of one vertex", instance([[1, 1]], "graphs", 0, "requests")),
        ("a request of three vertices", instance([[1, 2, 2]], "graphs", 0, "requests")),
        ("an earlier due time", instance([1, 1], *_PAYS, 3)),
        ("a higher rate", instance([2, 2], *_PAYS, 3)),
        ("a penalty on the way", instance([0, 1], *_PAYS, 1)),
        ("a negative rate", instance([2, -1], *_PAYS, 1)),
        ("a rate without a limit", instance(None, *_PAYS[:-1], "upper", 3)),
        ("a penalty less", put(GONE, 1, "instance", *_PAYS, 3)),
    ],
    "networks, set": [
        ("both vertices of a set", answer([[0, 1, [0, 2, 5]]], "columns")),
        ("a set with the vertex before it", instance([[1, 0]], "graphs", 0, "sets")),
        ("a set with a vertex from behind", instance([[1, -2]], "graphs", 0, "sets")),
        ("a set with a vertex that is not there", instance([[1, 4]], "graphs", 0, "sets")),
        ("a set with a vertex that is true", instance([[True, 2]], "graphs", 0, "sets")),
    ],
    "vehicle_routing, list": [
        ("a route that is late", instance([0, 8], "windows", 2)),
        ("a route that returns late", instance([0, 13], "windows", 0)),
        ("a window less", put(GONE, 1, "instance", "windows", 2)),
        ("a window of three", instance([0, 20, 30], "windows", 2)),
        ("a negative service", instance(-1, "service", 1)),
        ("a longer service", instance(20, "service", 1)),
        ("one more column listed", put(2, 4, "fix", "left")),
        ("one column less listed", put(0, 4, "fix", "left")),
        ("a list at a better bound", put(12, 4, "fix", "bound")),
        ("a list with a larger reduced cost", put([2], 4, "fix", "least")),
        (
            "positions of no packing",
            both(put("positions", 4, "fix", "what"), put(GONE, 4, "fix", "left"), put(1, 4, "fix", "closed")),
        ),
        ("a list twice", lambda lines: lines.insert(5, copy.deepcopy(lines[4]))),
        ("a split before the list", lambda lines: lines.insert(4, lines.pop(5))),
        ("a cut that names a row twice", leaf([2, [0, 0]], "cuts", 0, "cut")),
        ("a cut over a list that pays", leaf(2, "cuts", 0, "dual")),
        ("a pair of one row", put([1, 1], 5, "split", "pair")),
    ],
    "chain_map": [
        ("a label that is not there", answer([0, 2], "columns", 0, 2)),
        ("a node without a label", answer([0, -1], "columns", 0, 2)),
        ("a label less", answer([0], "columns", 0, 2)),
        ("a label that is true", answer([0, True], "columns", 0, 2)),
        ("another labelling", answer([1, 0], "columns", 0, 2)),
        ("a forbidden label", instance([1, None], "scores", 1)),
        ("a forbidden pair", instance([0, None], "tables", 0, 0)),
        ("a parent before its child", instance([-1, 0], "parents")),
        ("nodes that are each other's parents", instance([1, 0], "parents")),
        ("a parent that is not there", instance([2, -1], "parents")),
        ("a table that is not there", instance([1, 0], "of_table")),
        ("a table from behind", instance([-1, 0], "of_table")),
        ("a table of too few labels", instance([[0, 1]], "tables", 0)),
        ("a score that is true", instance(True, "scores", 0, 0)),
        ("a score as a text", instance("1", "scores", 0, 0)),
        ("scores over 0", instance(0, "denominator")),
        ("scores over a negative denominator", instance(-2, "denominator")),
        ("a larger score", instance(3, "scores", 1, 1)),
        ("a node without a table", instance([0], "of_table")),
        ("a second tree", instance([-1, -1], "parents")),
        (
            "a labelling worse than the best",
            both(answer([0, 0], "columns", 0, 2), answer("1/2", "objective"), end(objective="1/2", bound="1/2")),
        ),
    ],
    "trees": [
        ("a cycle", answer([2, 1], "columns", 0, 2)),
        ("a word under itself", answer([0, 2], "columns", 0, 2)),
        ("a head that is not there", answer([0, 3], "columns", 0, 2)),
        ("a head from behind", answer([0, -2], "columns", 0, 2)),
        ("a word without a head", answer([0], "columns", 0, 2)),
        ("two words under the root that has one", both(instance(True, "single_root"), answer([0, 0], "columns", 0, 2))),
        ("an arc that is not there", instance(None, "arcs", 1, 2)),
        (
            "a factor that is always there",
            both(instance([[[[0, 0]], 5]], "factors"), leaf([[5]], "potentials", "factors")),
        ),
        ("a factor over an arc into the root", instance([[[[1, 0], [1, 2]], 1]], "factors")),
        ("a factor over an arc from a word to itself", instance([[[[1, 1], [1, 2]], 1]], "factors")),
        ("a factor over a word that is not there", instance([[[[0, 1], [1, 3]], 1]], "factors")),
        ("a factor over a head that is not there", instance([[[[0, 1], [3, 2]], 1]], "factors")),
        ("a factor from behind", instance([[[[0, 1], [-2, 2]], 1]], "factors")),
        ("a factor of an arc twice", instance([[[[0, 1], [0, 1]], 1]], "factors")),
        ("a factor of no arc", both(instance([[[], 1]], "factors"), leaf([[]], "potentials", "factors"))),
        ("shares that do not add up", leaf([[0, 0]], "potentials", "factors")),
        ("a negative share", leaf([[2, -1]], "potentials", "factors")),
        ("a share more than arcs", leaf([[1, 0, 0]], "potentials", "factors")),
        ("a factor without shares", leaf([], "potentials", "factors")),
        ("a factor that costs", both(instance(-1, "factors", 0, 1), leaf([[-2]], "potentials", "factors"))),
        ("a factor that costs, and earns", both(instance(-1, "factors", 0, 1), leaf([[1]], "potentials", "factors"))),
        ("one root as a number", instance(0, "single_root")),
        ("no reason", leaf(GONE, "potentials")),
        ("a reason that nothing reads", leaf(1, "potentials", "more")),
        ("an arc without a score", instance([None, 2], "arcs", 0)),
    ],
    "trees, tree": [
        ("crossing arcs of a projective tree", instance(True, "projective")),
        ("a chain that is not there", instance(None, "grandparents", 0, 1, 2)),
        ("a larger chain", instance(4, "grandparents", 0, 1, 2)),
        ("chains of fewer words", instance([[[0, 0, 0]] * 3], "grandparents")),
        ("a potential that is not there", leaf(None, "potentials", "chains", 1, 2)),
        ("potentials of fewer words", leaf([2], "potentials", "words")),
        ("a word that pays too little", leaf(1, "potentials", "words", 0)),
        ("a set that pays twice", leaf([[[1, 2], 4]], "potentials", "sets")),
        ("a set with the root", leaf([[[0, 1, 2], -4]], "potentials", "sets")),
        ("a set of no words", leaf([[[], -4]], "potentials", "sets")),
        ("a set of words that are not there", leaf([[[1, 2, 3], -4]], "potentials", "sets")),
        ("a root that has several words, and pays", leaf(-2, "potentials", "root")),
        ("no potentials of words", leaf(GONE, "potentials", "words")),
        ("an arc into the root", put([1, 0], 4, "split", "arc")),
        ("an arc to no word", put([0, 3], 4, "split", "arc")),
        ("an arc from no word", put([3, 1], 4, "split", "arc")),
        ("an arc from behind", put([-1, 1], 4, "split", "arc")),
        ("one child of an arc", both(put([1], 4, "children"), put(GONE, -2))),
        ("a part of a factor beyond its score", leaf([[-2]], "potentials", "factors")),
        ("pieces of a tree", put({"pieces": [0, 0, 0, 0], "at_most": 0}, 4, "split")),
    ],
    "title_path": [
        (
            "two vertices of a class",
            both(answer([0, 2], "columns", 0, 2), answer(11, "objective"), end(objective=11, bound=11)),
        ),
        ("a longer path", answer([1, 2, 0], "columns", 0, 2)),
        ("a shorter path", answer([1], "columns", 0, 2)),
        ("a vertex that is not there", answer([1, 3], "columns", 0, 2)),
        ("a vertex from behind", answer([1, -1], "columns", 0, 2)),
        ("an arc that is not there", instance(None, "weights", 1, 2)),
        ("a class less than 0", instance([0, -1, 0], "classes")),
        ("a class that is true", instance([0, True, 0], "classes")),
        ("a path of no length", instance(0, "length")),
        ("a longer path than the answer", instance(3, "length")),
        ("a table of fewer vertices", put(GONE, 1, "instance", "weights", 2)),
        ("a first arc less", instance([1, 0], "first")),
        (
            "less than the heaviest",
            both(leaf(3, "potentials", "most"), leaf([-3], "least"), leaf(3, "bound"), end(bound=3)),
        ),
        ("a negative penalty", leaf([-9, 0], "potentials", "penalties")),
        ("a penalty less", leaf([0], "potentials", "penalties")),
        ("a penalty more", leaf([0, 0, 0], "potentials", "penalties")),
        ("a class remembered that is not there", leaf([0, 1, 2], "potentials", "remembered")),
        ("a class remembered that is less than 0", leaf([0, 1, -1], "potentials", "remembered")),
        ("a reason that nothing reads", leaf(1, "potentials", "more")),
        ("scores over 0", instance(0, "denominator")),
        ("a heavier way", instance(4, "weights", 1, 2)),
    ],
    "segmentations": [
        ("a derivation that ends early", answer([1, 1, 0, 0], "columns", 0, 2)),
        ("a derivation of no edges", answer([], "columns", 0, 2)),
        ("an edge after the last", answer([1, 1, 0, 0, 0, 0], "columns", 0, 2)),
        ("an edge that is not there", answer([1, 1, 0, 0, 1], "columns", 0, 2)),
        ("an edge from behind", answer([-1, 1, 0, 0, 0], "columns", 0, 2)),
        ("an edge that is true", answer([True, 1, 0, 0, 0], "columns", 0, 2)),
        ("another derivation", answer([1, 0, 0], "columns", 0, 2)),
        ("a forbidden part", instance(None, "transitions", 0, 1)),
        ("a potential below an edge", leaf(-1, "potentials", "vertices", 5)),
        (
            "a potential of the goal below an edge",
            both(
                leaf(3, "potentials", "vertices", 8),
                leaf([-3], "least"),
                leaf(3, "bound"),
                put(None, 3, "answer"),
                end(objective=None, bound=3, proves="bound"),
            ),
        ),
        ("a vertex without a potential", leaf(None, "potentials", "vertices", 7)),
        ("a first vertex without a potential", leaf(None, "potentials", "vertices", 0)),
        (
            "a goal without a potential",
            both(
                instance([[[None] * 2] * 2] * 2, "segments"),
                leaf([0, 0, *[None] * 7], "potentials", "vertices"),
                put(None, 3, "answer"),
                end(objective=None, proves="bound"),
            ),
        ),
        ("a potential less", leaf(GONE, "potentials", "vertices", 0)),
        ("a potential more", leaf([0, 0, 0, 1, 0, 1, 0, 2, 4, 4], "potentials", "vertices")),
        ("a potential of a half", leaf("1/2", "potentials", "vertices", 0)),
        ("a potential that is true", leaf(True, "potentials", "vertices", 0)),
        ("potentials from behind", leaf([4, 4, 2, 0, 1, 0, 1, 0, 0], "potentials", "vertices")),
        ("no potentials", leaf(GONE, "potentials")),
        ("a reason that nothing reads", leaf(1, "potentials", "more")),
        ("a better segment", instance(5, "segments", 0, 1, 1)),
        ("a segment that ends within the chain and scores more", instance(5, "segments", 1, 0, 0)),
        ("a label less", instance([1], "segments", 0, 0)),
        ("a length less", instance([[1, 0]], "segments", 0)),
        ("transitions of too few labels", instance([[0, -1]], "transitions")),
        ("a score that is true", instance(True, "segments", 0, 0, 0)),
        ("a score as a text", instance("1", "segments", 0, 0, 0)),
        ("no tokens", instance([], "segments")),
        ("scores over 0", instance(0, "denominator")),
        ("scores over a negative denominator", instance(-1, "denominator")),
    ],
    "constituents": [
        ("a word without its label", answer([1, 0, 0], "columns", 0, 2)),
        ("a larger span", instance(7, "spans", 0, 1, 1)),
        ("a forbidden span", instance(None, "spans", 0, 1, 1)),
        ("a span less", instance([[1, 0]], "spans", 0)),
        ("a division that costs", leaf(3, "potentials", "vertices", 2)),
        ("a word without a potential", leaf(None, "potentials", "vertices", 1)),
    ],
    "alignments": [
        ("a path that ends early", answer([0], "columns", 0, 2)),
        ("a path from outside of the lattice", answer([1, 2, 0], "columns", 0, 2)),
        ("a larger step", instance(8, "steps", 1, 0, 1)),
        ("a forbidden step", instance(None, "steps", 1, 1, 0)),
        ("a cell of two steps", instance([4, -1], "steps", 1, 1)),
        ("a cell below its step", leaf(1, "potentials", "vertices", 2)),
    ],
    "monotone chains": [
        ("a chain that ends early", answer([0, 0, 1, 0], "columns", 0, 2)),
        ("a larger state", instance(9, "states", 0, 1)),
        ("a larger move", instance(9, "moves", 2, 2)),
        ("a forbidden move", instance(None, "moves", 2, 1)),
        ("moves of a state less", put(GONE, 1, "instance", "moves", 2)),
        ("a frame less", put(GONE, 1, "instance", "states", 1)),
        ("a state below its frame", leaf(1, "potentials", "vertices", 2)),
    ],
    "matchings": [
        ("a row without a column", answer([1], "columns", 0, 2)),
        ("a row more", answer([1, 0, 2], "columns", 0, 2)),
        ("a column of two rows", answer([0, 0], "columns", 0, 2)),
        ("a column that is not there", answer([1, 3], "columns", 0, 2)),
        ("a column from behind", answer([1, -3], "columns", 0, 2)),
        ("a column that is true", answer([True, 0], "columns", 0, 2)),
        ("another matching", answer([0, 2], "columns", 0, 2)),
        ("a forbidden pair", instance(None, "pairs", 0, 1)),
        ("a better pair", instance(9, "pairs", 1, 1)),
        ("a row of fewer columns", instance([4, 0], "pairs", 1)),
        ("a score that is true", instance(True, "pairs", 0, 0)),
        ("no rows", instance([], "pairs")),
        ("a pair above its potentials", both(leaf(1, "potentials", "rows", 0), leaf(4, "potentials", "columns", 0))),
        ("a negative potential of a column", leaf([-1, 0, 0], "potentials", "columns")),
        (
            "a negative potential of a column, paid by rows",
            both(leaf(2, "potentials", "rows", 1), leaf(-1, "potentials", "columns", 2)),
        ),
        ("a potential of a row less", leaf([2], "potentials", "rows")),
        ("a potential of a column more", leaf([3, 0, 0, 0], "potentials", "columns")),
        ("a potential that is true", leaf(True, "potentials", "rows", 1)),
        ("a potential that is not there", leaf(None, "potentials", "columns", 1)),
        ("no potentials of columns", leaf(GONE, "potentials", "columns")),
        ("no potentials", leaf(GONE, "potentials")),
        ("a reason that nothing reads", leaf(1, "potentials", "more")),
        ("scores over 0", instance(0, "denominator")),
    ],
    "coreference": [
        ("an item in no cluster", answer([[0, 1]], "columns", 0, 2)),
        ("an item in two clusters", answer([[0, 1], [1, 2]], "columns", 0, 2)),
        ("an item twice in a cluster", answer([[0, 1, 1], [2]], "columns", 0, 2)),
        ("an item that is not there", answer([[0, 1], [2, 3]], "columns", 0, 2)),
        ("an item from behind", answer([[0, 1], [-1]], "columns", 0, 2)),
        ("a forbidden pair", both(instance(None, "scores", 0, 1), instance(None, "scores", 1, 0))),
        ("a score that depends on the order", instance(9, "scores", 1, 0)),
        ("a score more", both(instance(4, "scores", 0, 1), instance(4, "scores", 1, 0))),
        ("a row of scores less", put(GONE, 1, "instance", "scores", 2)),
        ("a negative triangle", both(leaf([[0, 2, 1, -2]], "potentials", "triangles"))),
        ("a triangle of two items", leaf([[0, 1, 1, 2]], "potentials", "triangles")),
        ("a triangle with an item that is not there", leaf([[0, 2, 3, 2]], "potentials", "triangles")),
        ("a triangle from behind", leaf([[0, -1, 1, 2]], "potentials", "triangles")),
        ("a triangle with an item that is true", leaf([[0, 2, True, 2]], "potentials", "triangles")),
        ("a triangle left out", leaf([], "potentials", "triangles")),
        ("a triangle the other way round", leaf([[0, 1, 2, 2]], "potentials", "triangles")),
        ("a larger denominator", leaf(2, "potentials", "over")),
        ("triangles over 0", leaf(0, "potentials", "over")),
        ("triangles over a negative denominator", leaf(-1, "potentials", "over")),
        ("no reason", leaf(GONE, "potentials")),
        ("a reason that nothing reads", leaf(1, "potentials", "more")),
    ],
    "coreference, tree": [
        ("a pair of one item", put([1, 1], 4, "split", "pair")),
        ("a pair with an item that is not there", put([1, 3], 4, "split", "pair")),
        ("a pair from behind", put([1, -1], 4, "split", "pair")),
        ("one child of a pair", both(put([2], 4, "children"), put(GONE, 5))),
        ("an arc of no tree", put({"arc": [0, 1]}, 4, "split")),
        ("a claim of the other child", both(put(2, 5, "node"), put(1, 6, "node"))),
    ],
    "compact": [
        ("a value beyond its bounds", answer([[0, 2, [1]], [1, 1, [6]]], "columns")),
        ("a fractional value", answer([[0, 2, ["5/2"]], [1, 1, [0]]], "columns")),
        ("a value that is true", answer([True], "columns", 1, 2)),
        ("a value more", answer([1, 1], "columns", 1, 2)),
        ("a block used once", answer(1, "columns", 0, 1)),
        (
            "a row of a block that does not hold",
            both(answer([[0, 2, [3]]], "columns"), answer([1, 1, [0]], "columns", 1)),
        ),
        ("a row that is not there", instance([0, 3], "linking")),
        ("a row that links twice", instance([0, 0], "linking")),
        ("a row from behind", instance([0, -1], "linking")),
        ("a row over two blocks that does not link", instance([1], "linking")),
        ("a variable of two blocks", instance([[[0], [0]]], "blocks")),
        ("a variable that is not there", instance([[[0], [3]]], "blocks")),
        ("a block with a larger cost than its equals", instance(1, "variables", 1, 0)),
        (
            "a block with wider bounds than its equals",
            both(instance(2, "variables", 0, 2), *(instance(6, "rows", row, 1) for row in (1, 2))),
        ),
        ("a continuous variable in one of two equal blocks", instance(False, "variables", 1, 3)),
        ("a block with a wider row than its equals", instance([None, 6, [[1, 2]]], "rows", 2)),
        ("a block with a larger linking entry than its equals", instance([[0, 1], [1, 2], [2, 1]], "rows", 0, 2)),
        ("a variable twice in a row", instance([[0, 1], [0, 1], [1, 1], [2, 1]], "rows", 0, 2)),
        ("an entry of 0", instance([[0, 0], [1, 0], [2, 1]], "rows", 0, 2)),
        ("the type of a variable as a number", instance(1, "variables", 2, 3)),
        ("a variable of five numbers", instance([3, 0, 5, True, 1], "variables", 2)),
        ("a cost in decimals", instance(2.5, "variables", 2, 0)),
        ("another sense", instance("maximize", "sense")),
        ("an unknown sense", instance("minimise", "sense")),
        ("another offset", instance(-1, "offset")),
        ("a dual value of the other side", leaf([-3], "duals")),
        (
            "a rounded bound of a continuous variable",
            both(instance(False, "variables", 2, 3), answer(["1/2"], "columns", 1, 2)),
        ),
        ("a demand less", instance(4, "rows", 0, 0)),
        (
            "more values than there is memory",
            both(
                *(instance(10**15, "variables", v, 2) for v in (0, 1)),
                *(instance([[v, 1]], "rows", v + 1, 2) for v in (0, 1)),
                *(instance(10**15, "rows", v + 1, 1) for v in (0, 1)),
            ),
        ),
        ("no blocks of some", instance([[[0], [1]], []], "blocks")),
    ],
    "compact, tree": [
        ("a split on no block", put(9, 4, "split", "within", 0)),
        ("a split on the last block but one", put(-1, 4, "split", "within", 0)),
        ("a split on no variable", put([], 4, "split", "within", 1)),
        ("a split on a variable that is not there", put([[1, 1, None]], 4, "split", "within", 1)),
        ("a split on a variable from behind", put([[-1, 1, None]], 4, "split", "within", 1)),
        ("a split on a variable twice", put([[0, 1, None], [0, None, 2]], 4, "split", "within", 1)),
        ("a split at a half", put([[0, "1/2", None]], 4, "split", "within", 1)),
        ("a split on a negative number of points", put(-1, 4, "split", "at_most")),
        ("the child of more points left out", both(put([1], 4, "children"), put(GONE, -2))),
        ("a split with three children", put([1, 2, 3], 4, "children")),
        ("points within other bounds than were split on", put([[0, [[0, 2, None]], 0]], 5, "claim", "counts")),
        (
            "a dual value of a side that a number of points does not have",
            put([[0, [[0, 1, None]], 1]], 5, "claim", "counts"),
        ),
        ("a dual value that costs, left out of the rest", put([[0, [[0, 1, None]], -1]], 5, "claim", "counts")),
        ("a pair of blocks", put({"pair": [0, 1]}, 4, "split")),
        ("claims of each other's nodes", put(1, -2, "node")),
    ],
    "compact, continuous": [
        ("no tree", leaf(GONE, "potentials")),
        ("a tree more", leaf([TREE_OF_BLOCK, None, None], "potentials")),
        ("a leaf less", leaf(GONE, "potentials", 0, 2)),
        ("a leaf more", leaf([*TREE_OF_BLOCK, TREE_OF_BLOCK[1]], "potentials", 0)),
        ("a split of a continuous variable", leaf([1, 0], "potentials", 0, 0, "split")),
        ("a split of a variable from behind", leaf([-2, 0], "potentials", 0, 0, "split")),
        ("a split at a half", leaf([0, "1/2"], "potentials", 0, 0, "split")),
        ("a split with a field that nothing reads", leaf(1, "potentials", 0, 0, "more")),
        ("a leaf with a field that nothing reads", leaf(1, "potentials", 0, 1, "more")),
        ("a leaf over 0", leaf(0, "potentials", 0, 1, "over")),
        ("a leaf over a negative denominator", leaf(-1, "potentials", 0, 1, "over")),
        ("a smaller denominator", leaf(1, "potentials", 0, 2, "over")),
        ("a dual value of the other side of a row of the block", leaf([[0, -3]], "potentials", 0, 1, "duals")),
        ("a dual value of no row of the block", leaf([[1, 3]], "potentials", 0, 1, "duals")),
        ("a dual value of a row from behind", leaf([[-1, 3]], "potentials", 0, 1, "duals")),
        ("a smaller dual value of a leaf", leaf([[0, 2]], "potentials", 0, 2, "duals")),
        ("a batch of more units", instance([None, 0, [[2, -3], [3, 1]]], "rows", 2)),
        (
            "a continuous number of batches",
            both(instance(False, "variables", 0, 3), instance(False, "variables", 2, 3)),
        ),
    ],
    "by hand": [
        ("no formulation", put(None, 2, "formulation")),
        ("a formulation with a field that nothing reads", put(1, 2, "formulation", "more")),
        ("a pricing problem of no kind", put("knapsacks", 2, "formulation", "pricing", 0, "kind")),
        (
            "a pricing problem with a field that nothing reads",
            put([[0, 0]], 2, "formulation", "pricing", 0, "conflicts"),
        ),
        ("a pricing problem used less than never", put([-1, 1], 2, "formulation", "pricing", 0, "uses")),
        ("a pricing problem without a least use", put([None, 1], 2, "formulation", "pricing", 0, "uses")),
        ("a pricing problem used half a time", put(["1/2", 1], 2, "formulation", "pricing", 0, "uses")),
        ("a step that costs are no multiples of", put(2, 2, "formulation", "step")),
        ("a step of 0", put(0, 2, "formulation", "step")),
        ("a negative step", put(-1, 2, "formulation", "step")),
        ("a row of three sides", put([0, 1, 2], 2, "formulation", "rows", 0)),
        ("a row that is not there", put([1], 2, "formulation", "pricing", 0, "rows")),
        ("a row from behind", put([-1], 2, "formulation", "pricing", 0, "rows")),
        ("the other sense", put("maximize", 2, "formulation", "sense")),
        ("an item without a cost", put([-1, -1], 2, "formulation", "pricing", 0, "costs")),
        ("a negative number of copies", put([-1], 2, "formulation", "pricing", 0, "copies")),
        ("a row without a lower side", both(put([None, 1], 2, "formulation", "rows", 0), leaf([1], "duals"))),
    ],
}
"""Descriptions and changes by certificate."""


# --- from scratch ----------------------------------------------------------------------------------------------------


def _many(problem: Record, **more: Any) -> Record:
    """Return a pricing problem from an instance, used once or twice."""
    return {**{k: v for k, v in problem.items() if k != "kind"}, **more, "uses": [1, 2]}


_TAKEN = {
    "kind": "block",
    "uses": [0, 1],
    "cost": 0,
    "variables": [[0, 0, 9, True]],
    "rows": [],
    "entries": [[[0, -1]]],
}
"""A block with a negative entry in the row of a knapsack."""

_TRUSTED = {"kind": "trusted", "uses": [0, None]}
_NO_CHAINS = {"factors": [[1, 0]]}


def _row_of(problem: Record) -> Record:
    """Return a program with a row of exactly one piece that ``problem`` may reduce, so two pieces are possible."""
    return formulate([{**KNAPSACK, "uses": [0, 9], "cost": 1, "costs": []}, problem], [[1, 1]], step=1)


def _split_pieces(children: list[int]) -> Record:
    return {"node": 0, "split": {"pieces": [0, 0, 0, 1], "at_most": 1}, "children": children}


_LISTED_UPSIDE_DOWN: list[Record] = [
    {
        "node": 0,
        "fix": {
            "what": "columns",
            "unit": 1,
            "duals": [-7, -7],
            "counts": [],
            "least": [-1],
            "bound": 16,
            "left": 3,
        },
    },
    claim([-6, -6], [0], 12),
]
"""The list of columns of two rows, as if the costs of a maximum were minimised."""

_FROM_SCRATCH: list[tuple[str, list[Record]]] = [
    (
        "rolls claimed to be infeasible",
        certificate(ROLLS, None, None, [claim([1, 1], [0], None, worth=5)], proves="infeasible"),
    ),
    (
        "all rolls trusted",
        certificate(ROLLS, 2, "trusted", [{"node": 0, "claim": {"trusted": 2}}]),
    ),
    (
        "rolls trusted to be infeasible",
        certificate(ROLLS, None, None, [{"node": 0, "claim": {"trusted": None}}], proves="infeasible"),
    ),
    (
        "machines trusted to be infeasible",
        certificate(MACHINES, None, None, [{"node": 0, "claim": {"trusted": None}}], proves="infeasible"),
    ),
    (
        "a cycle of two colours",
        certificate(CYCLE, 2, [[0, 1, [0, 2]], [0, 1, [1, 3, 4]]], [claim([1] * 5, [0], "5/2", unit=2)]),
    ),
    (
        "a cycle bounded by its vertices",
        certificate(CYCLE, 5, [[0, 1, [v]] for v in range(5)], [claim([1] * 5, [0], 5)]),
    ),
    (
        "no answer in time, of times that are not there",
        certificate(
            {**CUSTOMERS, "service": [0, 100, 100], "demands": [0, 0, 0], "vehicles": 1},
            None,
            None,
            [claim([1, 1], [0], None, worth=2)],
            proves="infeasible",
        ),
    ),
    (
        "customers without vehicles that are not counted",
        certificate({**CUSTOMERS, "vehicles": True}, 12, [[0, 1, [0, 3, 4]]], [claim([6, 6], [0], 12)]),
    ),
    (
        "a path of no reason",
        certificate(PATH, 4, [[0, 1, [1, 2]]], [claim([], [-4], 4)]),
    ),
    (
        "clusters with a reason of paths",
        certificate(
            MENTIONS,
            3,
            [[0, 1, [[0, 1], [2]]]],
            [claim([], [-3], 3, potentials={"most": 3, "penalties": [], "remembered": []})],
        ),
    ),
    (
        "a model as another one states it",
        certificate(MODEL, 11, [[0, 2, [2]], [1, 1, [1]]], [claim([3], [-2, 0], 11)], formulate([], [])),
    ),
    (
        "pieces that a block takes away, counted by their row",
        certificate(
            HAND,
            1,
            [[0, 1, [[0, 1]]]],
            [_split_pieces([1]), claim([1], [0, 0], 1, node=1, counts=[[0, 0, 0, 1, 0]])],
            _row_of(_TAKEN),
        ),
    ),
    (
        "pieces that a trusted problem takes away, counted by their row",
        certificate(
            HAND,
            1,
            [[0, 1, [[0, 1]]]],
            [_split_pieces([1]), claim([1], [0, 0], 1, node=1)],
            _row_of(_TRUSTED),
        ),
    ),
    (
        "dearest paths listed as if they were cheapest",
        certificate(
            HAND,
            12,
            [[0, 1, [0, 2, 5]]],
            _LISTED_UPSIDE_DOWN,
            formulate([{**NETWORK["graphs"][0], "kind": "network", "uses": [0, 2]}], [[1, 1]] * 2, "maximize", 1),
        ),
    ),
    (
        "paths that earn what they pay",
        certificate(
            HAND,
            13,
            [[0, 1, [0, 2, 5]]],
            [claim([7, 6], [0], 13)],
            formulate([{**REQUEST["graphs"][0], "kind": "network", "uses": [0, 2]}], [[1, 1]] * 2, "maximize"),
        ),
    ),
    (
        "two trees split on the arc of one",
        certificate(
            HAND,
            14,
            [[0, 2, [0, 1]]],
            [
                {"node": 0, "split": {"arc": [0, 1]}, "children": [1, 2]},
                claim([], [-7], 14, node=1, potentials=_NO_CHAINS),
                claim([], [-5], 10, node=2, potentials=_NO_CHAINS),
            ],
            formulate([_many(TREE, kind="trees")], [], "maximize"),
        ),
    ),
    (
        "two clusterings split on the pair of one",
        certificate(
            HAND,
            6,
            [[0, 2, [[0, 1], [2]]]],
            [
                {"node": 0, "split": {"pair": [0, 1]}, "children": [1, 2]},
                claim([], [-3], 6, node=1, potentials={"over": 1, "triangles": [[0, 2, 1, 2]]}),
                claim([], [-2], 4, node=2, potentials={"over": 1, "triangles": []}),
            ],
            formulate([_many(MENTIONS, kind="clusterings")], [], "maximize"),
        ),
    ),
    (
        "a column that is used without limit, and pays",
        certificate(
            HAND,
            9,
            [[0, 1, [[0, 1]]]],
            [claim([10], [-1], 9)],
            formulate([{**KNAPSACK, "uses": [1, None]}], [[0, 1]]),
        ),
    ),
    (
        "a row that is covered twice, split on as a pair",
        certificate(
            HAND,
            3,
            [[0, 1, [0]], [0, 1, [1]], [0, 1, []]],
            [
                {"node": 0, "split": {"pair": [0, 1]}, "children": [1, 2]},
                claim([0, 0], [0], 3, node=1),
                claim([0, 0], [0], 3, node=2),
            ],
            formulate([{"kind": "stable sets", "uses": [3, None], "cost": 1, "edges": [[0, 1]]}], [[1, 2], [1, 1]]),
        ),
    ),
    (
        "a step of costs of a continuous variable",
        certificate(
            HAND,
            1,
            [[0, 1, [1]]],
            [claim([1], [0], "1/2")],
            formulate(
                [
                    {
                        "kind": "block",
                        "uses": [1, 1],
                        "cost": 0,
                        "variables": [[1, 0, 1, False]],
                        "rows": [],
                        "entries": [[[0, 1]]],
                    }
                ],
                [["1/2", None]],
                step=1,
            ),
        ),
    ),
    (
        "a cut over a row with a fractional side",
        certificate(
            HAND,
            9,
            [[0, 1, [[0, 1]]]],
            [claim([0], [9], 9, cuts=[{"cut": [2, [0]], "dual": 0}])],
            formulate([KNAPSACK], [[0, "3/2"]]),
        ),
    ),
    (
        "a cut over a row without an upper side",
        certificate(
            HAND,
            9,
            [[0, 1, [[0, 1]]]],
            [claim([0], [9], 9, cuts=[{"cut": [2, [0]], "dual": 0}])],
            formulate([KNAPSACK], [[0, None]]),
        ),
    ),
    (
        "a trusted pricing problem",
        certificate(
            HAND,
            1,
            [[0, 1, {"cost": 1, "rows": []}]],
            [claim([], [1], 1)],
            formulate([{**_TRUSTED, "uses": [1, 1]}], []),
        ),
    ),
    (
        "labellings that cost instead of scoring",
        certificate(
            HAND,
            2,
            [[0, 1, [0, 1]]],
            [claim([], [2], 2)],
            formulate(
                [
                    {
                        "kind": "labellings",
                        "uses": [1, 1],
                        "denominator": 2,
                        "parents": [1, -1],
                        "of_table": [0, 0],
                        "scores": [[1, 0], [0, 2]],
                        "tables": [[[0, 1], [3, 0]]],
                    }
                ],
                [],
            ),
        ),
    ),
]
"""Certificates of programs for which the applied rule does not hold, or false in other ways."""

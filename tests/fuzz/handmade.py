"""Correct certificates of small instances of each kind, written by hand from the description of the format."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Sequence
from typing import Any

Record = dict[str, Any]
"""A line of a certificate, decoded."""

ROLLS: Record = {"kind": "cutting_stock", "roll": 10, "widths": [6, 5], "demands": [3, 2]}
"""Optimum 4: three rolls with a piece of 6, one with two of 5."""

MACHINES: Record = {
    "kind": "assignment",
    "costs": [[4, 2], [3, 5]],
    "sizes": [[1, 1], [1, 1]],
    "capacities": [1, 1],
}
"""Each machine takes one task; the optimum is 2 + 3."""

CYCLE: Record = {"kind": "colouring", "vertices": 5, "edges": [[0, 1], [1, 2], [2, 3], [3, 4], [0, 4]]}
"""A cycle of five vertices: the relaxation is 5/2, the optimum 3."""

CUSTOMERS: Record = {
    "kind": "vehicle_routing",
    "ticks": 1,
    "distances": [[0, 3, 4], [3, 0, 5], [4, 5, 0]],
    "demands": [0, 1, 1],
    "capacity": 2,
    "windows": None,
    "service": None,
    "vehicles": 2,
}
"""One route over both customers, the arcs 0, 3 and 4: 12; two routes: 14."""

TIMED: Record = {**CUSTOMERS, "windows": [[0, 100], [0, 10], [0, 20]], "service": [0, 1, 1]}
"""The same with time windows: arrival at 1 at time 3, at 2 at 9, at the depot at 14."""

NETWORK: Record = {
    "kind": "networks",
    "rows": 2,
    "graphs": [
        {
            "uses": [0, None],
            "source": 0,
            "sink": 3,
            "rows": [None, 0, 1, None],
            "arcs": [[0, 1, 3], [0, 2, 4], [1, 2, 5], [2, 1, 5], [1, 3, 3], [2, 3, 4]],
            "resources": [{"start": 0, "lower": [0] * 4, "upper": [2] * 4, "consumption": [1, 1, 1, 1, 0, 0]}],
        }
    ],
}
"""One path over both inner vertices: 12; two paths: 14."""

_TIME: Record = {"start": 0, "lower": [None] * 4, "upper": [9] * 4, "consumption": [1] * 6}
_GRAPH: Record = NETWORK["graphs"][0]
REQUEST: Record = {
    **NETWORK,
    "graphs": [
        {
            **_GRAPH,
            "requests": [[1, 2]],
            "resources": [*_GRAPH["resources"], {**_TIME, "penalties": [[0, 0], [0, 0], [0, 0], [2, 1]]}],
        }
    ],
}
"""Only the path over 1 and then 2 delivers; it reaches the sink at time 3 and pays 1 for that: 13."""

APART: Record = {**NETWORK, "graphs": [{**_GRAPH, "sets": [[1, 2]]}]}
"""No path visits both inner vertices, so the optimum is 14."""

CHAIN: Record = {
    "kind": "chain_map",
    "denominator": 2,
    "parents": [1, -1],
    "of_table": [0, 0],
    "scores": [[1, 0], [0, 2]],
    "tables": [[[0, 1], [3, 0]]],
}
"""Two nodes: labels 0 and 1 score (1 + 1 + 2) / 2."""

TREE: Record = {
    "kind": "trees",
    "denominator": 1,
    "single_root": False,
    "projective": True,
    "arcs": [[None, 2, 2], [None, None, 4], [None, 3, None]],
    "grandparents": None,
    "factors": [[[[0, 1], [1, 2]], 1]],
}
"""Two words: the second under the first scores 2 + 4 + 1."""

GRANDCHILD: Record = {
    **TREE,
    "projective": False,
    "grandparents": [[[0, 0, 0], [0, 0, 2], [0, 0, 0]], [[0] * 3] * 3, [[0] * 3] * 3],
    "factors": [[[[0, 2], [2, 1]], -1]],
}
"""The same tree scores 2 + 4 and 2 for a chain; the factor is on the other tree."""

PATH: Record = {
    "kind": "title_path",
    "denominator": 1,
    "length": 2,
    "classes": [0, 1, 0],
    "first": [1, 0, 0],
    "last": [0, 0, 1],
    "weights": [[0, 2, 9], [1, 0, 3], [9, 1, 0]],
}
"""The path 1, 2 weighs 3 + 1; the path 0, 2 would weigh 11, but repeats a class."""

MENTIONS: Record = {"kind": "coreference", "denominator": 1, "scores": [[0, 3, -4], [3, 0, 2], [-4, 2, 0]]}
"""The optimum clusters 0 with 1 and scores 3; all three together score 1."""

SEGMENTS: Record = {
    "kind": "segmentations",
    "denominator": 1,
    "segments": [[[1, 0], [2, 3]], [[0, 4], [None, None]]],
    "transitions": [[0, -1], [1, -2]],
}
"""Segments of one token with labels 0 and 1 score 1 - 1 + 4; one segment of two tokens scores at most 3."""

SPANS: Record = {
    "kind": "constituents",
    "denominator": 1,
    "spans": [[[1, 0], [0, 2]], [[None, None], [3, 1]]],
}
"""Two words of label 0 and a span of label 1 score 1 + 3 + 2."""

STEPS: Record = {
    "kind": "alignments",
    "denominator": 1,
    "steps": [[[None] * 3, [None, None, 1]], [[None, 2, None], [4, -1, 1]]],
}
"""The pair scores 4; row first 2 + 1, column first 1 - 1."""

FRAMES: Record = {
    "kind": "monotone chains",
    "denominator": 1,
    "states": [[1, 0], [0, 2]],
    "moves": [[0, 1, None], [0, 0, 0], [None, 0, -1]],
}
"""States 0, 1 score 1 + 1 + 2 with their moves; 0, 0 scores 1, and 1, 1 scores 2."""

COUPLES: Record = {"kind": "matchings", "denominator": 1, "pairs": [[3, 2, None], [4, 0, 1]]}
"""Row 0 with column 1 and row 1 with column 0 score 2 + 4."""

MODEL: Record = {
    "kind": "compact",
    "sense": "minimize",
    "offset": 0,
    "variables": [[2, 0, 3, True], [2, 0, 3, True], [3, 0, 5, True]],
    "rows": [[5, None, [[0, 1], [1, 1], [2, 1]]], [None, 5, [[0, 2]]], [None, 5, [[1, 2]]]],
    "linking": [0],
    "blocks": [[[0], [1]]],
}
"""Two identical blocks contribute 2 units each at cost 2 per unit, the third variable 1 unit at cost 3: 11."""

MIXED: Record = {
    **MODEL,
    "variables": [[3, 0, 3, True], [0, 0, None, False], [3, 0, 3, True], [0, 0, None, False]],
    "rows": [[3, None, [[1, 1], [3, 1]]], [None, 0, [[0, -2], [1, 1]]], [None, 0, [[2, -2], [3, 1]]]],
    "blocks": [[[0, 1], [2, 3]]],
}
"""Two identical blocks produce up to 2 units per batch; 3 units take 2 batches at cost 3: 6."""

KNAPSACK: Record = {
    "kind": "knapsack",
    "uses": [1, 1],
    "capacity": 1,
    "sizes": [1],
    "copies": [1],
    "rows": [0],
    "cost": 10,
    "costs": [-1],
}
"""Pricing problem of a program stated in the certificate: one column of cost 9 with the item and 10 without."""


def claim(
    duals: Sequence[Any], least: Sequence[Any], bound: Any, *, unit: int = 1, node: int = 0, **more: Any
) -> Record:
    """Return a leaf with dual values; with ``worth``, costs have weight zero."""
    weight = 0 if "worth" in more else 1
    own = {"weight": weight, "unit": unit, "duals": duals, "counts": [], "least": least, "bound": bound}
    return {"node": node, "claim": {**own, **more}}


def certificate(
    instance: Record,
    objective: Any,
    columns: Any,
    nodes: Sequence[Record],
    formulation: Record | None = None,
    **end: Any,
) -> list[Record]:
    """Return all lines of a certificate, which claims an optimum unless ``end`` differs."""
    answer = None if columns is None else {"objective": objective, "columns": columns}
    ends = {"proves": "optimal", "objective": objective, "bound": objective, **end}
    head: list[Record] = [{"certificate": "colgen", "version": 1}, {"instance": instance}]
    return seal([*head, {"formulation": formulation}, {"answer": answer}, *nodes, {"end": ends}])


def seal(records: Sequence[Record]) -> list[Record]:
    """Return a copy with correct digest, number of lines and number of leaves."""
    lines: list[Record] = copy.deepcopy(list(records))
    written = json.dumps(lines[1]["instance"], sort_keys=True, separators=(",", ":"))
    lines[1]["sha256"] = hashlib.sha256(written.encode()).hexdigest()
    lines[-1]["end"].update(lines=len(lines), leaves=sum("claim" in line for line in lines))
    return lines


def formulate(pricing: Sequence[Record], rows: Sequence[Any], sense: str = "minimize", step: Any = None) -> Record:
    """Return the statement of a program, which the checker accepts without a known instance."""
    return {"sense": sense, "step": step, "rows": rows, "pricing": pricing}


HAND: Record = {"kind": "by hand"}
"""An instance of a kind unknown to the checker."""

_ROLLED = claim([2, 1], [0], 4, unit=2)
_PLAN = [[0, 3, [[0, 1]]], [0, 1, [[1, 2]]]]
_ALL = [0, 1, 0, 10]
_COLOURS = [[0, 1, [0, 2]], [0, 1, [1, 3]], [0, 1, [4]]]
_SHARES = {"factors": [[1, 0]]}
_PI = [[0, 0, 0], [0, 0, 2], [0, 0, 0]]
_WORDS = {"words": [2, 6], "sets": [], "root": 0}
_TRIANGLE = {"over": 1, "triangles": [[0, 2, 1, 2]]}
_WALKS = {"most": 4, "penalties": [0, 0], "remembered": [0, 1]}
_SEGMENTED = {"vertices": [0, 0, 1, 0, 1, 0, 2, 4, 4]}
_LABELLED = {"vertices": [1, 3, 4, 6]}
_ALIGNED = {"vertices": [0, 1, 2, 4]}
_MOVED = {"vertices": [1, 0, 2, 0, 2, 2, 2, 4, 4]}
_COUPLED = {"rows": [2, 1], "columns": [3, 0, 0]}
_UP = {"within": [0, [[0, 1, None]]], "at_most": 1}
TREE_OF_BLOCK = [{"split": [0, 0]}, {"over": 1, "duals": [[0, 3]]}, {"over": 2, "duals": [[0, 6]]}]

CERTIFICATES: dict[str, list[Record]] = {
    "cutting_stock": certificate(ROLLS, 4, _PLAN, [_ROLLED]),
    "cutting_stock, tree": certificate(
        ROLLS,
        4,
        _PLAN,
        [
            {"node": 0, "split": {"pieces": _ALL, "at_most": 1}, "children": [1, 2]},
            {
                "node": 2,
                "fix": {
                    "what": "positions",
                    "unit": 2,
                    "duals": [2, 1],
                    "counts": [],
                    "least": [0],
                    "bound": 4,
                    "closed": 3,
                },
            },
            claim([2, 1], [2], 4, unit=2, node=2),
            claim([0, 1], [0], None, node=1, counts=[[*_ALL, -1]], worth=1),
        ],
    ),
    "cutting_stock, cut": certificate(
        ROLLS, 4, _PLAN, [claim([2, 1], [0], 4, unit=2, cuts=[{"cut": [2, [0, 1]], "dual": 0}])]
    ),
    "assignment": certificate(MACHINES, 5, [[0, 1, [[1, 1]]], [1, 1, [[0, 1]]]], [claim([3, 2], [0, 0], 5)]),
    "colouring": certificate(CYCLE, 3, _COLOURS, [claim([1] * 5, [0], "5/2", unit=2)]),
    "colouring, tree": certificate(
        CYCLE,
        3,
        _COLOURS,
        [
            {"node": 0, "split": {"pair": [0, 2]}, "children": [1, 2]},
            claim([1] * 5, [0], "5/2", unit=2, node=1),
            claim([1] * 5, [0], "5/2", unit=2, node=2),
        ],
    ),
    "vehicle_routing": certificate(CUSTOMERS, 12, [[0, 1, [0, 3, 4]]], [claim([6, 6], [0], 12)]),
    "vehicle_routing, list": certificate(
        TIMED,
        12,
        [[0, 1, [0, 3, 4]]],
        [
            {
                "node": 0,
                "fix": {
                    "what": "columns",
                    "unit": 1,
                    "duals": [5, 5],
                    "counts": [],
                    "least": [1],
                    "bound": 11,
                    "left": 1,
                },
            },
            {"node": 0, "split": {"pair": [0, 1]}, "children": [1, 2]},
            claim([6, 6], [0], 12, node=1),
            claim([6, 6], [0], 12, node=2, cuts=[{"cut": [2, [0, 1]], "dual": 0}]),
        ],
    ),
    "networks": certificate(NETWORK, 12, [[0, 1, [0, 2, 5]]], [claim([6, 6], [0], 12)]),
    "networks, request": certificate(REQUEST, 13, [[0, 1, [0, 2, 5]]], [claim([7, 6], [0], 13)]),
    "networks, set": certificate(APART, 14, [[0, 1, [0, 4]], [0, 1, [1, 5]]], [claim([6, 8], [0], 14)]),
    "chain_map": certificate(CHAIN, 2, [[0, 1, [0, 1]]], [claim([], [-2], 2)]),
    "trees": certificate(TREE, 7, [[0, 1, [0, 1]]], [claim([], [-7], 7, potentials=_SHARES)]),
    "trees, tree": certificate(
        GRANDCHILD,
        8,
        [[0, 1, [0, 1]]],
        [
            {"node": 0, "split": {"arc": [0, 1]}, "children": [1, 2]},
            claim([], [-8], 8, node=1, potentials={"chains": _PI, "factors": [[0]], **_WORDS}),
            claim(
                [],
                [-5],
                5,
                node=2,
                potentials={"chains": _PI, "factors": [[0]], "words": [3, 6], "sets": [[[1, 2], -4]], "root": 0},
            ),
        ],
    ),
    "title_path": certificate(PATH, 4, [[0, 1, [1, 2]]], [claim([], [-4], 4, potentials=_WALKS)]),
    "coreference": certificate(MENTIONS, 3, [[0, 1, [[0, 1], [2]]]], [claim([], [-3], 3, potentials=_TRIANGLE)]),
    "coreference, tree": certificate(
        MENTIONS,
        3,
        [[0, 1, [[0, 1], [2]]]],
        [
            {"node": 0, "split": {"pair": [1, 2]}, "children": [1, 2]},
            claim([], [-3], 3, node=1, potentials={"over": 1, "triangles": [[0, 2, 1, 2]]}),
            claim([], [-3], 3, node=2, potentials={"over": 1, "triangles": []}),
        ],
    ),
    "segmentations": certificate(SEGMENTS, 4, [[0, 1, [1, 1, 0, 0, 0]]], [claim([], [-4], 4, potentials=_SEGMENTED)]),
    "constituents": certificate(SPANS, 6, [[0, 1, [1, 0, 0, 0]]], [claim([], [-6], 6, potentials=_LABELLED)]),
    "alignments": certificate(STEPS, 4, [[0, 1, [0, 0]]], [claim([], [-4], 4, potentials=_ALIGNED)]),
    "monotone chains": certificate(FRAMES, 4, [[0, 1, [0, 0, 1, 0, 0]]], [claim([], [-4], 4, potentials=_MOVED)]),
    "matchings": certificate(COUPLES, 6, [[0, 1, [1, 0]]], [claim([], [-6], 6, potentials=_COUPLED)]),
    "compact": certificate(MODEL, 11, [[0, 2, [2]], [1, 1, [1]]], [claim([3], [-2, 0], 11)]),
    "compact, tree": certificate(
        MODEL,
        11,
        [[0, 2, [2]], [1, 1, [1]]],
        [
            {"node": 0, "split": _UP, "children": [1, 2]},
            claim([3], [-2, 0], 11, node=1, counts=[[0, [[0, 1, None]], 0]]),
            claim([3], [-2, 0], 11, node=2),
        ],
    ),
    "compact, continuous": certificate(
        MIXED,
        6,
        [[0, 1, [1, 2]], [0, 1, [1, 1]], [1, 1, []]],
        [claim([3], [0, 0], "9/2", unit=2, potentials=[TREE_OF_BLOCK, None])],
    ),
    "by hand": certificate(HAND, 9, [[0, 1, [[0, 1]]]], [claim([0], [9], 9)], formulate([KNAPSACK], [[0, 1]], step=1)),
}
"""Certificates by kind of instance, and by what they use besides a root bound."""

"""The two directions of a search, without and with arc costs."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.paths.labelling import neighbourhoods as neighbour_sets
from colgen.solvers.paths.labelling.boxes import Boxes
from colgen.solvers.paths.labelling.custom import CustomResource
from colgen.solvers.paths.labelling.layout import VALUES, Floats, Ints, Rule, Side, Words
from colgen.solvers.paths.labelling.memory import bits_of_rules
from colgen.solvers.paths.labelling.neighbourhoods import Mask
from colgen.solvers.paths.labelling.network import Network
from colgen.solvers.paths.labelling.rank_one import Fields
from colgen.solvers.paths.labelling.resources import Limits
from colgen.solvers.paths.labelling.rules import Rules

_FINEST, _COARSEST = 512, 64
"""Largest and smallest number of buckets of the critical resource."""


class Direction(NamedTuple):
    """Data of a direction that does not depend on costs.

    ``order`` lists the arcs by tail.  The limits are those of the direction.  ``own`` has the words of each vertex:
    those of open requests (``opens``), of neighbourhoods (``remembered``), and of other rules.
    """

    origin: int
    order: Ints
    tails: Ints
    heads: Ints
    skipped: Mask
    limits: Limits
    own: Words
    opens: int
    remembered: slice
    common: NDArray[np.uint64]
    returning: NDArray[np.uint64]
    joint: NDArray[np.uint64]
    come_from: Ints
    partner: Ints
    unreachable: NDArray[np.uint64]
    late: NDArray[np.uint64]
    lowest: float
    width: float
    buckets: int
    custom_start: Floats


def direction(
    network: Network,
    neighbourhoods: Mask,
    bits: Words,
    rules: Rules,
    custom: CustomResource | None,
    mine: Limits,
    forwards: bool,
    cycle: int,
) -> Direction:
    """Return a direction; ``mine`` are the limits of this direction, ``bits`` those of neighbourhoods."""
    n = network.num_vertices
    origin, end = (network.source, network.sink) if forwards else (network.sink, network.source)
    tails, heads = (network.tails, network.heads) if forwards else (network.heads, network.tails)
    order = np.lexsort((heads == end, tails))
    lowest, highest, step = mine.lowest, mine.highest, mine.step
    if custom is not None and custom.order is not None:
        lowest, highest, step = custom.order[1], custom.order[2], 0.0
        if not forwards:
            lowest, highest = -highest, -lowest
    length = highest - lowest
    width = min(max(step, length / _FINEST), length / _COARSEST) if length > 0 else 1.0
    if cycle:
        common, returning, joint = neighbour_sets.cyclic_bits(bits, tails[order], heads[order], cycle - 1)
    elif neighbourhoods.any():
        common, returning = neighbour_sets.arc_bits(neighbourhoods, bits, tails[order], heads[order])
        joint = common
    else:  # paths remember nothing; the loops over all vertices below would take long in large networks
        common = returning = joint = np.zeros((len(order), bits.shape[1]), dtype=np.uint64)
    come_from, partner = neighbour_sets.places(bits.shape[1], max(cycle - 1, 1))
    closing = rules.deliveries if forwards else rules.pickups
    entries = ~np.isin(np.arange(n), closing)
    returning[~entries[heads[order]]] = 0
    others = bits_of_rules(rules, network, forwards=forwards)
    opens, words = others.requests.shape[1], bits.shape[1]
    after = slice(opens, None)

    def between(outer: NDArray[Any], inner: NDArray[Any]) -> NDArray[Any]:
        parts = [outer[..., :opens], inner, outer[..., after]]
        return np.concatenate(parts, axis=-1) if outer.shape[-1] else inner

    moved = np.arange(others.own.shape[1])
    moved[after] += words
    partner = between(moved[others.partner], partner + opens)
    own, common, returning, joint = (
        between(others.own, bits),
        between(others.kept[heads[order]], common),
        between(others.refused[heads[order]], returning),
        between(np.full((len(order), len(moved)), ~np.uint64(0)), joint),
    )
    unreachable = np.zeros((0, n, own.shape[1]), dtype=np.uint64)
    late = np.zeros((0, n, opens), dtype=np.uint64)
    buckets = int(length / width) + 1
    limited = mine.critical < mine.compared and (custom is None or custom.order is None)
    if limited and (neighbourhoods.any() or len(moved)):
        c = mine.critical
        distances = neighbour_sets.distances(n, tails, heads, mine.consumption[:, c])
        slack = 1e-9 * (abs(lowest) + abs(highest))
        latest = np.ascontiguousarray(mine.upper[:, c])

        def missed(matrix: Mask, own: Words) -> Words:
            return neighbour_sets.unreachable(matrix, own, distances, latest, lowest, width, buckets, slack)

        beyond = np.zeros((buckets, n, len(moved)), dtype=np.uint64)
        if len(moved):
            anywhere = np.ones((n, n), dtype=bool)
            sets = slice(opens, len(moved) - opens)
            late = missed(anywhere, np.ascontiguousarray(others.refused[:, len(moved) - opens :]))
            beyond[..., sets] = missed(anywhere, np.ascontiguousarray(others.own[:, sets]))
        unreachable = between(beyond, missed(neighbourhoods & entries, bits))
    return Direction(
        origin,
        order,
        tails[order],
        heads[order],
        heads[order] == end,
        mine,
        own,
        opens,
        slice(opens, opens + words),
        common,
        returning,
        joint,
        between(moved, come_from + opens),
        partner,
        unreachable,
        late,
        lowest,
        width,
        buckets,
        np.zeros(0) if custom is None else custom.start if forwards else custom.start_backward,
    )


def side_of(
    direction: Direction, network: Network, custom: CustomResource | None, costs: Floats, usable: Mask, cuts: Fields,
    boxes: Boxes, ignored: Words, *, relaxed: bool = False,
) -> Side:  # fmt: skip
    """Return a direction with arc costs, in the form of the kernels; ``relaxed`` keeps few labels.

    ``ignored`` are the bits of closed requests that dominance ignores.
    """
    n, mine, own = network.num_vertices, direction.limits, direction.own
    more = boxes.own.shape[1]
    kept = slice(None) if usable.all() else np.flatnonzero(usable[direction.order])
    tails, order = direction.tails[kept], direction.order[kept]
    first = np.searchsorted(tails, np.arange(n + 1))
    last = np.bincount(tails[direction.skipped[kept]], minlength=n)
    heads = direction.heads[kept]
    common, returning, joint = direction.common[kept], direction.returning[kept], direction.joint[kept]
    unreachable, come_from, partner = direction.unreachable, direction.come_from, direction.partner
    unseen = np.zeros(own.shape[1] + more, dtype=np.uint64)
    if len(ignored):
        unseen[own.shape[1] - len(ignored) : own.shape[1]] = ignored
        unreachable = unreachable | unseen[: own.shape[1]]
    if more:
        own = np.hstack([own, boxes.own])
        common, returning = np.hstack([common, boxes.kept[heads]]), np.hstack([returning, boxes.refused[heads]])
        joint = np.pad(joint, ((0, 0), (0, more)))
        unreachable = np.pad(unreachable, ((0, 0), (0, 0), (0, more)))
        behind = np.arange(own.shape[1] - more, own.shape[1])
        come_from, partner = np.append(come_from, behind), np.append(partner, behind)
    none = np.zeros((network.num_arcs, 0)), np.zeros((n, 0))
    data = none if custom is None else (custom.arc_data, custom.vertex_data)
    return Side(
        origin=direction.origin,
        first=first[:-1].astype(np.int64),
        end=(first[1:] - last).astype(np.int64),
        heads=heads,
        costs=costs[order],
        numbers=order.astype(np.int64),
        consumption=mine.consumption[order],
        lower=mine.lower,
        upper=mine.upper,
        start=mine.start,
        slack=mine.slack,
        threshold=mine.threshold,
        rate=mine.rate,
        critical=mine.critical,
        rule=_rule_of(mine, own.shape[1], direction.custom_start, cuts, direction.opens if relaxed else None),
        lowest=float(direction.lowest),
        width=float(direction.width),
        buckets=direction.buckets,
        opens=direction.opens,
        ignored=unseen,
        own=own,
        common=common,
        returning=returning,
        come_from=come_from,
        partner=partner,
        joint=joint,
        unreachable=unreachable,
        late=direction.late,
        cuts=cuts,
        boxes=boxes.fields,
        bounds=np.zeros((0, n)),
        cutoff=math.inf,
        custom=len(direction.custom_start),
        order=-1 if custom is None or custom.order is None else custom.order[0],
        arc_data=none[0] if data[0] is None else data[0],
        vertex_data=none[1] if data[1] is None else data[1],
        custom_start=direction.custom_start,
    )


def _rule_of(limits: Limits, words: int, custom_start: Floats, cuts: Fields, few: int | None) -> Rule:
    """Return the dominance rule for labels with a number of words; ``few``: those compared if few labels are kept."""
    components, values = len(custom_start), VALUES + limits.consumption.shape[1]
    return rule(
        compared=limits.compared if few is None else min(limits.compared, 1),
        custom=values if components and few is None else 0,
        memory=values + components,
        memory_words=words,
        words=words if few is None else few,
        same_set=False,
        states=values + components + words,
        state_words=cuts.keep.shape[1] if few is None else 0,
    )


def with_bounds(side: Side, bounds: Floats | None, cutoff: float) -> Side:
    """Return the side with bounds on completions and a cutoff; unchanged without bounds."""
    return side if bounds is None else side._replace(bounds=bounds, cutoff=cutoff)


def without_cuts(given: Rule) -> Rule:
    """Return the dominance rule without states of cuts."""
    return rule(**{**given._asdict(), "state_words": 0})


def tails_of(side: Side) -> Ints:
    """Return the tail of each arc of the direction."""
    return np.repeat(np.arange(len(side.first)), np.diff(np.append(side.first, len(side.heads))))


def rule(**what: int) -> Rule:
    """Return a dominance rule; ``plain`` is set if it compares only one resource and one word."""
    what.pop("plain", None)
    usual = what["compared"] == what["words"] == 1 and not (what["custom"] or what["same_set"] or what["state_words"])
    return Rule(**what, plain=usual)  # type: ignore[arg-type]

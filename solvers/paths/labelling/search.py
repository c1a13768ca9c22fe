"""Settle and extend labels, bucket by bucket.

A label waits until all paths with smaller values of the critical resource are extended.  Then the labels of its vertex
and bucket are examined by increasing cost, and dominated ones are dropped.  Arcs without consumption and wide buckets
may add labels to a settled bucket, which is then settled again.
"""

from __future__ import annotations

from typing import NamedTuple

from colgen.solvers.kernels import inner, kernel
from colgen.solvers.paths.labelling.dominance import Dominates
from colgen.solvers.paths.labelling.extension import Extend, extend_all
from colgen.solvers.paths.labelling.layout import BUCKET, DONE, EXTENDED, PHASE, SETTLED, Labels, Side
from colgen.solvers.paths.labelling.settlement import settle

_SETTLING, _EXTENDING = 0, 1


@inner
def _bucket(
    side: Side, extend: Extend, dominates: Dominates, held: Labels, extending: bool, effort: int
) -> tuple[int, int]:
    """Settle, and optionally extend, the labels of the current bucket."""
    at = held.at
    bucket = at[BUCKET]
    while at[BUCKET] == bucket:
        if at[PHASE] == _SETTLING:
            status, effort = settle(side, dominates, held, bucket, effort)
            if status == DONE:
                if extending and at[EXTENDED] < at[SETTLED]:
                    at[PHASE] = _EXTENDING
                else:
                    at[BUCKET] += 1
        else:
            status, effort = extend_all(side, extend, dominates, held, effort)
            if status == DONE:
                at[PHASE] = _SETTLING
        if status != DONE:
            return status, effort
    return DONE, effort


class End(NamedTuple):
    """The buckets at which a search ends.

    * ``ahead``, ``back``: the bucket before which each direction ends.
    * ``meeting``: total number of buckets after which both end.
    * ``extending``: whether labels are extended, or only settled.
    """

    ahead: int
    back: int
    meeting: int
    extending: bool


@kernel
def advance(
    extend: Extend, dominates: Dominates, extend_back: Extend, dominates_back: Dominates, ahead: Side, held: Labels,
    back: Side, held_back: Labels, end: End, effort: int,
) -> tuple[int, int, bool]:  # fmt: skip
    """Settle and extend labels of both directions, fewer labels first.

    Return the status, the remaining effort, and whether the backward search needs memory.
    """
    while held.at[BUCKET] + held_back.at[BUCKET] < end.meeting:
        more, more_back = held.at[BUCKET] < end.ahead, held_back.at[BUCKET] < end.back
        if not more and not more_back:
            break
        backwards = more_back and (not more or held.at[SETTLED] > held_back.at[SETTLED])
        if backwards:
            status, effort = _bucket(back, extend_back, dominates_back, held_back, end.extending, effort)
        else:
            status, effort = _bucket(ahead, extend, dominates, held, end.extending, effort)
        if status != DONE:
            return status, effort, backwards
    return DONE, effort, False

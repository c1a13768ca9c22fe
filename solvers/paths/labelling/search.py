"""Settling and extending labels, bucket by bucket.

A label waits until all paths of smaller values of the critical resource have been extended; then those of its vertex
and bucket are looked at by increasing cost, and what a settled label dominates is dropped.  Arcs that do not consume,
and wide buckets, bring labels to a bucket that was settled: it is then settled again.
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
    """Settle, and extend, the labels of the bucket that a direction has come to."""
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
    """Where a search ends.

    Attributes
    ----------
    ahead, back
        The bucket before which each direction ends.
    meeting
        Both end where they have come to so many buckets together.
    extending
        Whether labels are extended, and not only settled.
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
    """Settle, and extend, the labels of both directions, bucket by bucket, where fewer labels are.

    Returns
    -------
    tuple
        Why it came back; what is left of the effort (arcs that labels are extended over, and pairs compared); and
        whether it is the search backwards that needs room.
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

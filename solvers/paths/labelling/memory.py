"""Memory of the rules: bits that labels carry beside those of neighbourhoods.

Each request has two bits: open, from the pickup to the delivery, and closed otherwise.  A delivery is refused while the
request is closed, a pickup and the sink while it is open.  Backward paths open requests at deliveries.  Two paths join
if the same requests are open in both, that is, if no request is open in one and closed in the other.

A set with at most one visit has a bit that the visit sets.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from colgen.solvers.paths.labelling.layout import Ints, Words
from colgen.solvers.paths.labelling.network import Network
from colgen.solvers.paths.labelling.rules import Rules

_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


class RuleBits(NamedTuple):
    """Words of the rules in one direction: open requests, sets, closed requests.

    * ``own``, ``kept``, ``refused``: words of each vertex: bits that a visit sets, that it keeps, and that forbid it.
    * ``partner``: the word of the other direction that a joined label is compared with.
    * ``requests``: bits of each request in the words of open requests.
    """

    own: Words
    kept: Words
    refused: Words
    partner: Ints
    requests: Words


def bits_of_rules(rules: Rules, network: Network, *, forwards: bool) -> RuleBits:
    """Return the words of rules in one direction."""
    n, count = network.num_vertices, len(rules.pickups)
    origin, end = (network.source, network.sink) if forwards else (network.sink, network.source)
    begins, ends = (rules.pickups, rules.deliveries) if forwards else (rules.deliveries, rules.pickups)
    requests, sets = _single_bits(count), _single_bits(len(rules.sets))
    every = np.bitwise_or.reduce(requests, axis=0) if count else requests[:0].sum(axis=0)
    opening, closing, kept_open, kept_closed = (np.zeros((n, requests.shape[1]), dtype=np.uint64) for _ in range(4))
    opening[begins], closing[ends] = requests, requests
    kept_open, kept_closed = ~closing, ~opening
    refused_open, refused_closed = opening.copy(), closing.copy()
    refused_open[end] = every
    closing[origin] = every
    member = np.zeros((n, sets.shape[1]), dtype=np.uint64)
    for bits, inside in zip(sets, rules.sets, strict=True):
        member[inside] |= bits
    words, between = requests.shape[1], sets.shape[1]
    place = np.arange(2 * words + between)
    partner = np.where(place < words, place + words + between, place)
    partner[words + between :] -= words + between
    return RuleBits(
        np.hstack([opening, member, closing]),
        np.hstack([kept_open, np.full_like(member, _ALL), kept_closed]),
        np.hstack([refused_open, member, refused_closed]),
        partner,
        requests,
    )


def _single_bits(count: int) -> Words:
    """Return words in which row k has only bit k."""
    number = np.arange(count)
    found = np.zeros((count, -(-count // 64)), dtype=np.uint64)
    found[number, number // 64] = np.uint64(1) << (number % 64).astype(np.uint64)
    return found

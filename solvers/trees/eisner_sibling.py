r"""Projective parsing with adjacent siblings, and optionally their grandparent: two parsers with the same items.

SIBLING (McDonald and Pereira, 2006) takes O(n³) time.  Its sib[h, m, s] is the score of m after its sibling s (s = h: m
is the first).  Besides complete and incomplete items (:mod:`colgen.solvers.trees.eisner_items`) there are sibling items
S[s, m]: two adjacent modifiers of one head and everything between them.

    C[h, e] = max_m I[h, m] + C[m, e]
    I[h, m] = max(first modifier: C[m, h ± 1];  max_s I[h, s] + S[s, m])  + the scores of (h, m, s)
    S[s, m] = max_r C[s, r] + C[m, r + 1]        (s < m; the same item for both orders).

THIRD (model 1 of Koo and Collins, 2010) takes O(n⁴) time and O(n³) memory.  An arc h → m with grandparent g also scores
grand[g, h, m], and with its sibling triple[g > h, m > h, k(g), k(h), k(m), k(s)].  Here k is the kind of a word: its
part of speech, or its position.  Positions make the table complete.  The last kind of the table means "no sibling".
The context of every item is the head of its head:

    C[g, h, e] = max_m I[g, h, m] + C[h, m, e]
    I[g, h, m] = max(first modifier: C[h, m, h ± 1];  max_s I[g, h, s] + S[h, s, m])  + the scores of (g, h, m, s)
    S[h, s, m] = max_r C[h, s, r] + C[h, m, r + 1].

The root has no head.  Its items have g = h = 0, and use grand[0, 0, m] and g = 0 in the table.  SIBLING has the single
context 0; its formulas are those of THIRD.

The chart has 4 N² numbers per context: C by (g, h, e), I by (g, h, m), S by (h, s, m) and (h, m, s), C by (g, e, h).

Sources: R. McDonald, F. Pereira, *Online learning of approximate dependency parsing algorithms*, EACL 2006.  T. Koo,
M. Collins, *Efficient third-order dependency parsers*, ACL 2010.
"""

from __future__ import annotations

from colgen.solvers.kernels import inner, int64, quick
from colgen.solvers.trees.eisner_items import (
    IMPOSSIBLE,
    NEG,
    THIRD,
    Floats,
    Ints,
    Scores,
    Ways,
    best_sum,
    put,
    ways_complete,
    ways_halves,
)


@quick
def _best_pair(own: Floats, adjacent: Floats, of_pair: Floats, lowest: int, highest: int) -> float:
    """Return the maximum over lowest ≤ s < highest of I[h, s] + S[s, m] + sib[h, m, s]."""
    best = NEG
    for s in range(lowest, highest):
        value = own[s] + adjacent[s] + of_pair[s]
        if value > best:
            best = value
    return best


@quick
def _best_triple(
    own: Floats, adjacent: Floats, of_pair: Floats, table: Floats, kinds: Ints, lowest: int, highest: int
) -> float:
    """Return the maximum of :func:`_best_pair` with the score of the grand-siblings, by the kind of s."""
    best = NEG
    for s in range(lowest, highest):
        value = own[s] + adjacent[s] + of_pair[s] + table[kinds[s]]
        if value > best:
            best = value
    return best


@quick
def inside_sibling(scores: Scores, chart: Floats, first: int, end: int) -> None:
    """Fill the chart for spans of widths first to end - 1, given all narrower ones."""
    arc, sib, grand, triple, kinds = scores.arc, scores.sib, scores.grand, scores.triple, scores.kinds
    size = len(arc)
    third = scores.order == THIRD
    contexts = size if third else 1
    block = contexts * size * size
    complete = chart[:block].reshape(contexts, size, size)
    incomplete = chart[block : 2 * block].reshape(contexts, size, size)
    sibling = chart[2 * block : 3 * block].reshape(contexts, size, size)
    by_end = chart[3 * block : 4 * block].reshape(contexts, size, size)
    for g in range(contexts):
        for i in range(size):
            complete[g, i, i] = by_end[g, i, i] = 0.0
    for width in range(first, end):
        for i in range(size - width):
            j = i + width
            for g in range(contexts if i > 0 else 1):
                if third and 0 < i <= g <= j:
                    continue
                if i > 0:
                    sibling[g, i, j] = sibling[g, j, i] = best_sum(complete[g, i], complete[g, j, 1:], i, j)
                for turn in range(2 if i > 0 else 1):
                    h, m, step = (i, j, 1) if turn == 0 else (j, i, -1)
                    context = h if third else 0  # context of h's modifiers
                    own = incomplete[g, h]
                    best = NEG
                    if arc[h, m] > IMPOSSIBLE and (not third or h == 0 or arc[g, h] > IMPOSSIBLE):
                        nearest = complete[context, m, h + step] + sib[h, m, h]
                        lowest = i + 1
                        highest = j if h > 0 or not scores.single_root else lowest
                        if third:
                            table = triple[1 if g > h else 0, 1 if m > h else 0, kinds[g], kinds[h], kinds[m]]
                            nearest += table[len(table) - 1]
                            best = _best_triple(own, sibling[context, m], sib[h, m], table, kinds, lowest, highest)
                            best = max(best, nearest) + arc[h, m] + grand[g, h, m]
                        else:
                            best = _best_pair(own, sibling[context, m], sib[h, m], lowest, highest)
                            best = max(best, nearest) + arc[h, m]
                    own[m] = best
                    ends = by_end[context, m]
                    lowest, highest = (i + 1, j + 1) if turn == 0 else (i, j)
                    complete[g, h, m] = by_end[g, m, h] = best_sum(own, ends, lowest, highest)


@inner
def expand_sibling(item: int, scores: Scores, ways: Ways) -> tuple[int, int, int]:
    """List the ways to build an item, as :func:`colgen.solvers.trees.eisner_first.expand_first` does."""
    size = len(scores.arc)
    square = size * size
    third = scores.order == THIRD
    block = square * size if third else square
    kind, place = item // block, item % block
    g, h, m = place // square, place // size % size, place % size
    if kind == 2:  # S[g, h, m], h < m
        return ways_halves(h, m, m, (g * size + h) * size, (g * size + m) * size, 0.0, ways), -1, -1
    context = h if third else 0  # context of h's modifiers
    if kind == 0:  # C[g, h, m]
        return ways_complete(h, m, size, block + (g * size + h) * size, context * square, ways), -1, -1
    kinds = scores.kinds
    base = scores.arc[h, m]
    table = scores.triple[0, 0, 0, 0, 0]  # not read
    if third:
        table = scores.triple[1 if g > h else 0, 1 if m > h else 0, kinds[g], kinds[h], kinds[m]]
        base += scores.grand[g, h, m]
    step = 1 if m > h else -1
    score = base + scores.sib[h, m, h] + (table[len(table) - 1] if third else 0.0)
    nearest = (context * size + m) * size + h + step if m != h + step else -1
    count = put(ways, int64(0), score, nearest, int64(-1))
    if h > 0 or not scores.single_root:
        for s in range(min(h, m) + 1, max(h, m)):
            score = base + scores.sib[h, m, s] + (table[kinds[s]] if third else 0.0)
            adjacent = 2 * block + (context * size + min(s, m)) * size + max(s, m)
            count = put(ways, count, score, block + (g * size + h) * size + s, adjacent)
    return count, h, m

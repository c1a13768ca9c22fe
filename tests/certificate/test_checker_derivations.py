"""The checker's hypergraphs and potentials, against lists of all structures."""

import itertools
import random
from fractions import Fraction

import pytest

from colgen.certificate.checker_derivations import DERIVED
from colgen.certificate.checker_pricing import CheckerState, WrongError


def segmentations(tokens, longest, labels):
    """Yield the places of all parts, segments first, with transitions after all segments."""
    for lengths in itertools.chain(*(itertools.product(range(1, longest + 1), repeat=n) for n in range(1, tokens + 1))):
        if sum(lengths) == tokens:
            for own in itertools.product(range(labels), repeat=len(lengths)):
                firsts = itertools.accumulate((0, *lengths[:-1]))
                parts = [(i * longest + d - 1) * labels + y for i, d, y in zip(firsts, lengths, own, strict=True)]
                yield [*parts, *(tokens * longest * labels + x * labels + y for x, y in itertools.pairwise(own))]


def constituents(words, labels):
    def below(i, j):
        if i == j:
            return [[(i, i)]]
        return [[(i, j), *a, *b] for k in range(i, j) for a in below(i, k) for b in below(k + 1, j)]

    for spans in below(0, words - 1):
        for own in itertools.product(range(labels), repeat=len(spans)):
            yield [(i * words + j) * labels + y for (i, j), y in zip(spans, own, strict=True)]


def alignments(rows, columns):
    def steps(i, j):
        if i == j == 0:
            return [[]]
        ways = [(0, i - 1, j - 1), (1, i - 1, j), (2, i, j - 1)]
        place = (i * (columns + 1) + j) * 3
        return [[*path, place + kind] for kind, a, b in ways if a >= 0 and b >= 0 for path in steps(a, b)]

    return steps(rows, columns)


def chains(frames, states):
    for chain in itertools.product(range(states), repeat=frames):
        path = [-1, *chain, states]
        moves = [(b, b - a) for a, b in itertools.pairwise(path)]
        if all(0 <= d <= 2 for _, d in moves) and moves[0][1] and moves[-1][1]:
            yield [*(t * states + s for t, s in enumerate(chain)), *(frames * states + 3 * s + d for s, d in moves)]


CASES = [
    ("segmentations", [(3, 2, 2), (2, 2)], segmentations(3, 2, 2)),
    ("segmentations", [(2, 3, 1), (1, 1)], segmentations(2, 3, 1)),
    ("segmentations", [(1, 1, 1), (1, 1)], segmentations(1, 1, 1)),
    ("constituents", [(4, 4, 1)], constituents(4, 1)),
    ("constituents", [(3, 3, 2)], constituents(3, 2)),
    ("constituents", [(1, 1, 2)], constituents(1, 2)),
    ("alignments", [(3, 4, 3)], alignments(2, 3)),
    ("alignments", [(1, 1, 3)], alignments(0, 0)),
    ("monotone chains", [(4, 3), (4, 3)], chains(4, 3)),
    ("monotone chains", [(2, 5), (6, 3)], chains(2, 5)),
    ("monotone chains", [(1, 1), (2, 3)], chains(1, 1)),
]
CASES = [(kind, shapes, list(structures)) for kind, shapes, structures in CASES]
NAMES = [f"{kind} {shapes[0]}" for kind, shapes, _ in CASES]


def nested(numbers, shape):
    """Take the next numbers as lists of this shape."""
    return [nested(numbers, shape[1:]) for _ in range(shape[0])] if shape else next(numbers)


def checker(kind, shapes, numbers):
    numbers = iter(numbers)
    arrays = dict(zip(DERIVED[kind].arrays, [nested(numbers, shape) for shape in shapes], strict=True))
    return DERIVED[kind](0, {"denominator": 2, **arrays}, 0)


def size(shapes):
    return sum(a * b * (c[0] if c else 1) for a, b, *c in shapes)


def derivations(graph):
    """Yield all derivations as lists of edges."""

    def of(v):
        for number, (_, tails) in enumerate(graph.vertices[v]):
            for below in itertools.product(*(list(of(tail)) for tail in tails)):
                yield [number, *itertools.chain(*below)]

    return of(len(graph.vertices) - 1)


@pytest.mark.parametrize(("kind", "shapes", "structures"), CASES, ids=NAMES)
def test_derivations_are_the_structures(kind, shapes, structures):
    """With powers of a large number as scores, the cost of a column counts its parts."""
    count = size(shapes)
    graph = checker(kind, shapes, [100**place for place in range(count)])
    costs = sorted(graph.column(edges)[0] for edges in derivations(graph))
    assert costs == sorted(Fraction(sum(100**place for place in parts), 2) for parts in structures)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize(("kind", "shapes", "structures"), CASES, ids=NAMES)
def test_accepted_potentials_bound_all_structures(kind, shapes, structures, seed):
    chance = random.Random(seed)
    scores = [None if chance.random() < 0.15 else chance.randint(-6, 6) for _ in range(size(shapes))]
    graph = checker(kind, shapes, scores)
    values = [sum(scores[p] for p in parts) for parts in structures if all(scores[p] is not None for p in parts)]
    exact = values_of(graph)
    assert exact[-1] == max(values, default=None)

    def least(potentials):
        return graph.least((), Fraction(-3), {}, CheckerState(given={"vertices": potentials}))

    if values:
        assert least(exact) == Fraction(-3 * max(values), 2)
    else:
        with pytest.raises(WrongError, match="potential of the goal"):
            least(exact)
    for _ in range(60):
        drawn = [
            None if p is None and chance.random() < 0.9 else (p or 0) + chance.choice([0, 0, 0, 1, 1, -1])
            for p in exact
        ]
        try:
            found = least(drawn)
        except WrongError:
            continue
        assert found == Fraction(-3 * drawn[-1], 2)
        assert drawn[-1] >= max(values, default=drawn[-1])


def values_of(graph):
    found = []
    for edges in graph.vertices:
        below = [(score, [found[tail] for tail in tails]) for score, tails in edges]
        found.append(
            max((score + sum(own) for score, own in below if score != -float("inf") and None not in own), default=None)
        )
    return found


def test_more_edges_than_fit_into_memory_are_unreadable(monkeypatch):
    from colgen.certificate import checker_pricing

    monkeypatch.setattr(checker_pricing, "LABEL_LIMIT", 10)
    with pytest.raises(checker_pricing.UnreadableError, match="expected at most 10 edges"):
        checker("constituents", [(4, 4, 1)], range(16))

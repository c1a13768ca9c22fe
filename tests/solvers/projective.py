"""All projective trees of a short sentence, by enumeration; random parts for each parser."""

from colgen.solvers.trees.eisner import Parts
from tests.twins import trees


def all_trees(n, projective=True, single_root=True):
    """Heads of all trees of n words as an array of shape (number, n + 1)."""
    return trees.all_trees(n, projective, single_root)


def random_parts(order, n, rng, whole=False):
    """Return parts of the parser of that order; small integers make ties."""

    def scores(*shape):
        return rng.integers(-2, 3, shape).astype(float) if whole else rng.normal(size=shape)

    size = n + 1
    arcs = scores(size, size)
    if order == 1:
        return Parts(arcs)
    siblings = scores(size, size, size)
    if order == 2:
        return Parts(arcs, siblings)
    if order == 3:
        return Parts(arcs, siblings, outermost=scores(size, size, size))
    return Parts(
        arcs,
        siblings,
        grandchildren=scores(size, size, size),
        triples=scores(2, 2, 4, 4, 4, 4),
        kinds=rng.integers(0, 3, size),
    )

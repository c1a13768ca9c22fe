"""Enumeration of all trees of short sentences, and generated training sentences."""

import numpy as np
from hypothesis import strategies as st

from colgen.problems.dependency.sentence import Sentence
from colgen.problems.nonlocal_parsing import Factors, NonlocalInstance
from colgen.solvers.trees.eisner import Parts
from tests.solvers.projective import all_trees, random_parts


def answers(instance):
    """Return all trees of an instance as tuples of heads."""
    trees = all_trees(instance.num_words, instance.projective, instance.single_root)
    return [
        tuple(tree[1:]) for tree in trees.tolist() if all(instance.usable[h, m] for m, h in enumerate(tree) if m > 0)
    ]


def scores_of_all(instance):
    """Return the scores of all trees, best first."""
    return sorted(map(instance.objective, answers(instance)), reverse=True)


def optimum(instance):
    scores = scores_of_all(instance)
    return scores[0] if scores else None


@st.composite
def instances(draw, most_words=4, orders=(1, 2, 3, 4), projective=True):
    """Local parts of some parser, and overlapping factors of any size and sign; integers give ties."""
    n = draw(st.integers(1, most_words))
    rng = np.random.default_rng(draw(st.integers(0, 2**20)))
    whole = draw(st.booleans())
    parts = random_parts(draw(st.sampled_from(orders)), n, rng, whole)
    arcs = [(h, m) for h in range(n + 1) for m in range(1, n + 1) if h != m]
    factors = []
    for _ in range(draw(st.sampled_from([0, 3, 20, 100]))):
        chosen = rng.permutation(len(arcs))[: rng.integers(1, 5)]
        score = float(rng.integers(-3, 4)) if whole else float(rng.normal(scale=2.0))
        factors.append(([arcs[k] for k in chosen], score))
    share = draw(st.sampled_from([1.0, 1.0, 0.8, 0.5]))
    return NonlocalInstance(
        parts,
        Factors.of(n + 1, factors),
        rng.random((n + 1, n + 1)) < share,
        single_root=draw(st.booleans()),
        projective=projective,
        step=1.0 if whole else None,
    )


def plain(n, factors=(), *, heads=None):
    """Return arc scores of 1 for the arcs of a tree and 0 elsewhere, with factors."""
    scores = np.zeros((n + 1, n + 1))
    if heads is not None:
        scores[np.array(heads), np.arange(1, n + 1)] = 1.0
    return NonlocalInstance(Parts(scores), Factors.of(n + 1, factors))


def made_up_sentences(number, seed=0):
    """Return sentences of a small grammar: determiners and adjectives depend on the next noun, nouns on the verb."""
    rng = np.random.default_rng(seed)
    words = {"DET": ["the", "a"], "ADJ": ["red", "old"], "NOUN": ["dog", "cat", "tree"], "VERB": ["sees", "likes"]}
    found = []
    for _ in range(number):
        tags, heads = [], []

        def phrase(tags=tags, heads=heads):
            first = len(tags)
            tags += ["DET", *["ADJ"] * rng.integers(0, 3), "NOUN"]
            heads += [len(tags)] * (len(tags) - first - 1) + [None]

        phrase()
        tags.append("VERB")
        heads.append(0)
        verb = len(tags)
        phrase()
        if rng.random() < 0.5:
            tags.append("PUNCT")
            heads.append(None)
        forms = tuple("." if tag == "PUNCT" else str(rng.choice(words[tag])) for tag in tags)
        found.append(Sentence(forms, coarse=tuple(tags), heads=tuple(verb if head is None else head for head in heads)))
    return found

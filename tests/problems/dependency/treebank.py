"""A small artificial language: random sentences with trees, and models with random weights."""

import numpy as np

from colgen.learning import train
from colgen.problems.dependency import MiraLearner, MiraSettings, Sentence
from colgen.problems.grandparent_parsing.training import NarrowDecoder

_WORDS = {
    "N": ("cat", "dog", "tree", "house"),
    "V": ("sees", "eats", "runs"),
    "D": ("the", "a"),
    "A": ("old", "red"),
    "P": ("in", "of"),
}
_ATTACHES = {"D": "N", "A": "N", "P": "N", "N": "V", "V": "V"}


def sentence(rng, length=None):
    """Most words are attached to the next noun, nouns to the nearest verb, verbs to the first verb."""
    n = int(rng.integers(2, 9)) if length is None else length
    tags = [str(tag) for tag in rng.choice(list(_WORDS), n)]
    tags[int(rng.integers(n))] = "V"
    forms = [str(rng.choice(_WORDS[tag])) for tag in tags]
    root = tags.index("V")
    heads = []
    for k, tag in enumerate(tags):
        wanted = [j for j in range(n) if j != k and tags[j] == _ATTACHES[tag] and (tag in "NV" or j > k)]
        if k == root:
            heads.append(0)
        elif tag == "V" or not wanted:
            heads.append(root + 1)
        else:
            heads.append(min(wanted, key=lambda j: abs(j - k)) + 1)
    morphology = tuple({"Number": "Sing"} if tag == "N" else {} for tag in tags)
    return Sentence(tuple(forms), tuple(forms), tuple(tags), ("_",) * n, morphology, tuple(heads))


def sentences(count, seed):
    rng = np.random.default_rng(seed)
    return [sentence(rng) for _ in range(count)]


def random_weights(text, seed, *, single_root=False):
    """A model with random weights of either sign for features of the sentences."""
    learner = MiraLearner(text, NarrowDecoder(), MiraSettings(seed=seed, cutoff=0.0))
    weights = train(learner, 1, seed=seed).weights
    rng = np.random.default_rng(seed)
    for table in (weights.arcs, weights.grandparents, weights.siblings):
        table.values[table.keys >= 0] = rng.normal(size=table.values[table.keys >= 0].shape)
    weights.between[:] = 0.1 * rng.normal(size=weights.between.shape)
    weights.grandparents.values[:] *= 0.3
    weights.siblings.values[:] *= 0.3
    return type(weights)(
        weights.vocabulary, weights.arcs, weights.between, weights.grandparents, weights.siblings, single_root
    )


def labelled(given):
    """A sentence with relations that follow from tags and sides: ``root``, or ``nv>`` for a noun before its verb."""
    tags = given.coarse
    relations = [
        "root" if head == 0 else f"{tag}{tags[head - 1]}{'<' if head < token else '>'}".lower()
        for token, (head, tag) in enumerate(zip(given.heads, tags, strict=True), 1)
    ]
    return given.with_heads(given.heads, relations)

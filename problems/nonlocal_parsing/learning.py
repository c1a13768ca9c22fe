"""Training: a filter for candidate heads, a backbone, then factor families on top of it, decoding with the parser."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from colgen import InputError
from problems.dependency.features import Vocabulary
from problems.dependency.sentence import Sentence
from problems.nonlocal_parsing.decoding import usable
from problems.nonlocal_parsing.learner import Learner, Say
from problems.nonlocal_parsing.scoring import Model

FILTER_EPOCHS, EPOCHS, FAMILY_EPOCHS = 3, 6, 3


def begin(
    sentences: Sequence[Sentence],
    *,
    backbone: str = "grandchild",
    families: Sequence[str] = (),
    seed: int = 0,
    filter_epochs: int = FILTER_EPOCHS,
    say: Say = print,
) -> Learner:
    """A learner with a trained filter, and all other weights zero.

    Raises
    ------
    InputError
        If no sentence is projective with a single word under the root.
    """
    learn_from = usable(sentences)
    if not learn_from:
        raise InputError("expected sentences with projective trees of a single root to learn from, there are none")
    learner = Learner(Model.zero(Vocabulary.of(learn_from), backbone, families))
    learner.learn_filter(learn_from, filter_epochs, np.random.default_rng(seed), say)
    return learner


def train(
    sentences: Sequence[Sentence],
    *,
    backbone: str = "grandchild",
    families: Sequence[str] = (),
    epochs: int = EPOCHS,
    family_epochs: int = FAMILY_EPOCHS,
    k: int | None = 10,
    seed: int = 0,
    say: Say = print,
) -> Model:
    """Train a model: the backbone first, then all of it together with the families."""
    learner = begin(sentences, backbone=backbone, seed=seed, say=say)
    learn_from, rng = usable(sentences), np.random.default_rng(seed)
    learner.learn(learn_from, epochs, rng, say, k=k, name=backbone)
    if families:
        learner = learner.with_families(families)
        learner.learn(learn_from, family_epochs, rng, say, k=k, name=", ".join(families))
    return learner.averaged()

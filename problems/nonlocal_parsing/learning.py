"""Training: a filter for candidate heads, a backbone, then factor families on top of it, decoding with the parser."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from colgen.problems.dependency.labels import Labels, learn_labels
from colgen.problems.dependency.sentence import Sentence
from colgen.problems.dependency.training import Kept, Say, run_passes
from colgen.problems.nonlocal_parsing.examples import ParsedExamples
from colgen.problems.nonlocal_parsing.learner import PerceptronLearner
from colgen.problems.nonlocal_parsing.scoring import Model


@dataclass(frozen=True)
class NonlocalSettings:
    """How to learn.

    Attributes
    ----------
    backbone, families
        See :class:`~colgen.problems.nonlocal_parsing.scoring.Model`.
    filter_epochs, epochs, family_epochs
        Passes over the sentences: of the filter, of the backbone, and of the backbone with the families.
    least
        How often the right trees must have a feature for it to get a weight.
    candidates
        Candidate heads a word, None for all.
    seed
        Of the order of the sentences.
    relations
        Where they count: ``"tree"``, once the tree is found; ``"arcs"``, in the arcs' scores, each worth what its best
        relation makes of it; ``"both"``, there, and once more in the tree.
    """

    backbone: str = "grandchild"
    families: tuple[str, ...] = ()
    filter_epochs: int = 3
    epochs: int = 4
    family_epochs: int = 2
    least: int = 2
    candidates: int | None = 10
    seed: int = 0
    relations: str = "tree"


FILTER, BACKBONE, MORE = range(3)
"""Stages of training: the filter, the backbone alone, and the backbone with the families."""


def run_pass(
    learner: PerceptronLearner, stage: int, epoch: int, settings: NonlocalSettings, say: Say, name: str = ""
) -> None:
    """One pass over the sentences: of the filter in its stage, else of the model; each has an order of its own."""
    rng = np.random.default_rng((settings.seed, stage, epoch))
    name = name or ("filter", settings.backbone, ", ".join(settings.families))[stage]
    if stage == FILTER:
        wrong = learner.learn_filter(rng)
    else:
        wrong = learner.learn(rng, k=settings.candidates, say=lambda line: say(f"{name}, epoch {epoch + 1}: {line}"))
    say(f"{name}, epoch {epoch + 1}: {wrong:.2f}% of the heads wrong before each step")


def train(
    sentences: Sequence[Sentence],
    settings: NonlocalSettings | None = None,
    *,
    state: Path | None = None,
    say: Say = print,
) -> Model:
    """Train a model: the filter, the backbone, then all of it together with the families; and relations, if told.

    Parameters
    ----------
    state
        File that keeps what an interrupted training needs to go on, removed at the end; one that is there already and
        belongs to the same sentences and settings is gone on from.
    """
    settings = settings or NonlocalSettings()
    examples = ParsedExamples(sentences, settings.least)
    passes = [(FILTER, epoch) for epoch in range(settings.filter_epochs)]
    passes += [(BACKBONE, epoch) for epoch in range(settings.epochs)]
    if settings.families:
        passes += [(MORE, epoch) for epoch in range(settings.family_epochs)]
    learner = PerceptronLearner(examples, settings.backbone, relations=settings.relations != "tree")
    kept = Kept(state, _fingerprint(examples, settings))
    arrays = kept.read()
    done = int(arrays["done"]) if arrays else 0
    if arrays:
        say(f"going on after pass {done} of {len(passes)}, from {state}")
        if passes[done - 1][0] == MORE:
            learner = learner.with_families(settings.families)
        learner.restore(arrays)

    def run(number: int) -> None:
        nonlocal learner, done
        stage, epoch = passes[number]
        if stage == MORE and epoch == 0:
            learner = learner.with_families(settings.families)
        run_pass(learner, stage, epoch, settings, say)
        done = number + 1

    run_passes(range(done, len(passes)), run, lambda: {**learner.state(), "done": np.array(done)}, kept, say)
    model = learner.averaged()
    if settings.relations != "arcs":
        model = replace(model, labels=labels_of(examples, seed=settings.seed, say=say))
    kept.remove()
    return model


def labels_of(examples: ParsedExamples, *, seed: int = 0, say: Say | None = None) -> Labels | None:
    """Weights of relations; None if the sentences tell none."""
    encoded = [example.encoded for example in examples.examples]
    return learn_labels(examples.sentences, encoded, examples.vocabulary, seed=seed, say=say)


def _fingerprint(examples: ParsedExamples, settings: NonlocalSettings) -> str:
    """Of the sentences and of the settings; more passes may be asked for at the end."""
    last = replace(settings, family_epochs=0) if settings.families else replace(settings, epochs=0)
    words = sum(len(example.encoded) for example in examples.examples)
    return json.dumps([str(last), len(examples), words, examples.vocabulary.sizes.tolist()])

"""Training of a filter for candidate heads, of a backbone, and of factor families, by decoding with the parser."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from colgen.learning import training as learning
from colgen.learning.training import SavedTraining, Say
from colgen.problems.dependency.labels import Labels, learn_labels
from colgen.problems.dependency.sentence import Sentence
from colgen.problems.nonlocal_parsing.examples import ParsedExamples
from colgen.problems.nonlocal_parsing.learner import FilterLearner, ParserLearner
from colgen.problems.nonlocal_parsing.scoring import Model


@dataclass(frozen=True)
class NonlocalSettings:
    """Settings of the training.

    ``relations`` is ``"tree"``: relations are predicted after the tree; ``"arcs"``: the score of each arc includes its
    best relation; or ``"both"``.
    """

    backbone: str = "grandchild"
    families: tuple[str, ...] = ()
    filter_epochs: int = 3  # passes over the sentences
    epochs: int = 4  # passes of the backbone
    family_epochs: int = 2  # passes of the backbone with the families
    least: int = 2  # correct trees with a feature that a weight requires
    candidates: int | None = 10  # heads per word, None for all
    seed: int = 0  # of the order of the sentences
    relations: str = "tree"


FILTER, BACKBONE, FAMILIES_STAGE = range(3)
"""Stages of training: the filter, the backbone alone, and the backbone with the families."""


def train(
    sentences: Sequence[Sentence],
    settings: NonlocalSettings | None = None,
    *,
    state: Path | None = None,
    say: Say = print,
) -> Model:
    """Train the filter, the backbone, then everything with the families, and relations if the sentences have them.

    ``state`` is the file from which an interrupted training of the same sentences and settings continues. It is removed
    at the end.
    """
    settings = settings or NonlocalSettings()
    examples = ParsedExamples(sentences, settings.least)
    saved = SavedTraining(state, _fingerprint(examples, settings), Model.load)
    filtered = run_stage(FilterLearner(examples), FILTER, settings, saved=saved, say=say)
    labels = examples.arc_labels() if settings.relations != "tree" else None
    learner = ParserLearner(examples, filtered, settings.backbone, labels=labels, candidates=settings.candidates)
    model = run_stage(learner, BACKBONE, settings, saved=saved, say=say)
    if settings.families:
        model = run_stage(learner.with_families(settings.families), FAMILIES_STAGE, settings, saved=saved, say=say)
    model = model.compact()
    if settings.relations != "arcs":
        model = replace(model, labels=train_labels(examples, seed=settings.seed, say=say))
    saved.remove()
    return model


def run_stage(
    learner: FilterLearner,
    stage: int,
    settings: NonlocalSettings,
    *,
    saved: SavedTraining | None = None,
    say: Say = print,
    name: str = "",
) -> Model:
    """Run the passes of a stage, and return the averaged model."""
    passes = (settings.filter_epochs, settings.epochs, settings.family_epochs)[stage]
    name = name or ("filter", settings.backbone, ", ".join(settings.families))[stage]
    seed = settings.seed, stage
    return learning.train(learner, passes, seed=seed, name=name, saved=saved, stage=stage, say=say).weights


def train_labels(examples: ParsedExamples, *, seed: int = 0, say: Say | None = None) -> Labels | None:
    """Return weights of relations; None if the sentences have none."""
    encoded = [example.encoded for example in examples.examples]
    return learn_labels(examples.sentences, encoded, examples.vocabulary, seed=seed, say=say)


def _fingerprint(examples: ParsedExamples, settings: NonlocalSettings) -> str:
    """Return a fingerprint of the sentences and of the settings, except the number of passes of the last stage."""
    last = replace(settings, family_epochs=0) if settings.families else replace(settings, epochs=0)
    words = sum(len(example.encoded) for example in examples.examples)
    return json.dumps([str(last), len(examples), words, examples.vocabulary.sizes.tolist()])

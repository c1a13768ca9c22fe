"""Training: a filter for candidate heads, a backbone, then factor families on top of it, decoding with the parser."""

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
        File from which an interrupted training of the same sentences and settings continues, removed at the end.
    """
    settings = settings or NonlocalSettings()
    examples = ParsedExamples(sentences, settings.least)
    saved = SavedTraining(state, _fingerprint(examples, settings), Model.load)
    filtered = run_stage(FilterLearner(examples), FILTER, settings, saved=saved, say=say)
    labels = examples.arc_labels() if settings.relations != "tree" else None
    learner = ParserLearner(examples, filtered, settings.backbone, labels=labels, candidates=settings.candidates)
    model = run_stage(learner, BACKBONE, settings, saved=saved, say=say)
    if settings.families:
        model = run_stage(learner.with_families(settings.families), MORE, settings, saved=saved, say=say)
    model = model.compact()
    if settings.relations != "arcs":
        model = replace(model, labels=labels_of(examples, seed=settings.seed, say=say))
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
    """The passes of a stage; the averaged model."""
    passes = (settings.filter_epochs, settings.epochs, settings.family_epochs)[stage]
    name = name or ("filter", settings.backbone, ", ".join(settings.families))[stage]
    seed = settings.seed, stage
    return learning.train(learner, passes, seed=seed, name=name, saved=saved, stage=stage, say=say).weights


def labels_of(examples: ParsedExamples, *, seed: int = 0, say: Say | None = None) -> Labels | None:
    """Weights of relations; None if the sentences tell none."""
    encoded = [example.encoded for example in examples.examples]
    return learn_labels(examples.sentences, encoded, examples.vocabulary, seed=seed, say=say)


def _fingerprint(examples: ParsedExamples, settings: NonlocalSettings) -> str:
    """Of the sentences and of the settings; more passes may be asked for at the end."""
    last = replace(settings, family_epochs=0) if settings.families else replace(settings, epochs=0)
    words = sum(len(example.encoded) for example in examples.examples)
    return json.dumps([str(last), len(examples), words, examples.vocabulary.sizes.tolist()])

"""``colgen train grandparent_parsing``: train a model on annotated sentences and measure it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from colgen.cli.option import Number, Option
from colgen.cli.template import Figure, TrainedModel, TrainOptions
from colgen.core.text import plural
from colgen.learning import training as learning
from colgen.learning.training import SavedTraining, Say
from colgen.problems.dependency.corpus import corpus_of
from colgen.problems.dependency.evaluation import Attachment, attachment, attachment_figures
from colgen.problems.dependency.features.vocabulary import Encoded
from colgen.problems.dependency.labels import learn_labels
from colgen.problems.dependency.learning import RELATIONS, MiraLearner, MiraSettings
from colgen.problems.dependency.scorer import Weights
from colgen.problems.dependency.sentence import Sentence
from colgen.problems.grandparent_parsing.kernels.second_order import select_heads, solve_candidates
from colgen.problems.grandparent_parsing.kernels.tree_parts import lazy_parts
from colgen.problems.grandparent_parsing.parser import parse_sentences

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

EPOCHS = 15
AGGRESSIVENESS = MiraSettings.aggressiveness
ATTENUATION = MiraSettings.attenuation

_PARTS = {
    "both": ("grandparents", "siblings"),
    "grandparents": ("grandparents",),
    "siblings": ("siblings",),
    "none": (),
}

OPTIONS = {
    "epochs": Option(
        f"passes over the sentences ({EPOCHS} by default); the best one on the tuning sentences is kept",
        number=Number.WHOLE,
    ),
    "aggressiveness": Option(f"maximum step of the learner ({AGGRESSIVENESS} by default)", number=Number.POSITIVE),
    "attenuation": Option(
        f"weight of triple features relative to arc features ({ATTENUATION} by default); smaller is faster",
        number=Number.POSITIVE,
    ),
    "parts": Option("part types scored besides arcs: grandparents, siblings, both (the default) or none", _PARTS),
    "relations": Option(
        "how relations are used: arcs (each arc scores as with its best relation), tree (predicted after parsing, from "
        "several arcs jointly) or both; both is the default if every sentence has relations",
        RELATIONS,
    ),
}


class NarrowDecoder:
    """Approximate decoder for training: the best tree of the most promising arcs after a few Lagrangian iterations.

    There is no proof: training does not need one, and bounds would have to be updated after each step.  ``width`` heads
    per modifier are candidates, chosen by arc scores, and the gold heads.
    """

    def __init__(self, width: int = 8, iterations: int = 25) -> None:
        self.width = width
        self.iterations = iterations

    def __call__(self, encoded: Encoded, arcs: Floats, weights: Weights, right: Ints) -> Ints:
        candidates = select_heads(arcs, self.width)
        candidates[right[1:], np.arange(1, len(right))] = True
        parts = lazy_parts(encoded.codes, weights.grandparents, weights.siblings, keep=False)
        heads, _, _ = solve_candidates(arcs, candidates, parts, self.iterations, weights.single_root, 1.0)
        return heads


def train(
    sentences: Sequence[Sentence],
    settings: MiraSettings,
    *,
    tune: Sequence[Sentence] = (),
    state: Path | None = None,
    say: Say | None = None,
) -> Weights:
    """Return averaged weights, including those of relations if the sentences are labelled.

    ``tune`` are annotated sentences that select the epoch: the first with the most correct heads.  Without them the
    average after the last epoch is returned.  An interrupted training of the same sentences and settings continues from
    the file ``state``, which is removed at the end.
    """
    learner = MiraLearner(sentences, NarrowDecoder(), settings)
    encoded, vocabulary = learner.encoded, learner.vocabulary
    saved = SavedTraining(state, learner.fingerprint(), Weights.load)
    validate = (lambda weights: _share_right(tune, weights)) if tune else None
    passes = learning.train(
        learner, settings.epochs, seed=settings.seed, name="trees", validate=validate, saved=saved, say=say
    )
    weights, labels = passes.weights, None
    del learner, passes  # frees memory for the relations
    if settings.relations != "arcs":
        labels = learn_labels(sentences, encoded, vocabulary, seed=settings.seed, say=say)
    saved.remove()
    return replace(weights, labels=labels)


def _share_right(sentences: Sequence[Sentence], weights: Weights) -> float:
    """Return the attachment score that selects the epoch: labelled if arc scores include relations."""
    found = measure_attachment(sentences, weights)
    weights.forget()  # frees caches: the best weights stay in memory during training
    return found.uas if weights.arc_labels is None or found.las is None else found.las


def accuracy(sentences: Sequence[Sentence], weights: Weights) -> float:
    """Return the percentage of tokens, punctuation included, with the correct head."""
    return measure_attachment(sentences, replace(weights, labels=None)).uas


def measure_attachment(sentences: Sequence[Sentence], weights: Weights) -> Attachment:
    """Return the attachment scores of the best trees."""
    parsed = (found for found, _ in parse_sentences(sentences, weights))
    return attachment(zip(sentences, parsed, strict=True))


def train_from_files(options: TrainOptions) -> TrainedModel:
    """Train on the sentences of a folder or of files."""
    chosen = options.options
    settings = MiraSettings(
        chosen.get("epochs", 1 if options.quick else EPOCHS),
        chosen.get("aggressiveness", AGGRESSIVENESS),
        options.seed,
        chosen.get("parts", _PARTS["both"]),
        chosen.get("attenuation", ATTENUATION),
        relations=chosen.get("relations"),
    )
    corpus = corpus_of(options)
    corpus.check_heads()
    chooses = f", {len(corpus.tune)} to select the epoch" if corpus.tune else ""
    options.say(f"{plural(len(corpus.learn), 'sentence')} to train on{chooses}")
    weights = train(corpus.learn, settings, tune=corpus.tune, state=options.state, say=options.say)

    def measure(name: str, part: list[Sentence]) -> list[Figure]:
        return attachment_figures(measure_attachment(part, weights), len(part), f"{name}.{{}}".format)

    return TrainedModel(weights, lambda: corpus.figures(len(corpus.learn), measure))

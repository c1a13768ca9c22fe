"""``colgen train grandparent_parsing``: a model from annotated sentences, and how good it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from colgen.cli.option import Number, Option
from colgen.cli.template import Figure, TrainedModel, TrainOptions
from colgen.learning import training as learning
from colgen.learning.training import SavedTraining, Say
from colgen.problems.dependency.corpus import corpus_of
from colgen.problems.dependency.evaluation import Attachment, attachment, attachment_figures
from colgen.problems.dependency.features.vocabulary import Encoded
from colgen.problems.dependency.labels import learn_labels
from colgen.problems.dependency.learning import RELATIONS, MiraLearner, MiraSettings
from colgen.problems.dependency.scorer import Weights
from colgen.problems.dependency.sentence import Sentence
from colgen.problems.grandparent_parsing.kernels.second_order import narrowed, restricted
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
        f"passes over the sentences, {EPOCHS} by default; the best on the sentences to tune on is kept",
        number=Number.WHOLE,
    ),
    "aggressiveness": Option(f"the longest step of the learner, {AGGRESSIVENESS} by default", number=Number.POSITIVE),
    "attenuation": Option(
        f"what a feature of a triple counts against an arc's, {ATTENUATION} by default: less is faster",
        number=Number.POSITIVE,
    ),
    "parts": Option("what is scored besides arcs: grandparents, siblings, both (the default) or none", _PARTS),
    "relations": Option(
        "where they count: in the arcs, each worth what its best relation makes of it; once the tree is found, by what "
        "several arcs say together; or both: arcs, tree or both; both by default where every sentence tells relations",
        RELATIONS,
    ),
}


class NarrowDecoder:
    """The best tree of the most promising arcs, as far as a few iterations of the Lagrangian find it.

    Bounds would have to follow every step of the learning, so there is no proof, nor need for one.

    Parameters
    ----------
    width
        Heads a modifier, by the arcs' own scores; the right heads are always among the candidates.
    iterations
        Of the Lagrangian.
    """

    def __init__(self, width: int = 8, iterations: int = 25) -> None:
        self.width = width
        self.iterations = iterations

    def __call__(self, encoded: Encoded, arcs: Floats, weights: Weights, right: Ints) -> Ints:
        candidates = narrowed(arcs, self.width)
        candidates[right[1:], np.arange(1, len(right))] = True
        parts = lazy_parts(encoded.codes, weights.grandparents, weights.siblings, keep=False)
        heads, _, _ = restricted(arcs, candidates, parts, self.iterations, weights.single_root, 1.0)
        return heads


def train(
    sentences: Sequence[Sentence],
    settings: MiraSettings,
    *,
    tune: Sequence[Sentence] = (),
    state: Path | None = None,
    say: Say | None = None,
) -> Weights:
    """Averaged weights, those of relations among them where the sentences have any.

    Parameters
    ----------
    tune
        Annotated sentences that choose among the averages after each epoch: the first of those that get most heads
        right.  Without any it is the average after the last epoch.
    state
        File from which an interrupted training of the same sentences and settings continues, removed at the end.
    """
    learner = MiraLearner(sentences, NarrowDecoder(), settings)
    encoded, vocabulary = learner.encoded, learner.vocabulary
    saved = SavedTraining(state, learner.fingerprint(), Weights.load)
    validate = (lambda weights: _share_right(tune, weights)) if tune else None
    passes = learning.train(
        learner, settings.epochs, seed=settings.seed, name="trees", validate=validate, saved=saved, say=say
    )
    weights, labels = passes.weights, None
    del learner, passes  # relations need the room
    if settings.relations != "arcs":
        labels = learn_labels(sentences, encoded, vocabulary, seed=settings.seed, say=say)
    saved.remove()
    return replace(weights, labels=labels)


def _share_right(sentences: Sequence[Sentence], weights: Weights) -> float:
    """What chooses among epochs: heads that are right, with their relations where arcs' scores have these as well."""
    found = measured(sentences, weights)
    weights.forget()  # the best weights are kept while more is learned
    return found.uas if weights.arc_labels is None or found.las is None else found.las


def accuracy(sentences: Sequence[Sentence], weights: Weights) -> float:
    """Share of tokens, punctuation included, whose head is right in the best tree, in percent."""
    return measured(sentences, replace(weights, labels=None)).uas


def measured(sentences: Sequence[Sentence], weights: Weights) -> Attachment:
    """How good the best trees are."""
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
    chooses = f", {len(corpus.tune)} to choose the epoch on" if corpus.tune else ""
    options.say(f"{len(corpus.learn)} sentences to learn from{chooses}")
    weights = train(corpus.learn, settings, tune=corpus.tune, state=options.state, say=options.say)

    def measure(name: str, part: list[Sentence]) -> list[Figure]:
        return attachment_figures(measured(part, weights), len(part), f"{name}.{{}}".format)

    return TrainedModel(weights, lambda: corpus.figures(len(corpus.learn), measure))

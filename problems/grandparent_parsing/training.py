"""``colgen train grandparent_parsing``: a model from annotated sentences, and how good it is."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from colgen import InputError
from colgen.cli.template import Figure, TrainOptions, whole_number
from problems.dependency.conll import read_conll
from problems.dependency.corpus import Corpus, read_corpus
from problems.dependency.evaluation import Attachment, attachment
from problems.dependency.features.vocabulary import Encoded
from problems.dependency.labels import learn_labels
from problems.dependency.learning import Learner, Settings
from problems.dependency.scorer import Weights
from problems.dependency.sentence import Sentence
from problems.dependency.training import attachment_figures, run_passes
from problems.grandparent_parsing.decoding import NarrowDecoder
from problems.grandparent_parsing.reading import parse_sentences

EPOCHS = 15
AGGRESSIVENESS = Settings.aggressiveness
ATTENUATION = Settings.attenuation

_QUICK = 150
"""Sentences of a quick training."""

OPTIONS = {
    "epochs": f"passes over the sentences, {EPOCHS} by default; the best on the sentences to tune on is kept",
    "aggressiveness": f"the longest step of the learner, {AGGRESSIVENESS} by default",
    "attenuation": f"what a feature of a triple counts against an arc's, {ATTENUATION} by default: less is faster",
    "parts": "what is scored besides arcs: grandparents, siblings, both (the default) or none",
}

_PARTS = {
    "both": ("grandparents", "siblings"),
    "grandparents": ("grandparents",),
    "siblings": ("siblings",),
    "none": (),
}


def train(
    sentences: Sequence[Sentence],
    settings: Settings,
    *,
    tune: Sequence[Sentence] = (),
    state: Path | None = None,
    say: Callable[[str], None] | None = None,
) -> Weights:
    """Averaged weights, those of relations among them where the sentences have any.

    Parameters
    ----------
    tune
        Annotated sentences that choose among the averages after each epoch: the first of those that get most heads
        right.  Without any it is the average after the last epoch.
    state
        File that keeps what an interrupted training needs to go on, removed at the end; one that is there already and
        belongs to the same sentences and settings is gone on from.  The best weights so far lie beside it.
    """
    say = say or (lambda line: None)
    # What has been learned of trees is given up before relations are: they need the room.
    weights, encoded, files = _learned(sentences, settings, tune, state, say)
    weights = replace(weights, labels=learn_labels(sentences, encoded, weights.vocabulary, seed=settings.seed, say=say))
    for file in files:
        file.unlink(missing_ok=True)
    return weights


def _learned(
    sentences: Sequence[Sentence],
    settings: Settings,
    tune: Sequence[Sentence],
    state: Path | None,
    say: Callable[[str], None],
) -> tuple[Weights, Sequence[Encoded], list[Path]]:
    """Weights without those of relations, the sentences' codes, and the files that are not needed at the end."""
    learner = Learner(sentences, NarrowDecoder(), settings)
    best = None if state is None else state.with_name(state.name + ".best")
    chosen: Weights | None = None
    reached = -1.0
    kept = learner.kept_in(state)
    arrays = kept.read()
    if arrays:
        learner.restore(arrays)
        say(f"going on after epoch {learner.epoch}, from {state}")
        if best is not None and tune and best.is_file():
            chosen = Weights.load(best)
            reached = accuracy(tune, chosen)

    def run(_: int) -> None:
        nonlocal chosen, reached
        right = learner.run_epoch(say)
        line = f"epoch {learner.epoch} of {settings.epochs}: {100 * right:.1f}% of the heads right before each step"
        if tune:
            averaged = learner.averaged()
            tuned = accuracy(tune, averaged)
            if tuned > reached:
                chosen, reached = averaged, tuned
                if best is not None:
                    averaged.save(best)
            line += f", {tuned:.2f}% of those to tune on" + (", the best so far" if chosen is averaged else "")
        say(line)

    run_passes(range(learner.epoch, settings.epochs), run, learner.state, kept, say)
    weights = learner.averaged() if chosen is None else chosen
    return weights, learner.encoded, [path for path in (state, best) if path is not None]


def accuracy(sentences: Sequence[Sentence], weights: Weights) -> float:
    """Share of tokens, punctuation included, whose head is right in the best tree, in percent."""
    return measured(sentences, replace(weights, labels=None)).uas


def measured(sentences: Sequence[Sentence], weights: Weights) -> Attachment:
    """How good the best trees are."""
    parsed = (found for found, _ in parse_sentences(sentences, weights))
    return attachment(zip(sentences, parsed, strict=True))


def train_from_files(options: TrainOptions) -> Sequence[Figure]:
    """Train on the sentences of a folder or a file, test, and write the model."""
    started = time.perf_counter()
    epochs = whole_number(options.options, "epochs", 1 if options.quick else EPOCHS)
    parts = options.options.get("parts", "both")
    if parts not in _PARTS:
        raise InputError(f"option parts: expected {', '.join(_PARTS)}, not {parts!r}")
    aggressiveness = _positive("aggressiveness", options.options.get("aggressiveness", str(AGGRESSIVENESS)))
    if options.train is not None:
        tune = [] if options.dev is None else read_conll(options.dev, skip=options.skip)
        corpus = Corpus(options.train.stem, read_conll(options.train, skip=options.skip), tune, [])
    else:
        corpus = read_corpus(options.data, skip=options.skip)
    if options.quick:
        corpus = corpus.cut(_QUICK, 50)
    corpus.check_heads()
    chooses = f", {len(corpus.tune)} to choose the epoch on" if corpus.tune else ""
    options.say(f"{len(corpus.learn)} sentences to learn from{chooses}")
    state = options.model.with_name(options.model.name + ".training")
    attenuation = _positive("attenuation", options.options.get("attenuation", str(ATTENUATION)))
    settings = Settings(epochs, aggressiveness, options.seed, _PARTS[parts], attenuation)
    weights = train(corpus.learn, settings, tune=corpus.tune, state=state, say=options.say)
    weights.save(options.model)
    options.say(f"{options.model} is written")
    figures = [Figure("sentences", len(corpus.learn), "", 1, "learned from")]
    for name, part in (("tune", corpus.tune), ("test", corpus.test)):
        if part:
            figures += attachment_figures(measured(part, weights), len(part), f"{name}.{{}}".format)
    figures.append(Figure("seconds", time.perf_counter() - started, "s", 1, "reading, training and testing"))
    return figures


def _positive(option: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.0 < value < math.inf:
        raise InputError(f"option {option}: expected a positive number, not {text!r}")
    return value

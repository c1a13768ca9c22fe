"""``colgen train grandparent_parsing``: a model from annotated sentences, and how good it is."""

from __future__ import annotations

import contextlib
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from colgen.cli.option import Number, Option
from colgen.cli.template import Figure, TrainOptions
from colgen.problems.dependency.conll import read_conll
from colgen.problems.dependency.corpus import Corpus, read_corpus
from colgen.problems.dependency.evaluation import Attachment, attachment
from colgen.problems.dependency.features.vocabulary import Encoded, Vocabulary
from colgen.problems.dependency.labels import learn_labels
from colgen.problems.dependency.learning import RELATIONS, MiraLearner, MiraSettings
from colgen.problems.dependency.scorer import Weights
from colgen.problems.dependency.sentence import Sentence
from colgen.problems.dependency.training import attachment_figures, run_passes
from colgen.problems.grandparent_parsing.decoding import NarrowDecoder
from colgen.problems.grandparent_parsing.parser import parse_sentences

EPOCHS = 15
AGGRESSIVENESS = MiraSettings.aggressiveness
ATTENUATION = MiraSettings.attenuation

_QUICK = 150
"""Sentences of a quick training."""

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


def train(
    sentences: Sequence[Sentence],
    settings: MiraSettings,
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
    with contextlib.ExitStack() as stack:
        # The best weights lie in a file, also where nobody wants to keep them: two models at once are one too many.
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory())) if state is None else state.parent
        best = folder / ("best" if state is None else f"{state.name}.best")
        # What has been learned of trees is given up before relations are: they need the room.
        encoded, vocabulary, last = _learned(sentences, settings, tune, state, best, say)
        labels = None
        if settings.relations != "arcs":
            labels = learn_labels(sentences, encoded, vocabulary, seed=settings.seed, say=say)
        weights = replace(Weights.load(best) if last is None else last, labels=labels)
        for file in (state, best):
            if file is not None:
                file.unlink(missing_ok=True)
    return weights


def _learned(
    sentences: Sequence[Sentence],
    settings: MiraSettings,
    tune: Sequence[Sentence],
    state: Path | None,
    best: Path,
    say: Callable[[str], None],
) -> tuple[Sequence[Encoded], Vocabulary, Weights | None]:
    """Learn all but the relations of trees; codes, and the last weights if ``best`` has no better ones."""
    learner = MiraLearner(sentences, NarrowDecoder(), settings)
    reached = -1.0
    kept = learner.kept_in(state)
    arrays = kept.read()
    if arrays:
        learner.restore(arrays)
        say(f"going on after epoch {learner.epoch}, from {state}")
        if tune and best.is_file():
            reached = _share_right(tune, Weights.load(best))

    def run(_: int) -> None:
        nonlocal reached
        right = learner.run_epoch(say)
        line = f"epoch {learner.epoch} of {settings.epochs}: {100 * right:.1f}% of the heads right before each step"
        if tune:
            averaged = learner.averaged()
            tuned = _share_right(tune, averaged)
            line += f", {tuned:.2f}% of those to tune on"
            if tuned > reached:
                reached = tuned
                averaged.save(best)
                line += ", the best so far"
        say(line)

    run_passes(range(learner.epoch, settings.epochs), run, learner.state, kept, say)
    return learner.encoded, learner.vocabulary, None if reached >= 0.0 else learner.averaged()


def _share_right(sentences: Sequence[Sentence], weights: Weights) -> float:
    """What chooses among epochs: heads that are right, with their relations where arcs' scores have these as well."""
    found = measured(sentences, weights)
    return found.uas if weights.arc_labels is None or found.las is None else found.las


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
    chosen = options.options
    settings = MiraSettings(
        chosen.get("epochs", 1 if options.quick else EPOCHS),
        chosen.get("aggressiveness", AGGRESSIVENESS),
        options.seed,
        chosen.get("parts", _PARTS["both"]),
        chosen.get("attenuation", ATTENUATION),
        relations=chosen.get("relations"),
    )
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
    weights = train(corpus.learn, settings, tune=corpus.tune, state=state, say=options.say)
    weights.save(options.model)
    options.say(f"{options.model} is written")
    figures = [Figure("sentences", len(corpus.learn), "", 1, "learned from")]
    for name, part in (("tune", corpus.tune), ("test", corpus.test)):
        if part:
            figures += attachment_figures(measured(part, weights), len(part), f"{name}.{{}}".format)
    figures.append(Figure("seconds", time.perf_counter() - started, "s", 1, "reading, training and testing"))
    return figures

"""``colgen train pipeline``: all steps from annotated sentences, and how good they are on raw text."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from colgen.cli.option import Number, Option
from colgen.cli.template import Figure, TrainedModel, TrainOptions
from colgen.problems.chain_map.corpus import Tagged
from colgen.problems.chain_map.learning import TaggedExamples, Tagger, train_perceptron
from colgen.problems.dependency.corpus import corpus_of
from colgen.problems.dependency.learning import MiraSettings
from colgen.problems.dependency.sentence import Sentence
from colgen.problems.grandparent_parsing import training as parsing
from colgen.problems.pipeline.evaluation import PipelineScores, compare
from colgen.problems.pipeline.model import Pipeline, contexts, tags_of, with_tags
from colgen.problems.pipeline.segmentation import learn_segmenter
from colgen.problems.pipeline.suffixes import SuffixRules, learn_suffixes
from colgen.problems.pipeline.texts import paragraphs_of, text_of

FOLDS = 5

OPTIONS = {
    "epochs": Option(
        f"passes of the parser, {parsing.EPOCHS} by default; the best on the sentences to tune on is kept",
        number=Number.WHOLE,
    ),
    "tagger_epochs": Option("passes of the tagger, 8 by default", number=Number.WHOLE),
    "folds": Option(
        f"{FOLDS} by default: the parser learns from tags that taggers of the other parts of the corpus have found; "
        "1: from the corpus's own",
        number=Number.WHOLE,
    ),
}

Say = Callable[[str], None]


def train(
    sentences: Sequence[Sentence],
    *,
    tune: Sequence[Sentence] = (),
    epochs: int = parsing.EPOCHS,
    tagger_epochs: int = 8,
    folds: int = FOLDS,
    seed: int = 0,
    say: Say = print,
) -> Pipeline:
    """All steps of annotated sentences.

    Parameters
    ----------
    sentences
        With heads, in the order of their texts.
    tune
        Choose how eagerly sentences are ended, and the parser's best pass.
    folds
        The parser meets tags that a tagger has found, with its mistakes, so it learns from such: those of each of so
        many parts by a tagger of the other parts.
    """
    texts, held = list(paragraphs_of(sentences)), list(paragraphs_of(tune))
    segmenter = learn_segmenter(texts, tune=held, seed=seed, say=say)
    lemmas = learn_lemmas(sentences)
    tagger = _learn_tagger(sentences, tagger_epochs, seed, say)
    learn = list(_retagged(sentences, lemmas, tagger_epochs, folds, seed, say))
    met = _tagged(tune, tagger, lemmas) if tune else []
    parser = parsing.train(learn, MiraSettings(epochs, seed=seed), tune=met, say=lambda line: say(f"parser: {line}"))
    return Pipeline(segmenter, tagger, lemmas, parser)


def _learn_tagger(sentences: Sequence[Sentence], epochs: int, seed: int, say: Say) -> Tagger:
    told = [Tagged(sentence.forms, tags_of(sentence)) for sentence in sentences]
    labels = tuple(sorted({tag for sentence in told for tag in sentence.tags}))
    return train_perceptron(
        "words", TaggedExamples.of(told, labels), epochs=epochs, seed=seed, say=lambda line: say(f"tags: {line}")
    )


def learn_lemmas(sentences: Sequence[Sentence]) -> SuffixRules:
    """Learn rules of lemmas, in contexts of :func:`colgen.problems.pipeline.model.contexts`; None without lemmas."""
    return learn_suffixes(
        (context, form, lemma)
        for sentence in sentences
        for form, lemma, tag in zip(sentence.forms, sentence.lemmas, tags_of(sentence), strict=True)
        if lemma != "_" or form == "_"
        for context in contexts(tag)
    )


def _tagged(sentences: Sequence[Sentence], tagger: Tagger, lemmas: SuffixRules) -> list[Sentence]:
    """Sentences with a tagger's tags in place of their own."""
    found = tagger.tag([sentence.forms for sentence in sentences])
    return [with_tags(sentence, tags, lemmas) for sentence, tags in zip(sentences, found, strict=True)]


def _retagged(
    sentences: Sequence[Sentence], lemmas: SuffixRules, epochs: int, folds: int, seed: int, say: Say
) -> Iterator[Sentence]:
    """Sentences with the tags of taggers that have not seen them."""
    if folds < 2 or len(sentences) < folds:
        yield from sentences
        return
    parts = np.linspace(0, len(sentences), folds + 1).astype(int).tolist()
    for number, (begin, end) in enumerate(itertools.pairwise(parts), 1):
        others = [*sentences[:begin], *sentences[end:]]
        say(f"tags for the parser to learn from, part {number} of {folds}")
        yield from _tagged(sentences[begin:end], _learn_tagger(others, epochs, seed, lambda line: None), lemmas)


def measured(pipeline: Pipeline, sentences: Sequence[Sentence]) -> PipelineScores:
    """How good an analysis of the sentences' raw text is."""
    texts = [text_of(paragraph) for paragraph in paragraphs_of(sentences)]
    return compare(sentences, (found.sentence for found in pipeline.analyse(texts)))


def train_from_files(options: TrainOptions) -> TrainedModel:
    """Train on the sentences of a folder or of files, and test on their raw text."""
    chosen = options.options
    corpus = corpus_of(options)
    corpus.check_heads()
    options.say(f"{len(corpus.learn)} sentences to learn from, {len(corpus.tune)} to choose the parser's pass on")
    pipeline = train(
        corpus.learn,
        tune=corpus.tune,
        epochs=chosen.get("epochs", 1 if options.quick else parsing.EPOCHS),
        tagger_epochs=chosen.get("tagger_epochs", 2 if options.quick else 8),
        folds=chosen.get("folds", FOLDS),
        seed=options.seed,
        say=options.say,
    )

    def measure(name: str, part: list[Sentence]) -> list[Figure]:
        reached = measured(pipeline, part)
        return [Figure(f"{name}.{what}", value, "%", len(part), "F1 on raw text") for what, value in reached.items()]

    return TrainedModel(pipeline, lambda: corpus.figures(len(corpus.learn), measure))

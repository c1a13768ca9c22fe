"""``colgen train pipeline``: train all steps on annotated sentences, and measure them on raw text."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from colgen.cli.option import Number, Option
from colgen.cli.template import Figure, TrainedModel, TrainOptions
from colgen.core.text import plural
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
        f"passes of the parser ({parsing.EPOCHS} by default); the best one on the tuning sentences is kept",
        number=Number.WHOLE,
    ),
    "tagger_epochs": Option("passes of the tagger (8 by default)", number=Number.WHOLE),
    "folds": Option(
        f"number of corpus parts ({FOLDS} by default); the parser is trained on the tags of each part predicted by a "
        "tagger trained on the others; 1: on the gold tags",
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
    """Train all steps on annotated sentences.

    Parameters
    ----------
    sentences
        Sentences with heads, in text order.
    tune
        Sentences that select the threshold of sentence breaks and the parser's best pass.
    folds
        Number of parts for jackknifing: the parser is trained on tags with realistic mistakes, those of each part
        predicted by a tagger trained on the other parts.
    """
    texts, held = list(paragraphs_of(sentences)), list(paragraphs_of(tune))
    segmenter = learn_segmenter(texts, tune=held, seed=seed, say=say)
    lemmas = learn_lemmas(sentences)
    tagger = _learn_tagger(sentences, tagger_epochs, seed, say)
    learn = list(_predict_tags_by_folds(sentences, lemmas, tagger_epochs, folds, seed, say))
    met = _predict_tags(tune, tagger, lemmas) if tune else []
    parser = parsing.train(learn, MiraSettings(epochs, seed=seed), tune=met, say=lambda line: say(f"parser: {line}"))
    return Pipeline(segmenter, tagger, lemmas, parser)


def _learn_tagger(sentences: Sequence[Sentence], epochs: int, seed: int, say: Say) -> Tagger:
    examples = [Tagged(sentence.forms, tags_of(sentence)) for sentence in sentences]
    labels = tuple(sorted({tag for sentence in examples for tag in sentence.tags}))
    return train_perceptron(
        "words", TaggedExamples.of(examples, labels), epochs=epochs, seed=seed, say=lambda line: say(f"tags: {line}")
    )


def learn_lemmas(sentences: Sequence[Sentence]) -> SuffixRules:
    """Return lemma rules in the contexts of :func:`colgen.problems.pipeline.model.contexts`."""
    return learn_suffixes(
        (context, form, lemma)
        for sentence in sentences
        for form, lemma, tag in zip(sentence.forms, sentence.lemmas, tags_of(sentence), strict=True)
        if lemma != "_" or form == "_"
        for context in contexts(tag)
    )


def _predict_tags(sentences: Sequence[Sentence], tagger: Tagger, lemmas: SuffixRules) -> list[Sentence]:
    """Return sentences with a tagger's tags in place of their own."""
    found = tagger.tag([sentence.forms for sentence in sentences])
    return [with_tags(sentence, tags, lemmas) for sentence, tags in zip(sentences, found, strict=True)]


def _predict_tags_by_folds(
    sentences: Sequence[Sentence], lemmas: SuffixRules, epochs: int, folds: int, seed: int, say: Say
) -> Iterator[Sentence]:
    """Yield sentences with tags predicted by taggers that were not trained on them."""
    if folds < 2 or len(sentences) < folds:
        yield from sentences
        return
    parts = np.linspace(0, len(sentences), folds + 1).astype(int).tolist()
    for number, (begin, end) in enumerate(itertools.pairwise(parts), 1):
        others = [*sentences[:begin], *sentences[end:]]
        say(f"tags for training the parser, part {number} of {folds}")
        yield from _predict_tags(sentences[begin:end], _learn_tagger(others, epochs, seed, lambda line: None), lemmas)


def measure_scores(pipeline: Pipeline, sentences: Sequence[Sentence]) -> PipelineScores:
    """Return the scores of an analysis of the sentences' raw text."""
    texts = [text_of(paragraph) for paragraph in paragraphs_of(sentences)]
    return compare(sentences, (found.sentence for found in pipeline.analyse(texts)))


def train_from_files(options: TrainOptions) -> TrainedModel:
    """Train on the sentences of a folder or of files, and test on their raw text."""
    chosen = options.options
    corpus = corpus_of(options)
    corpus.check_heads()
    options.say(f"{plural(len(corpus.learn), 'sentence')} to train on, {len(corpus.tune)} to select the parser's pass")
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
        reached = measure_scores(pipeline, part)
        return [Figure(f"{name}.{what}", value, "%", len(part), "F1 on raw text") for what, value in reached.items()]

    return TrainedModel(pipeline, lambda: corpus.figures(len(corpus.learn), measure))

"""Benchmark of the pipeline on raw text, beside UDPipe 1 that learns from the same sentences in the same run.

UDPipe's training takes hours on a whole treebank: both learn from the same first sentences, and are tested on all test
sentences.  Seconds are those of the processor, on one thread; both have analysed a few sentences before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from benchmarks.harness import BenchOptions, Say, measure, spread
from benchmarks.pipeline.udpipe import UDPipe, is_installed, read_back
from colgen.cli.template import Figure
from colgen.core.text import plural
from colgen.problems.dependency.corpus import Corpus, read_corpus
from colgen.problems.dependency.sentence import Sentence
from colgen.problems.grandparent_parsing.parser import parse_sentences
from colgen.problems.grandparent_parsing.training import EPOCHS
from colgen.problems.pipeline.evaluation import compare
from colgen.problems.pipeline.model import Pipeline
from colgen.problems.pipeline.texts import paragraphs_of, text_of
from colgen.problems.pipeline.training import train

_FOLDER = "english_ewt"
_MINUTES = 60.0
_RUNS = 3


def bench_pipeline(options: BenchOptions) -> list[Figure]:
    """Accuracy of each step, words a second, and the same of UDPipe where its package is there."""
    data = options.folder(
        "this benchmark needs a treebank: say --data DIR; a folder with files in CoNLL-U whose names hold train, "
        f"dev and test, or one that has such a folder {_FOLDER}"
    )
    folder = data / _FOLDER
    corpus = read_corpus(folder if folder.is_dir() else data, ("train", "dev", "test"))
    learn, tune, most, epochs = (100, 20, 20, 1) if options.quick else (1000, 300, None, EPOCHS)
    test = spread(corpus.test[:most], options.share(_MINUTES))
    corpus = Corpus(corpus.name, corpus.learn[:learn], corpus.tune[:tune], test)
    figures = [Figure("sentences_learned", len(corpus.learn), "", 1, "by both")]
    figures += _ours(corpus, epochs, options.say)
    if not is_installed():
        options.say("UDPipe is left out: its package ufal.udpipe is not installed")
    elif not options.quick:
        figures += _theirs(corpus, options.say)
    return figures


def _ours(corpus: Corpus, epochs: int, say: Say) -> list[Figure]:
    pipeline, seconds = measure(lambda: train(corpus.learn, tune=corpus.tune, epochs=epochs, say=say))
    texts = _texts(corpus.test)
    list(pipeline.analyse(texts[:2]))
    figures = _measured("", corpus, lambda: [found.sentence for found in pipeline.analyse(texts)])
    analysed = list(pipeline.analyse(texts))
    proved = sum(found.parse.is_optimal for found in analysed)
    return [
        *figures,
        Figure("proved", 100.0 * proved / len(analysed), "%", len(analysed), "trees that are proved to be the best"),
        *_steps(pipeline, texts),
        Figure("training_seconds", seconds, "s", 1, plural(len(corpus.learn), "sentence")),
    ]


def _steps(pipeline: Pipeline, texts: Sequence[str]) -> list[Figure]:
    """Words a second of each step."""
    _, segmenting = measure(lambda: pipeline.segmenter.segment(texts), _RUNS)
    tagged, up_to_tags = measure(lambda: list(pipeline.tag_paragraphs(texts)), _RUNS)
    _, parsing = measure(lambda: list(parse_sentences(tagged, pipeline.parser)), _RUNS)
    words = sum(map(len, tagged))
    seconds = {"segmentation": segmenting, "tags": up_to_tags - segmenting, "trees": parsing}
    return [
        Figure(f"words_per_second_{step}", words / max(spent, 1e-9), "1/s", _RUNS, "this step alone")
        for step, spent in seconds.items()
    ]


def _theirs(corpus: Corpus, say: Say) -> list[Figure]:
    say("UDPipe learns, with its defaults")
    udpipe, seconds = measure(lambda: UDPipe(corpus.learn, corpus.tune))
    texts = _texts(corpus.test)
    udpipe.conllu(texts[:2])
    figures = _measured("udpipe_", corpus, lambda: udpipe.conllu(texts))
    return [*figures, Figure("udpipe_training_seconds", seconds, "s", 1, plural(len(corpus.learn), "sentence"))]


def _measured(name: str, corpus: Corpus, analyse: Callable[[], str | list[Sentence]]) -> list[Figure]:
    """Accuracy and words a second of an analysis of the test sentences' text."""
    found, seconds = measure(analyse, _RUNS)
    sentences = read_back(found) if isinstance(found, str) else found
    scores = compare(corpus.test, sentences)
    count, words = len(corpus.test), sum(map(len, corpus.test))
    return [
        *(Figure(f"{name}{what}", value, "%", count, "F1 on raw text") for what, value in scores.items()),
        Figure(f"{name}words_per_second", words / seconds, "1/s", _RUNS, "from raw text to trees"),
    ]


def _texts(sentences: Sequence[Sentence]) -> list[str]:
    return [text_of(paragraph) for paragraph in paragraphs_of(sentences)]

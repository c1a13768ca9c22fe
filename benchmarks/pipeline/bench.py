"""Benchmark of the pipeline on raw text, compared with UDPipe 1 trained on the same sentences in the same run.

UDPipe needs hours to train on a complete treebank, so both learn from the first sentences.  Both are tested on all test
sentences.  Seconds are processor time on one thread, after a first call on a few sentences.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from benchmarks.harness import BenchOptions, Say, measure, spread
from benchmarks.pipeline.udpipe import UDPipe, is_installed, parse_output
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
    """Measure accuracy of each step and words per second, and the same for UDPipe if it is installed."""
    data = options.folder(
        "this benchmark needs a treebank: add --data DIR, a folder of CoNLL-U files with train, dev and test in their "
        f"names, or a folder that contains such a folder {_FOLDER}"
    )
    folder = data / _FOLDER
    corpus = read_corpus(folder if folder.is_dir() else data, ("train", "dev", "test"))
    learn, tune, most, epochs = (100, 20, 20, 1) if options.quick else (1000, 300, None, EPOCHS)
    test = spread(corpus.test[:most], options.share(_MINUTES))
    corpus = Corpus(corpus.name, corpus.learn[:learn], corpus.tune[:tune], test)
    figures = [Figure("sentences_learned", len(corpus.learn), "", 1, "by both")]
    figures += _measure_pipeline(corpus, epochs, options.say)
    if not is_installed():
        options.say("UDPipe is skipped: its package ufal.udpipe is not installed")
    elif not options.quick:
        figures += _measure_udpipe(corpus, options.say)
    return figures


def _measure_pipeline(corpus: Corpus, epochs: int, say: Say) -> list[Figure]:
    pipeline, seconds = measure(lambda: train(corpus.learn, tune=corpus.tune, epochs=epochs, say=say))
    texts = _texts(corpus.test)
    list(pipeline.analyse(texts[:2]))
    figures = _measure_analysis("", corpus, lambda: [one.sentence for one in pipeline.analyse(texts)])
    analysed = list(pipeline.analyse(texts))
    proved = sum(one.parse.is_optimal for one in analysed)
    return [
        *figures,
        Figure("proved", 100.0 * proved / len(analysed), "%", len(analysed), "trees proved optimal"),
        *_measure_steps(pipeline, texts),
        Figure("training_seconds", seconds, "s", 1, plural(len(corpus.learn), "sentence")),
    ]


def _measure_steps(pipeline: Pipeline, texts: Sequence[str]) -> list[Figure]:
    """Measure words per second of each step."""
    _, segmenting = measure(lambda: pipeline.segmenter.segment(texts), _RUNS)
    tagged, up_to_tags = measure(lambda: list(pipeline.tag_paragraphs(texts)), _RUNS)
    _, parsing = measure(lambda: list(parse_sentences(tagged, pipeline.parser)), _RUNS)
    words = sum(map(len, tagged))
    seconds = {"segmentation": segmenting, "tags": up_to_tags - segmenting, "trees": parsing}
    return [
        Figure(f"words_per_second_{step}", words / max(spent, 1e-9), "1/s", _RUNS, "this step alone")
        for step, spent in seconds.items()
    ]


def _measure_udpipe(corpus: Corpus, say: Say) -> list[Figure]:
    say("training UDPipe with its defaults")
    udpipe, seconds = measure(lambda: UDPipe(corpus.learn, corpus.tune))
    texts = _texts(corpus.test)
    udpipe.conllu(texts[:2])
    figures = _measure_analysis("udpipe_", corpus, lambda: udpipe.conllu(texts))
    return [*figures, Figure("udpipe_training_seconds", seconds, "s", 1, plural(len(corpus.learn), "sentence"))]


def _measure_analysis(name: str, corpus: Corpus, analyse: Callable[[], str | list[Sentence]]) -> list[Figure]:
    """Measure accuracy and words per second on the text of the test sentences."""
    output, seconds = measure(analyse, _RUNS)
    sentences = parse_output(output) if isinstance(output, str) else output
    scores = compare(corpus.test, sentences)
    count, words = len(corpus.test), sum(map(len, corpus.test))
    return [
        *(Figure(f"{name}{what}", value, "%", count, "F1 on raw text") for what, value in scores.items()),
        Figure(f"{name}words_per_second", words / seconds, "1/s", _RUNS, "from raw text to trees"),
    ]


def _texts(sentences: Sequence[Sentence]) -> list[str]:
    return [text_of(paragraph) for paragraph in paragraphs_of(sentences)]

"""Benchmark of the pipeline on raw text, compared with UDPipe 1 trained on the same sentences in the same run.

UDPipe needs hours to train on a complete treebank, so both learn from the first sentences.  Both are tested on all test
sentences.  Seconds are processor time on one thread, after a first call on a few sentences.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.harness import BenchOptions, Say, measure, say_nothing, spread
from benchmarks.pipeline.languages import Clitics, Text, unseen_tokens, unspaced_text
from benchmarks.pipeline.udpipe import UDPipe, is_installed, parse_output
from colgen.cli.template import Figure
from colgen.core.text import plural
from colgen.problems.dependency.conll import read_conll
from colgen.problems.dependency.corpus import Corpus, read_corpus
from colgen.problems.dependency.sentence import Sentence
from colgen.problems.grandparent_parsing.parser import parse_sentences
from colgen.problems.grandparent_parsing.training import EPOCHS
from colgen.problems.pipeline.evaluation import compare
from colgen.problems.pipeline.model import Pipeline, with_tokens
from colgen.problems.pipeline.segmentation import learn_segmenter
from colgen.problems.pipeline.splitting import learn_splitter
from colgen.problems.pipeline.texts import paragraphs_of, text_of
from colgen.problems.pipeline.training import train

_FOLDER = "english_ewt"
_MINUTES = 60.0
_RUNS = 3
_SEEDS = 3

_TREEBANKS = {
    "hungarian": tuple(f"hu_szeged-ud-{part}" for part in ("train", "dev", "test")),
    "italian": ("it_partut-ud-train", "it_isdt-ud-dev", "it_isdt-ud-test"),
}
"""Files to learn from, to tune on and to test on."""


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
    return [*figures, *_measure_words(data, options)]


def _measure_words(data: Path, options: BenchOptions) -> list[Figure]:
    """Measure words of other languages by the segmenter alone: of two treebanks, if present, and generated ones."""
    figures = []
    for language, files in _TREEBANKS.items():
        if options.quick or not (data / language).is_dir():
            options.say(f"words of {language}/ are skipped")
            continue
        learn, tune, test = (read_conll(data / language / f"{name}.conllu") for name in files)
        segmenter = learn_segmenter([*paragraphs_of(learn)], tune=[*paragraphs_of(tune)], say=say_nothing)
        found = [with_tokens(tokens) for text in segmenter.segment(_texts(test)) for tokens in text]
        figures.append(Figure(f"words_f1_{language}", compare(test, found).words, "%", len(test), "F1 on raw text"))
    seeds = range(1 if options.quick else _SEEDS)
    unseen = [_unseen_words(Clitics.of(seed)) for seed in seeds]
    right, count = (sum(numbers) for numbers in zip(*unseen, strict=True))
    figures.append(Figure("unseen_multiword_right", 100.0 * right / count, "%", count, "clitics, unseen stems"))
    joined = [_unspaced_words(unspaced_text(seed)) for seed in seeds]
    return [*figures, Figure("words_f1_no_spaces", sum(joined) / len(joined), "%", len(joined), "generated languages")]


def _unseen_words(language: Clitics) -> tuple[int, int]:
    """Return how many unseen multiword tokens get their words, and the number of such tokens."""
    splitter = learn_splitter((token for one in language.train for token in one), say=say_nothing)
    multiword = [token for token in unseen_tokens(language) if token.is_multiword]
    found = splitter.split([token.form for token in multiword])
    return sum(words == token.words for words, token in zip(found, multiword, strict=True)), len(multiword)


def _unspaced_words(text: Text) -> float:
    """Return the F1 of tokens of the last sixth of a text, learned from the others."""
    begin = 5 * len(text) // 6
    learn, test = ([with_tokens(tokens) for tokens in part] for part in (text[:begin], text[begin:]))
    segmenter = learn_segmenter([*paragraphs_of(learn)], say=say_nothing)
    (found,) = segmenter.segment([text_of(text[begin:])])
    return compare(test, [with_tokens(tokens) for tokens in found]).tokens


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

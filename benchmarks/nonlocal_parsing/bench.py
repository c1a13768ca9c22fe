"""Benchmark of parsing with factors: the source's comparison of families, candidate heads and search effort.

The parser is trained on each corpus of the folder; times exclude training.  All compared methods are measured in one
run on one thread.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from benchmarks.harness import BenchOptions, Plan, spread
from benchmarks.nonlocal_parsing.search import (
    Parsed,
    compare_methods,
    compare_with_columns,
    compare_with_mip,
    measure_kernels,
    measure_speed,
    parse_all,
)
from colgen.cli.template import Figure
from colgen.core.files import write_figure
from colgen.problems.dependency.corpus import Corpus, read_corpus
from colgen.problems.dependency.evaluation import attachment, attachment_figures
from colgen.problems.dependency.sentence import Heads, Sentence
from colgen.problems.nonlocal_parsing.decoding import accuracy, labelled
from colgen.problems.nonlocal_parsing.examples import ParsedExamples
from colgen.problems.nonlocal_parsing.families import COMBINATION, FAMILIES
from colgen.problems.nonlocal_parsing.learner import FilterLearner, ParserLearner
from colgen.problems.nonlocal_parsing.learning import (
    BACKBONE,
    FAMILIES_STAGE,
    FILTER,
    NonlocalSettings,
    run_stage,
    train_labels,
)
from colgen.problems.nonlocal_parsing.scoring import Model
from colgen.problems.nonlocal_parsing.training import NEEDED
from colgen.reporting.axes import new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

CORPORA = ("english_ewt", "italian")
"""Folders that are measured if they exist in the data folder."""

_MINUTES = 60.0
"""Approximate minutes for all test sentences."""

CANDIDATES: tuple[int | None, ...] = (3, 5, 10, 20, None)


@dataclass(frozen=True)
class FactorPlan(Plan):
    """Amount of work; ``learn`` and ``test`` are numbers of sentences, None for all.

    Attributes
    ----------
    epochs, more_epochs
        Epochs of the backbone, and of each family together with it (the compared backbone has as many).
    methods, mips
        Sentences on which the ascent methods, and branch and bound and HiGHS, are compared.
    """

    learn: int | None = None
    test: int | None = None
    filter_epochs: int = 3
    epochs: int = 4
    more_epochs: int = 2
    limit: float = 10.0
    methods: int = 200
    mips: int = 30
    mip_limit: float = 20.0
    lengths: tuple[int, ...] = (20, 30, 40, 60)


QUICK = FactorPlan(120, 20, 1, 1, 1, 2.0, 8, 3, 5.0, (10, 15))


def bench_nonlocal_parsing(options: BenchOptions) -> Sequence[Figure]:
    """Run the source's experiment on each corpus."""
    data = options.folder(
        "this benchmark needs treebanks: add --data DIR, a folder with train and test files in CoNLL-U, or with such "
        f"folders named {' and '.join(CORPORA)}; Universal Dependencies are at universaldependencies.org"
    )
    share = options.share(_MINUTES)
    plan = (QUICK if options.quick else FactorPlan()).cut(share, "methods", "mips")
    corpora = [read_corpus(folder, NEEDED) for folder in _folders(data)]
    if options.quick:
        corpora = corpora[:1]
    figures: list[Figure] = []
    curves: dict[str, dict[str, Setting]] = {}
    for number, corpus in enumerate(corpora):
        cut = corpus.cut(plan.learn, plan.test)
        cut = replace(
            cut, learn=spread(cut.learn, share), test=spread(cut.test, share)
        )  # training takes most of the time
        measured, curves[corpus.name] = measure_corpus(cut, plan, options, first=number == 0)
        figures += measured
    figures += measure_kernels(plan.lengths)
    if options.plot is not None:
        write_figure(draw_candidates(curves), options.plot)
    return figures


def _folders(data: Path) -> list[Path]:
    folders = [data / name for name in CORPORA if (data / name).is_dir()]
    return folders or [data]


def measure_corpus(
    corpus: Corpus, plan: FactorPlan, options: BenchOptions, *, first: bool
) -> tuple[list[Figure], dict[str, Setting]]:
    """Measure accuracy of all models, then speed, effort and proofs of the combination.

    Figures without the name of a corpus are those of the first one.
    """
    name = corpus.name
    options.say(f"{name}: {len(corpus.learn)} training sentences, {len(corpus.test)} test sentences")
    figures: list[Figure] = []
    chosen: Model | None = None
    for label, model in train_models(corpus, plan, options):
        chosen = model if label == "combination" else chosen
        runs = parse_all(model, corpus.test, 10, plan.limit)
        figures += _measure_accuracy(f"{name}_{label}", corpus.test, [_heads(r) for r in runs])
        options.say(f"{name}, {label}: {figures[-2].value:.2f}% with, {figures[-1].value:.2f}% without punctuation")
    assert chosen is not None
    figures += _measure_relations(name, corpus, chosen, plan)
    curves: dict[str, Setting] = {}
    for k in CANDIDATES:
        label = "unpruned" if k is None else f"k{k}"
        runs = parse_all(chosen, corpus.test, k, plan.limit)
        quality = _measure_accuracy(f"{name}_{label}", corpus.test, [_heads(r) for r in runs])
        curves["all" if k is None else str(k)] = Setting(runs, quality[1].value)
        figures += quality
        measured = measure_speed(runs, f"{name}_{label}")
        if first:
            figures += measure_speed(runs, label)
        figures += measured
        options.say(f"{name}, {label}: {measured[0].value:,.0f} words per second, {measured[2].value:.1f} calls")
    if first:
        some = [chosen.instance(sentence, 10) for sentence in spread(corpus.test, most=plan.methods)]
        figures += compare_methods(some, plan.limit)
        some = [chosen.instance(sentence, 10) for sentence in spread(corpus.test, most=plan.mips)]
        figures += compare_with_mip(some, plan.mip_limit)
        figures.append(compare_with_columns(some, plan.mip_limit))
    return figures, curves


def train_models(corpus: Corpus, plan: FactorPlan, options: BenchOptions) -> Iterator[tuple[str, Model]]:
    """Train the backbone, each family with it, the combination, and the third-order parser."""
    examples = ParsedExamples(corpus.learn)
    settings = NonlocalSettings(filter_epochs=plan.filter_epochs, epochs=plan.epochs, family_epochs=plan.more_epochs)
    filtered = run_stage(FilterLearner(examples), FILTER, settings, say=options.say)
    common = ParserLearner(examples, filtered, settings.backbone)
    run_stage(common, BACKBONE, settings, say=options.say)
    models: dict[str, tuple[str, ...]] = {"backbone": ()}
    models |= {family: (family,) for family in FAMILIES}
    models["combination"] = COMBINATION
    for label, families in models.items():
        learner = common.with_families(families)
        yield label, run_stage(learner, FAMILIES_STAGE, settings, say=options.say, name=label).compact()
    third = ParserLearner(examples, filtered, "third")
    run_stage(third, BACKBONE, settings, say=options.say, name="third order")
    yield "third_order", run_stage(third, FAMILIES_STAGE, settings, say=options.say, name="third order").compact()


def _measure_relations(name: str, corpus: Corpus, model: Model, plan: FactorPlan) -> list[Figure]:
    """Measure labelled attachment; return no figures for a corpus without relations."""
    model = replace(model, labels=train_labels(ParsedExamples(corpus.learn)))
    trees = [_heads(run) for run in parse_all(model, corpus.test, 10, plan.limit)]
    reached = attachment(zip(corpus.test, labelled(model, corpus.test, trees), strict=True))
    _, *figures = attachment_figures(reached, len(trees), lambda measure: f"{measure}_{name}")
    return figures


def _heads(run: Parsed) -> Heads:
    return tuple(range(run.words)) if run.heads is None else run.heads


def _measure_accuracy(name: str, sentences: Sequence[Sentence], trees: Sequence[Heads]) -> list[Figure]:
    reached, n = accuracy(sentences, trees), len(sentences)
    return [
        Figure(f"accuracy_{name}", reached.uas, "%", n, "unlabeled, punctuation included"),
        Figure(f"accuracy_words_{name}", reached.uas_without_punctuation, "%", n, "unlabeled, without punctuation"),
    ]


# --- the picture -----------------------------------------------------------------------------------------------------


class Setting(NamedTuple):
    """Parses of a corpus in one setting, and the percentage of correct heads."""

    runs: Sequence[Parsed]
    accuracy: float


_STYLES = (("-", "o", "0.0"), ("--", "s", "0.0"), (":", "^", "0.0"), ("-", "D", "0.6"), ("--", "v", "0.6"))
"""Line, marker and grey of each setting, distinguishable without colours."""


def draw_candidates(corpora: Mapping[str, Mapping[str, Setting]], width: int = 5) -> Picture:
    """Plot, by corpus and candidate heads, seconds and calls by sentence length, and accuracy by speed."""
    figure = new_figure((12.0, 3.6 * len(corpora)))
    rows = figure.subplots(len(corpora), 3, squeeze=False)
    for (corpus, settings), axes in zip(corpora.items(), rows, strict=True):
        for (name, setting), (line, marker, grey) in zip(settings.items(), cycle(_STYLES)):
            style = {"linestyle": line, "marker": marker, "markersize": 4, "color": grey, "label": name}
            lengths = np.array([run.words for run in setting.runs])
            bins = (lengths - 1) // width
            middles = [width * b + (width + 1) / 2 for b in np.unique(bins)]
            several = ([run.seconds for run in setting.runs], [run.calls for run in setting.runs])
            for ax, values in zip(axes, several, strict=False):
                ax.plot(middles, [np.array(values)[bins == b].mean() for b in np.unique(bins)], **style)
            speed = lengths.sum() / sum(run.seconds for run in setting.runs)
            axes[2].plot([speed], [setting.accuracy], marker, color=grey)
            axes[2].annotate(name, (speed, setting.accuracy), textcoords="offset points", xytext=(6, -4))
        labels = (
            ("words in the sentence", "seconds", f"{corpus}: seconds, scores included"),
            ("words in the sentence", "calls", f"{corpus}: calls of the dynamic program"),
            ("words per second", "correct heads (%)", f"{corpus}: accuracy and speed"),
        )
        for ax, (x, y, title) in zip(axes, labels, strict=True):
            ax.set_xlabel(x)
            ax.set_ylabel(y)
            ax.set_title(title, fontsize=10)
            ax.grid(alpha=0.3)
        axes[0].set_yscale("log")
        axes[0].legend(title="candidate heads", fontsize=8, title_fontsize=8)
        axes[2].margins(0.2)
    return figure

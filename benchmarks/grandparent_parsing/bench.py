"""Benchmark of grandparent parsing: the source's two tables, and speed and accuracy of the exact parser on test sets.

The tables compare linear programs of grandparent models, trained without siblings, on the same sentences:

* brute force scores all parts and solves the complete program;
* price and cut is this project's method, which starts with the combinatorial dual;
* the published method starts with the source's initial parts, at the basis of the best tree of the arcs, and has a
  flow instead of cuts.  It allows any number of tokens under the root, because its initial parts may contain no good
  tree with exactly one.

Each method solves all sentences of a length class in a separate run.  Times exclude training and the compilation of
models, which happens once per length.  Everything runs on one thread, in processor seconds.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import mean
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.grandparent_parsing.kept_duals import compare_kept_duals
from benchmarks.harness import (
    BenchOptions,
    Plan,
    Say,
    check_agreement,
    mean_ratio,
    measure,
    spread,
    take_turns,
)
from colgen import InputError, Result, Sense, solve
from colgen.cli.template import Figure
from colgen.core.budget import begin_peak, peak_bytes
from colgen.core.files import write_figure
from colgen.core.tolerances import TOLERANCES
from colgen.problems.dependency.corpus import Corpus, read_corpus
from colgen.problems.dependency.evaluation import attachment, attachment_figures
from colgen.problems.dependency.learning import MiraSettings
from colgen.problems.dependency.scorer import SentenceScorer, Weights
from colgen.problems.dependency.sentence import Heads, Sentence
from colgen.problems.grandparent_parsing.baseline import Relaxed, compiled_complete, solve_complete
from colgen.problems.grandparent_parsing.instance import as_heads
from colgen.problems.grandparent_parsing.model import FORMULATIONS
from colgen.problems.grandparent_parsing.parser import add_relations, parse, parse_sentences
from colgen.problems.grandparent_parsing.parses import Parse
from colgen.problems.grandparent_parsing.separation import arc_values
from colgen.problems.grandparent_parsing.template import GrandparentParsing
from colgen.problems.grandparent_parsing.training import EPOCHS, train
from colgen.reporting.axes import new_figure
from colgen.solvers.trees.arborescence import arborescence

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

LANGUAGES = ("danish", "hungarian", "italian", "english_ewt")

ATTENUATION = {"hungarian": 1.0}
"""Attenuation by corpus if not the default: this one has few sentences, whose trees gain much from triples."""

LEARN = {"english_ewt": 4000}
"""Maximum number of training sentences of corpora that would otherwise take an hour."""

_FEW_TO_LEARN = 20
"""Sentences of a first training that loads the kernels."""

_FEW = 100
"""Sentences that are parsed in one batch and one by one."""

_TURNS = 3
"""Repetitions of that."""

_RUNS = 2
"""Runs per sentence and way; the shortest counts, because garbage collection falls into some of them."""

_MINUTES = 45.0
"""Approximate minutes for all test sentences of all languages."""

_INTEGRALITY = TOLERANCES.integrality


@dataclass(frozen=True)
class ParsingPlan(Plan):
    """Size of the parsing benchmark.

    Attributes
    ----------
    classes
        Number of sentences by the largest number of tokens of each length class of the tables.
    epochs, table_epochs
        Epochs of the complete model, and of the grandparent model of the tables.
    learn, test
        Numbers of training and test sentences; None for all.
    generic
        Sentences on which column generation by the engine alone is compared with the parser.
    """

    classes: Mapping[int, int]
    epochs: int = EPOCHS
    table_epochs: int = 3
    learn: int | None = None
    test: int | None = None
    generic: int = 20


FULL = ParsingPlan({10: 10, 15: 10, 20: 10, 25: 10, 40: 5})
QUICK = ParsingPlan({6: 2, 8: 2}, 1, 1, 100, 20, 3)


@dataclass(frozen=True)
class Priced:
    """One sentence's relaxation by column generation: processor seconds, numbers of grandparent parts.

    ``stages`` are wall-clock seconds by stage, as in :class:`~colgen.Result`.
    """

    objective: float
    seconds: float
    scored: int
    added: int
    whole: bool
    heads: Heads
    rounds: int
    stages: Mapping[str, float]


@dataclass(frozen=True)
class ComparedSentence:
    """One sentence solved by brute force with each outer bound, by both column generation methods, and by the parser.

    Attributes
    ----------
    complete
        Brute force by outer bound, with separated cuts; ``"flow"``: all rows, and a flow instead of cuts;
        ``"published ..."``: the outer bound with a flow and any number of tokens under the root.
    ours, published
        Price and cut as implemented here and as published.
    """

    sentence: Sentence
    complete: Mapping[str, Relaxed]
    ours: Priced
    published: Priced
    exact: Parse
    exact_seconds: float


def bench_grandparent_parsing(options: BenchOptions) -> list[Figure]:
    """Reproduce the source's tables, then measure speed and accuracy of the exact parser."""
    data = options.folder(
        "this benchmark needs treebanks: add --data DIR, a folder of CoNLL-U files with train, dev and test in their "
        "names, or of such folders named " + ", ".join(LANGUAGES)
    )
    folders = [data / language for language in LANGUAGES if (data / language).is_dir()]
    share = options.share(_MINUTES)
    plan = (QUICK if options.quick else FULL).cut(share, "generic")
    plan = replace(plan, classes={most: math.ceil(share * count) for most, count in plan.classes.items()})
    figures: list[Figure] = []
    drawn: list[ComparedSentence] = []
    for folder in folders or [data]:
        corpus = read_corpus(folder)
        if not corpus.test:
            raise InputError(f"{folder}: expected a CoNLL-U or CoNLL-X file with 'test' in its name, found none")
        corpus = corpus.cut(plan.learn or LEARN.get(corpus.name), plan.test)
        corpus = replace(corpus, learn=spread(corpus.learn, share), test=spread(corpus.test, share))
        compared = compare(corpus, plan, options.say)
        drawn += compared
        figures += [*compare_with_brute_force(corpus.name, compared, plan), *compare_bounds(corpus.name, compared)]
        figures += measure_test_set(corpus, plan, options.say)
    if options.plot is not None:
        write_figure(draw_seconds(drawn), options.plot)
    return figures


def compare(corpus: Corpus, plan: ParsingPlan, say: Say) -> list[ComparedSentence]:
    """Solve sentences of each length class by all methods."""
    say(f"{corpus.name}: training the grandparent model of the tables")
    weights = train(
        corpus.learn, MiraSettings(epochs=plan.table_epochs, kinds=("grandparents",), relations="tree"), say=say
    )
    assert weights.bounds  # computed before timing
    compared: list[ComparedSentence] = []
    least = 2
    for most, count in plan.classes.items():
        chosen = choose(corpus.test, least, most, count)
        if chosen:
            compared += compare_class(chosen, weights)
            say(f"{corpus.name}: {len(chosen)} sentences of {least} to {most} tokens compared")
        least = most + 1
    if not compared:
        raise InputError(f"expected test sentences of 2 to {least - 1} tokens, found none")
    return compared


def choose(sentences: Sequence[Sentence], least: int, most: int, count: int) -> list[Sentence]:
    """Return ``count`` sentences of a length class, spread over the file."""
    return spread([sentence for sentence in sentences if least <= len(sentence) <= most], most=count)


def compare_class(sentences: Sequence[Sentence], weights: Weights) -> list[ComparedSentence]:
    """Solve sentences by all methods, one method after the other."""
    single_root = weights.single_root
    programs = {name: (name, "cuts", single_root) for name in FORMULATIONS}
    programs |= {"flow": ("all", "flow", single_root)}
    programs |= {f"published {name}": (name, "flow", False) for name in FORMULATIONS}
    complete: list[dict[str, Relaxed]] = [{} for _ in sentences]
    for name, (formulation, connectivity, single) in programs.items():
        for sentence in sentences:
            compiled_complete(len(sentence), formulation, connectivity=connectivity, single_root=single)
        for by_program, sentence in zip(complete, sentences, strict=True):
            runs = [
                solve_complete(_fresh(sentence, weights), formulation, connectivity=connectivity, single_root=single)
                for _ in range(_RUNS)
            ]
            by_program[name] = min(runs, key=lambda run: run.seconds)
    ours = price_sentences(sentences, weights, start="dual")
    published = price_sentences(sentences, weights, start="parts", connectivity="flow", single_root=False)
    parse(_fresh(sentences[0], weights))  # compiles the kernels
    exact = [measure(partial(_parse, sentence, weights), _RUNS) for sentence in sentences]
    return [
        ComparedSentence(sentence, by_program, own, other, tree, seconds)
        for sentence, by_program, own, other, (tree, seconds) in zip(
            sentences, complete, ours, published, exact, strict=True
        )
    ]


def _parse(sentence: Sentence, weights: Weights) -> Parse:
    return parse(_fresh(sentence, weights))


def _fresh(sentence: Sentence, weights: Weights) -> SentenceScorer:
    scorer = weights.scorer(sentence)
    assert scorer.arcs is not None  # computed here, outside all timing
    return scorer


def price_sentences(sentences: Sequence[Sentence], weights: Weights, *, start: str, **options: Any) -> list[Priced]:
    """Solve relaxations by column generation; return the shortest run of each."""
    for sentence in sentences:  # compiles the models
        compiling = "tree" if start == "dual" else start
        GrandparentParsing(_fresh(sentence, weights), start=compiling, **options).master()
    solve(
        GrandparentParsing(_fresh(sentences[0], weights), start=start, **options), relaxation=True
    )  # compiles the kernels
    priced = []
    for sentence in sentences:
        (problem, result), seconds = measure(partial(_relax, sentence, weights, start, options), _RUNS)
        priced.append(_describe(problem, result, seconds))
    return priced


def _relax(
    sentence: Sentence, weights: Weights, start: str, options: Mapping[str, Any]
) -> tuple[GrandparentParsing, Result]:
    problem = GrandparentParsing(_fresh(sentence, weights), start=start, **options)
    return problem, solve(problem, relaxation=True)


def _describe(problem: GrandparentParsing, result: Result, seconds: float) -> Priced:
    assert result.solution is not None
    z = arc_values(result.solution, problem.tokens)
    tree = arborescence(z, single_root=problem.single_root)
    assert tree is not None
    return Priced(
        result.objective,
        seconds,
        problem.scored["grandparent"],
        problem.added["grandparent"],
        bool((np.abs(z - z.round()) <= _INTEGRALITY).all()),
        as_heads(tree[0]),
        len(result.iterations),
        result.seconds,
    )


def compare_with_brute_force(name: str, compared: Sequence[ComparedSentence], plan: ParsingPlan) -> list[Figure]:
    """Compare price and cut with brute force with all rows."""
    n, least = len(compared), 2
    figures = [_ratio(f"{name}.speedup_vs_brute_force", compared, "all", lambda c: c.ours.seconds)]
    for most in plan.classes:
        members = [c for c in compared if least <= len(c.sentence) <= most]
        if members:
            label = f"{name}.speedup_{least}_to_{most}"
            figures.append(_ratio(label, members, "all", lambda c: c.ours.seconds, "tokens"))
        least = most + 1
    ours, published = [c.ours for c in compared], [c.published for c in compared]
    figures += _count_parts(name, compared, ours, "all")
    figures += [
        Figure(
            f"{name}.by_dual",
            100 * mean(c.ours.rounds <= 1 for c in compared),
            "%",
            n,
            "solved without a linear program",
        ),
        Figure(
            f"{name}.brute_force_whole",
            100 * mean(c.complete["all"].is_integral for c in compared),
            "%",
            n,
            "of the optima are trees",
        ),
        Figure(
            f"{name}.table_accuracy",
            _measure_accuracy(compared, [c.ours.heads for c in compared]),
            "%",
            n,
            "price and cut",
        ),
        *_divide_time(f"{name}.time", ours, "of price and cut's time"),
        _ratio(
            f"{name}.paper_speedup",
            compared,
            "published all",
            lambda c: c.published.seconds,
            "published method, compared with brute force on its program",
        ),
        *_count_parts(f"{name}.paper", compared, published, "published all"),
        *_divide_time(f"{name}.paper_time", published, "of the published method's time"),
        _ratio(
            f"{name}.flow_speed",
            compared,
            "all",
            lambda c: c.complete["flow"].seconds,
            "brute force with a flow, compared with cuts",
        ),
        Figure(
            f"{name}.flow_weaker",
            sum(c.complete["flow"].objective > c.complete["all"].objective + _INTEGRALITY for c in compared),
            "sentences",
            n,
            "whose bound is weaker with a flow",
        ),
        _ratio(f"{name}.exact_speedup_vs_brute_force", compared, "all", lambda c: c.exact_seconds, "the exact parser"),
    ]
    return figures


def _ratio(
    name: str,
    compared: Sequence[ComparedSentence],
    program: str,
    faster: Callable[[ComparedSentence], float],
    note: str = "",
) -> Figure:
    """Return the mean ratio of seconds of brute force on a program over another method."""
    return mean_ratio(
        name, [c.complete[program].seconds for c in compared], [faster(c) for c in compared], note, unit="x"
    )


def _count_parts(name: str, compared: Sequence[ComparedSentence], runs: Sequence[Priced], program: str) -> list[Figure]:
    """Describe one column generation method; ``name`` is joined by a dot, or by an underscore if it has a dot."""
    n = len(runs)
    parts = sum(c.complete[program].parts for c in compared)
    worst = max(abs(run.objective - c.complete[program].objective) for run, c in zip(runs, compared, strict=True))
    prefix = name + ("_" if "." in name else ".")
    return [
        Figure(f"{prefix}scored", sum(run.scored for run in runs) / parts, "", n, "share of the grandparent parts"),
        Figure(f"{prefix}added", sum(run.added for run in runs) / parts, "", n, "share of the grandparent parts"),
        Figure(f"{prefix}objective_difference", worst, "", n, "largest, against brute force"),
        Figure(f"{prefix}whole", 100 * mean(run.whole for run in runs), "%", n, "of the optima are trees"),
    ]


def _divide_time(name: str, runs: Sequence[Priced], what: str) -> list[Figure]:
    """Return the shares of time by stage; the combinatorial dual counts as setup."""
    total = sum(run.stages["total"] for run in runs)
    stages = ("setup", "master", "pricing", "separation", "other")
    return [
        Figure(f"{name}_{stage}", 100 * sum(run.stages.get(stage, 0.0) for run in runs) / total, "%", len(runs), what)
        for stage in stages
    ]


def compare_bounds(name: str, compared: Sequence[ComparedSentence]) -> list[Figure]:
    """Compare the three outer bounds, with cuts and with a flow: speed relative to the first, trees, accuracy."""
    figures = []
    n = len(compared)
    for prefix, label in (("", ""), ("published ", "paper.")):
        first = sum(c.complete[f"{prefix}{FORMULATIONS[0]}"].seconds for c in compared)
        for formulation in FORMULATIONS:
            runs = [c.complete[f"{prefix}{formulation}"] for c in compared]
            key = f"{name}.{label}{formulation}"
            seconds = sum(run.seconds for run in runs)
            figures += [
                Figure(f"{key}.speed", first / seconds, "x", n, f"relative to {FORMULATIONS[0]}"),
                Figure(f"{key}.whole", 100 * mean(run.is_integral for run in runs), "%", n, "of the optima are trees"),
                Figure(f"{key}.accuracy", _measure_accuracy(compared, [run.heads() for run in runs]), "%", n),
            ]
    return figures


def _measure_accuracy(compared: Sequence[ComparedSentence], heads: Sequence[Heads]) -> float:
    right = sum(
        a == b
        for c, parsed in zip(compared, heads, strict=True)
        for a, b in zip(c.sentence.heads or (), parsed, strict=True)
    )
    return 100.0 * right / sum(len(c.sentence) for c in compared)


def _settings(corpus: Corpus, plan: ParsingPlan) -> MiraSettings:
    settings = MiraSettings(epochs=plan.epochs)
    return replace(settings, attenuation=ATTENUATION.get(corpus.name, settings.attenuation))


def compare_with_engine(name: str, sentences: Sequence[Sentence], weights: Weights) -> Figure:
    """Compare branch and price by the engine alone with the exact parser on the same scores."""
    generic, exact = [], []
    for sentence in (sentences[0], *sentences):  # the first one twice: its first call compiles
        result, seconds = measure(partial(_branch_and_price, sentence, weights))
        generic.append(seconds)
        tree, seconds = measure(partial(_parse, sentence, weights))
        exact.append(seconds)
        claims = {"branch and price": (result.objective, result.dual_bound), "the parser": (tree.score, tree.bound)}
        check_agreement(name, claims, Sense.MAXIMIZE)
    return mean_ratio(f"{name}.engine_vs_kernel", generic[1:], exact[1:], "features included", unit="x")


def _branch_and_price(sentence: Sentence, weights: Weights) -> Result:
    return solve(GrandparentParsing(_fresh(sentence, weights), start="tree"))


def time_one_by_one(name: str, sentences: Sequence[Sentence], weights: Weights) -> list[Figure]:
    """Measure the seconds per sentence, parsed alone and in a batch: features, search and relations."""
    few = sentences[:_FEW]
    ways: dict[str, Callable[[], object]] = {
        "one": lambda: [list(parse_sentences([sentence], weights)) for sentence in few],
        "batch": lambda: list(parse_sentences(few, weights)),
    }
    _, seconds = take_turns(ways, _TURNS)
    alone, together = (1000.0 * min(seconds[way]) / len(few) for way in ways)
    return [
        Figure(f"parse_one_sentence_ms_{name}", alone, "ms", len(few), "features, search and relations"),
        Figure(f"parse_one_sentence_vs_batch_{name}", alone / together, "x", len(few), "over one call for all"),
    ]


def measure_test_set(corpus: Corpus, plan: ParsingPlan, say: Say) -> list[Figure]:
    """Measure speed, features included, and accuracy of the exact parser on the test set."""
    say(f"{corpus.name}: training the model of arcs, grandparents and siblings")
    settings = _settings(corpus, plan)
    # Loads the kernels, including those for long sentences.
    few, longest = corpus.learn[:_FEW_TO_LEARN], [max(part, key=len) for part in (corpus.learn, corpus.tune)]
    train([*few, longest[0]], replace(settings, epochs=1), tune=longest[1:])
    held = begin_peak()
    weights = train(corpus.learn, settings, tune=corpus.tune, say=say)
    held, learnt = peak_bytes() - held, sum(map(len, corpus.learn))
    assert weights.bounds  # computed before timing
    assert weights.arc_index
    parse(weights.scorer(corpus.test[0]))
    seconds = {"features": 0.0, "search": 0.0}
    tokens = 0
    parses, labelled_trees = [], []
    for sentence in corpus.test:
        started = time.process_time()
        scorer = weights.scorer(sentence)
        assert scorer.arcs is not None
        scored = time.process_time()
        tree = parse(scorer)
        seconds["features"] += scored - started
        seconds["search"] += time.process_time() - scored
        tokens += len(sentence)
        parses.append(tree)
        assert tree.heads is not None
        labelled_trees.append(add_relations(sentence, tree.heads, scorer))
    reached = attachment(zip(corpus.test, labelled_trees, strict=True))
    n, total = len(parses), sum(seconds.values())
    name = corpus.name
    return [
        compare_with_engine(name, choose(corpus.test, 5, 25, plan.generic), weights),
        Figure(
            f"training_bytes_per_token_{name}",
            held / learnt,
            "bytes",
            learnt,
            "peak minus memory before training, kernels included",
        ),
        Figure(f"tokens_per_second_{name}", tokens / total, "tokens/s", n, "features and exact search"),
        *time_one_by_one(name, spread(corpus.test, most=_FEW), weights),
        *compare_kept_duals(name, corpus.test, weights),
        *attachment_figures(reached, n, lambda measure: f"{measure}_{name}"),
        Figure(f"{name}.proved", 100.0 * mean(p.is_optimal for p in parses), "%", n, "of the trees are proved optimal"),
        Figure(f"{name}.branched", sum(p.nodes > 1 for p in parses), "sentences", n, "need branch and bound"),
        Figure(
            f"{name}.proved_by_engine",
            mean(p.proved_by_engine for p in parses),
            "",
            n,
            "share of trees with a bound recomputed by an oracle and a score recomputed by the check",
        ),
        Figure(f"{name}.features_share", 100.0 * seconds["features"] / total, "%", n, "of the time"),
        Figure(
            f"{name}.candidates",
            sum(p.candidates for p in parses) / tokens,
            "arcs/token",
            n,
            "whose parts are examined",
        ),
    ]


# --- the picture -----------------------------------------------------------------------------------------------------


def draw_seconds(compared: Sequence[ComparedSentence]) -> Picture:
    """Plot seconds of brute force, the published method, price and cut, and the exact parser by sentence length."""
    picture = new_figure((6.4, 4.4))
    axes = picture.subplots()
    lengths = [len(c.sentence) for c in compared]
    series = {
        "brute force": [c.complete["all"].seconds for c in compared],
        "price and cut, as published": [c.published.seconds for c in compared],
        "price and cut": [c.ours.seconds for c in compared],
        "exact parser": [c.exact_seconds for c in compared],
    }
    for marker, face, (label, seconds) in zip("o^sv", ("white", "0.85", "0.5", "0.0"), series.items(), strict=True):
        axes.plot(lengths, seconds, marker, color="0.0", mfc=face, markersize=4, label=label)
    axes.set(xlabel="sentence length (tokens)", ylabel="time (seconds)", yscale="log")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    return picture

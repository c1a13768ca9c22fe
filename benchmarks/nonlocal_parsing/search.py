"""Benchmark of the search: words per second, calls of the dynamic program, proofs, and the kernels' speed.

Seconds are processor time on one thread, so other processes do not count.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from benchmarks.harness import check_agreement, mean_ratio, measure, run_engine
from colgen import Sense, TimeLimit, solve
from colgen.cli.template import Figure
from colgen.problems.dependency.sentence import Heads, Sentence
from colgen.problems.nonlocal_parsing.baseline import in_highs
from colgen.problems.nonlocal_parsing.bound import AscentMethod
from colgen.problems.nonlocal_parsing.columns import ParsingByColumns
from colgen.problems.nonlocal_parsing.instance import NonlocalInstance
from colgen.problems.nonlocal_parsing.instance import random as random_instance
from colgen.problems.nonlocal_parsing.scoring import Model
from colgen.problems.nonlocal_parsing.template import NonlocalParsing
from colgen.reporting.compared import proved_by_engine
from colgen.solvers.trees.eisner import best_tree

_VALUE_TOLERANCE = 1e-5
"""Tolerance of equal optima, relative to max(1, |optimum|)."""

ORDERS = {"first": 1, "sibling": 2, "grandchild": 3, "third": 4}


@dataclass(frozen=True)
class Parsed:
    """A parsed sentence: seconds of scoring and of search, calls of the dynamic program, nodes, and remaining gap."""

    words: int
    scoring: float
    search: float
    calls: int
    nodes: int
    gap: float
    proved: bool
    heads: Heads | None
    proved_by_engine: bool

    @property
    def seconds(self) -> float:
        """Return the seconds of scoring and search."""
        return self.scoring + self.search


def parse_sentence(
    model: Model, sentence: Sentence, k: int | None, limit: float = 10.0, method: AscentMethod = "fixing"
) -> Parsed:
    """Score and parse a sentence, features included."""
    started = time.process_time()
    instance = model.instance(sentence, k)
    scored = time.process_time()
    return parse_instance(instance, limit, method, scored - started)


def parse_instance(
    instance: NonlocalInstance, limit: float = 10.0, method: AscentMethod = "fixing", scoring: float = 0.0
) -> Parsed:
    """Parse an instance that is scored already; ``scoring`` are the seconds of scoring."""
    started = time.process_time()
    problem = NonlocalParsing(instance, method=method)
    result = solve(problem, stop=TimeLimit(limit))
    return Parsed(
        instance.num_words,
        scoring,
        time.process_time() - started,
        problem.effort.total,
        len(result.nodes),
        result.gap,
        result.is_optimal,
        result.answer,
        proved_by_engine(result),
    )


def parse_all(model: Model, sentences: Sequence[Sentence], k: int | None, limit: float = 10.0) -> list[Parsed]:
    """Parse all sentences, after one uncounted call that compiles or loads the kernels."""
    parse_sentence(model, sentences[0], k, limit)
    return [parse_sentence(model, sentence, k, limit) for sentence in sentences]


def measure_speed(runs: Sequence[Parsed], name: str) -> list[Figure]:
    """Return words per second, calls, proofs, and the largest remaining gap."""
    n, words = len(runs), sum(r.words for r in runs)
    scoring, search = sum(r.scoring for r in runs), sum(r.search for r in runs)
    unproved = [r.gap for r in runs if not r.proved]
    return [
        Figure(
            f"words_per_second_{name}", words / (scoring + search), "words/s", n, "features included; processor time"
        ),
        Figure(f"words_per_second_{name}_search", words / search, "words/s", n, "without features"),
        Figure(f"dp_calls_per_sentence_{name}", sum(r.calls for r in runs) / n, "calls", n, "mean"),
        Figure(f"nodes_per_sentence_{name}", sum(r.nodes for r in runs) / n, "nodes", n, "mean"),
        Figure(f"proved_{name}", 100.0 * sum(r.proved for r in runs) / n, "%", n, "of the sentences"),
        Figure(
            f"proved_by_engine_{name}",
            sum(r.proved_by_engine for r in runs) / n,
            "",
            n,
            "share of trees with a bound recomputed by an oracle and a score recomputed by the check",
        ),
        Figure(f"worst_seconds_{name}", max(r.seconds for r in runs), "s", n),
        Figure(f"worst_gap_{name}", 100.0 * max(unproved, default=0.0), "%", n, "of unproved sentences"),
    ]


def compare_methods(instances: Sequence[NonlocalInstance], limit: float) -> list[Figure]:
    """Compare the ascent methods, each with complete branch and bound: calls, nodes, seconds."""
    figures = []
    for method in ("fixing", "polyak", "subgradient"):
        parse_instance(instances[0], limit, method)
        runs = [parse_instance(instance, limit, method) for instance in instances]
        n = len(runs)
        note = "" if method != "subgradient" else "method of the source"
        figures += [
            Figure(f"dp_calls_{method}", sum(r.calls for r in runs) / n, "calls", n, note),
            Figure(f"nodes_{method}", sum(r.nodes for r in runs) / n, "nodes", n, note),
            Figure(f"search_seconds_{method}", sum(r.search for r in runs) / n, "s", n, note),
            Figure(f"proved_{method}", 100.0 * sum(r.proved for r in runs) / n, "%", n, note),
        ]
    return figures


def compare_with_mip(instances: Sequence[NonlocalInstance], limit: float) -> list[Figure]:
    """Compare branch and bound with HiGHS on the same scores: geometric mean of ratios of times."""
    parse_instance(instances[0], limit)
    own, other, proved = [], [], 0
    for instance in instances:
        parsed, by_highs = parse_instance(instance, limit), in_highs(instance, time_limit=limit)
        _check(instance, parsed, by_highs.objective if by_highs.proved else None, "HiGHS")
        own.append(parsed.search)
        other.append(by_highs.seconds)
        proved += by_highs.proved
    n = len(instances)
    return [
        mean_ratio("speedup_vs_mip", other, own, "HiGHS without the time to build the model", unit=""),
        Figure("proved_mip", 100.0 * proved / n, "%", n, f"by HiGHS in {limit:g} s"),
    ]


def compare_with_columns(instances: Sequence[NonlocalInstance], limit: float) -> Figure:
    """Compare column generation by the engine, one column per tree, with the template's ascent on the same scores."""
    parse_instance(instances[0], limit)
    solve(ParsingByColumns(instances[0]), stop=TimeLimit(limit))
    own, other = [], []
    for instance in instances:
        parsed = parse_instance(instance, limit)
        run, _ = run_engine(ParsingByColumns(instance), limit, name=instance.name)
        _check(instance, parsed, run.objective if run.proved else None, "columns")
        own.append(parsed.search)
        other.append(run.seconds)
    return mean_ratio("engine_vs_kernel", other, own, "column generation over the ascent", unit="x")


def _check(instance: NonlocalInstance, parsed: Parsed, optimum: float | None, prover: str) -> None:
    """Check that a tree that is proved optimal has the optimum proved by another method."""
    if parsed.proved and parsed.heads is not None and optimum is not None:
        value = instance.check(parsed.heads)
        claims = {"branch and bound": (value, value), prover: (optimum, optimum)}
        check_agreement(instance.name, claims, Sense.MAXIMIZE, slack=_VALUE_TOLERANCE * max(1.0, abs(value)))


def measure_kernels(lengths: Sequence[int], repeats: int = 5) -> list[Figure]:
    """Measure sentences per second of each backbone at 25 words, and the exponent of growth with length."""
    figures = []
    for name, order in ORDERS.items():
        seconds = []
        for words in (25, *lengths):
            parts = random_instance(words, 0, order=order, num_factors=0).parts
            best_tree(parts)
            seconds.append(measure(partial(best_tree, parts), repeats)[1])
        rate = 1.0 / seconds[0]
        figures.append(Figure(f"sentences_per_second_{name}", rate, "1/s", repeats, "random scores, 25 words"))
        if len(lengths) > 1:
            exponent = float(np.polyfit(np.log(lengths), np.log(seconds[1:]), 1)[0])
            note = f"{lengths[0]} to {lengths[-1]} words"
            figures.append(Figure(f"growth_exponent_{name}", exponent, "", len(lengths), note))
    return figures

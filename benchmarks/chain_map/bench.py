"""Benchmark of taggers trained on a corpus: the source's tables and figures, on complete test sets.

Everything is measured in one run on one thread.  Compared decoders alternate, and their medians are compared.
A labelling is exact if its score equals the best one up to rounding.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness import BenchOptions, Plan, Say, say_nothing, spread, take_turns
from colgen import solve
from colgen.cli.template import Figure
from colgen.core.budget import begin_peak, peak_bytes
from colgen.core.files import write_figure
from colgen.core.tolerances import TOLERANCES, size
from colgen.master.statement import restricted_master
from colgen.problems.chain_map.baseline import beam_search, viterbi, viterbi_plain, viterbi_pruned, viterbi_two_best
from colgen.problems.chain_map.corpus import TASKS, Tagged
from colgen.problems.chain_map.drawing import Point, draw
from colgen.problems.chain_map.instance import ChainInstance
from colgen.problems.chain_map.labellings import Labellings
from colgen.problems.chain_map.learning import Tagger, margin_violations, train_perceptron, train_svm
from colgen.problems.chain_map.pricing import PairPricing
from colgen.problems.chain_map.sweeping import SweepPricing
from colgen.problems.chain_map.synthetic import first_chains, resize_labels
from colgen.problems.chain_map.template import REDUCED_COSTS, ChainMAP, decode
from colgen.problems.chain_map.training import examples_of, read_corpus
from colgen.reporting.compared import proved_by_engine
from colgen.solvers.compiling import working_clock

Ints = NDArray[np.int32]
Way = Callable[[ChainInstance], Labellings]

_GAP = 0.0015
"""The relative gap at which the source stops early."""

_MINUTES = 8.0
"""Approximate minutes for all test sentences."""

_TURN = 0.05
"""Minimum seconds of a turn of a decoder."""

_PRECISIONS = {"": np.float32, "_double": np.float64}


@dataclass(frozen=True)
class TaggingPlan(Plan):
    """Size of the tagging benchmark.

    Attributes
    ----------
    learn, test
        Maximum numbers of sentences.
    epochs
        Epochs of training; None for the learner's default.
    repeats
        Turns of each decoder.
    labels, chains
        Numbers of labels of the synthetic chains, and number of chains.
    strengths
        Strengths of the transitions' regularisation.
    """

    tasks: tuple[str, ...] = ("pos", "joint", "joint_bilou")
    learn: int | None = None
    test: int | None = None
    epochs: int | None = None
    repeats: int = 7
    beams: tuple[int, ...] = tuple(range(1, 11))
    labels: tuple[int, ...] = (50, 100, 200, 400, 800, 1600)
    chains: int = 300
    strengths: tuple[float, ...] = (0.1, 1.0, 10.0, 100.0, 1000.0)


_FEW = 200
"""Sentences that are tagged one by one."""

QUICK = TaggingPlan(("pos",), 300, 60, 1, 2, (1, 3), (20, 40), 20, (0.1, 10.0))


def bench_chain_map(options: BenchOptions) -> list[Figure]:
    """Reproduce tables 1 and 2 and figure 2, and measure throughput by number of labels."""
    data = options.folder(
        "this benchmark needs tagged sentences: add --data DIR with files *-train.tsv and *-test.tsv (word, part of "
        "speech, entity in BIO and in BILOU), such as Universal Dependencies English-EWT with the entities of "
        "Universal NER"
    )
    plan = QUICK if options.quick else TaggingPlan()
    share = options.share(_MINUTES)
    figures: list[Figure] = []
    scaled: ChainInstance | None = None
    regularised: list[Point] = []
    for name in plan.tasks:
        task = TASKS[name]
        held = begin_peak()
        learn = read_corpus(data, task, "train")[: plan.learn]
        test = spread(read_corpus(data, task, "test")[: plan.test], share)
        examples = examples_of(learn, task)
        epochs: dict[str, int] = {} if plan.epochs is None else {"epochs": plan.epochs}
        tagger = train_perceptron(name, examples, say=say_nothing, **epochs)
        held, tokens = peak_bytes() - held, sum(len(sentence.words) for sentence in learn)
        note = "peak of the process minus memory before reading the training set"
        figures.append(Figure(f"training_bytes_per_token_{name}", held / tokens, "bytes", tokens, note))
        accuracy = 100.0 * tagger.accuracy(test)
        figures.append(Figure(f"accuracy_{name}", accuracy, "%", len(test), f"of tokens, {len(tagger.tags)} tags"))
        options.say(f"{name}: {len(tagger.tags)} tags, {accuracy:.2f}% of the tokens right")
        figures += measure_tagging(tagger, test, name, plan)
        for suffix, precision in _PRECISIONS.items():
            instance = tagger.instance([sentence.words for sentence in test], precision)
            figures += compare_decoders(instance, f"{name}{suffix}", plan, options.say)
            if not suffix:
                scaled = instance
                figures += measure_rounds(instance, name)
                figures += compare_oracles(instance, _true_labels(tagger, test), name, plan, options.say)
                figures += compare_reduced_costs(instance, name, plan, options.say)
        if name == "pos":
            for strength in plan.strengths:
                svm = train_svm(name, examples, transition_l2=strength, say=say_nothing, **epochs)
                regularised.append(_measure_strength(svm, test, strength, plan))
                point = regularised[-1]
                options.say(f"transitions' L2 {strength:g}: {point.y:.2f}%, {point.x:,.0f} sentences per second")
    figures += [
        Figure(f"figure_2_{what}_at_{point.label}", value, unit, 1, "0/1-loss SVM, by L2 strength of transitions")
        for point in regularised
        for what, value, unit in (("accuracy", point.y, "%"), ("throughput", point.x, "sentences/s"))
    ]
    assert scaled is not None
    by_labels = measure_label_growth(scaled, plan, options.say)
    figures += fit_label_growth(by_labels)
    if options.plot is not None:
        write_figure(draw(regularised, by_labels), options.plot)
    return figures


# --- words to tags ---------------------------------------------------------------------------------------------------


def measure_tagging(tagger: Tagger, test: Sequence[Tagged], name: str, plan: TaggingPlan) -> list[Figure]:
    """Measure tagging, features included: all sentences in one call, and one by one; processor time."""
    words = [sentence.words for sentence in test]
    tokens, few = sum(map(len, words)), words[:_FEW]
    tagger.tag(words)  # compiles
    batches = {"all": [words], "one": [[one] for one in few]}
    ways = {how: partial(_tag_all, tagger, several) for how, several in batches.items()}
    _, taken = take_turns(ways, plan.repeats)
    return [
        Figure(
            f"tag_tokens_per_second_{name}", tokens / min(taken["all"]), "tokens/s", len(words), "features included"
        ),
        Figure(
            f"tag_one_sentence_ms_{name}", 1000.0 * min(taken["one"]) / len(few), "ms", len(few), "features included"
        ),
    ]


def _tag_all(tagger: Tagger, batches: Sequence[Sequence[Sequence[str]]]) -> None:
    for batch in batches:
        tagger.tag(batch)


# --- table 1 ---------------------------------------------------------------------------------------------------------


def compare_decoders(instance: ChainInstance, name: str, plan: TaggingPlan, say: Say) -> list[Figure]:
    """Measure sentences per second and share exact of exact decoders and of beams."""
    ways: dict[str, Way] = {
        "viterbi": viterbi,
        "viterbi_plain": viterbi_plain,
        "viterbi_pruned": viterbi_pruned,
        "cg": decode,
        "cg_published": lambda i: decode(i, start=1),
        "cg_gap": lambda i: decode(i, start=1, gap=_GAP),
        **{f"beam_{width}": lambda i, width=width: beam_search(i, width) for width in plan.beams},  # type: ignore[misc]
    }
    seconds, answers = race(instance, ways, plan.repeats)
    best = answers["viterbi"].values
    exact = {way: float(_as_good(answer.values, best).mean()) for way, answer in answers.items()}
    n = instance.num_trees
    figures = []
    for way, taken in seconds.items():
        figures.append(Figure(f"sentences_per_second_{name}_{way}", n / taken, "1/s", n, f"{exact[way]:.2%} exact"))
        figures.append(Figure(f"exact_{name}_{way}", 100.0 * exact[way], "%", n))
        say(f"{name}, {way}: {n / taken:,.0f} sentences per second, {exact[way]:.2%} exact")
    figures += [
        Figure(f"speedup_vs_viterbi_{name}", seconds["viterbi"] / seconds["cg"], "ratio", n, "vectorised Viterbi"),
        Figure(f"speedup_vs_plain_viterbi_{name}", seconds["viterbi_plain"] / seconds["cg"], "ratio", n),
        Figure(f"speedup_published_vs_viterbi_{name}", seconds["viterbi"] / seconds["cg_published"], "ratio", n),
        Figure(
            f"speedup_published_vs_plain_viterbi_{name}", seconds["viterbi_plain"] / seconds["cg_published"], "ratio", n
        ),
    ]
    figures += [
        Figure(
            f"engine_vs_kernel_{name}",
            seconds["cg_published"] / seconds["cg"],
            "ratio",
            n,
            "rounds of pricing from the best local labels, over sweeps",
        ),
        Figure(f"proved_by_engine_{name}", share_proved(instance), "share", n, "of sentences, in one batch"),
    ]
    beams = [way for way in seconds if way.startswith("beam")]
    closest = max(beams, key=lambda way: (exact[way], -seconds[way]))
    note = f"{closest.replace('_', ' of ')}, the most exact: {exact[closest]:.2%}"
    figures.append(Figure(f"speedup_vs_beam_{name}", seconds[closest] / seconds["cg"], "ratio", n, note))
    return figures


def share_proved(instance: ChainInstance) -> float:
    """Return the share of trees whose bound, priced by a round of the engine, equals a value of the instance."""
    result = solve(ChainMAP(instance))
    answer: Labellings = result.answer
    scale = instance.scale * instance.num_trees
    difference = result.iterations[-1].dual_bound - answer.dual_bound
    if not proved_by_engine(result) or abs(difference) > TOLERANCES.pruning * size(scale, answer.dual_bound):
        return 0.0
    values = instance.values(np.where(answer.labels < 0, 0, answer.labels))
    values[~answer.feasible] = -np.inf  # verified by the check of the engine's run
    near = values + TOLERANCES.pruning * np.maximum(np.where(answer.feasible, np.abs(values), 0.0), instance.scale)
    return float((answer.bounds <= near).mean())


def race(
    instance: ChainInstance, ways: Mapping[str, Way], repeats: int
) -> tuple[dict[str, float], dict[str, Labellings]]:
    """Return the median seconds of each decoder, and the labellings.

    Decoders alternate; a turn lasts at least ``_TURN`` seconds and counts with the mean of its calls.
    """
    answers = {name: way(instance) for name, way in ways.items()}  # compiles, and computes the model's bounds once
    calls = {name: partial(way, instance) for name, way in ways.items()}
    _, taken = take_turns(calls, repeats, turn=_TURN, clock=working_clock)
    return {name: median(seconds) for name, seconds in taken.items()}, answers


def _as_good(values: NDArray[np.float64], best: NDArray[np.float64]) -> NDArray[np.bool_]:
    return values >= best - 1e-5 * (1.0 + np.abs(best))


def measure_rounds(instance: ChainInstance, name: str) -> list[Figure]:
    """Measure rounds, sizes of domains, and candidates."""
    n, tokens = instance.num_trees, instance.forest.num_nodes
    figures = []
    ways = {"cg": {}, "cg_published": {"start": 1}, "cg_gap": {"start": 1, "gap": _GAP}}
    for way, options in ways.items():
        problem = _Observed(instance, **options)  # type: ignore[arg-type]
        result = solve(problem)
        oracle = problem.oracle
        domains: Any = oracle.domains if isinstance(oracle, SweepPricing) else problem.chain_master.domains
        sizes = np.diff(domains.starts)
        figures += [
            Figure(f"rounds_{name}_{way}", len(result.iterations), "rounds", n, "until the last chain is solved"),
            Figure(f"domains_of_one_{name}_{way}", 100.0 * float((sizes == 1).mean()), "%", tokens),
            Figure(f"domains_to_three_{name}_{way}", 100.0 * float((sizes <= 3).mean()), "%", tokens),
        ]
        if isinstance(oracle, PairPricing):
            note = "pairs of labels examined per priced edge"
            figures.append(
                Figure(f"candidates_{name}_{way}", oracle.computed / oracle.priced, "pairs", oracle.priced, note)
            )
            rounds = problem.chain_master.rounds
            figures += [
                Figure(f"rounds_mean_{name}_{way}", float(rounds.mean()), "rounds", n, "per chain"),
                Figure(f"one_round_{name}_{way}", 100.0 * float((rounds <= 1).mean()), "%", n, "of chains"),
            ]
    return figures


class _Observed(ChainMAP):
    """Keeps its master and oracle for inspection."""

    def master(self) -> Any:
        self.chain_master: Any = restricted_master(super().master())
        return self.chain_master

    def pricing(self) -> Any:
        self.oracle: Any = super().pricing()
        return self.oracle


# --- table 2 ---------------------------------------------------------------------------------------------------------


def compare_oracles(instance: ChainInstance, gold: Ints, name: str, plan: TaggingPlan, say: Say) -> list[Figure]:
    """Measure the 0/1-loss oracle: second best labellings that violate the margin of the true one."""
    n = instance.num_trees
    known = np.where(gold < 0, 0, gold).astype(np.int32)  # tags not seen in training have no label
    ways: dict[str, Callable[[ChainInstance], Any]] = {
        "cg": lambda i: margin_violations(i, known),
        "viterbi_two_best": viterbi_two_best,
        "viterbi_pruned_two_best": lambda i: viterbi_pruned(i, 1.0),
        "cg_two_best": lambda i: decode(i, margin=math.inf),
    }
    seconds, answers = race(instance, ways, plan.repeats)
    second, reference = answers["cg_two_best"].runner_up, answers["viterbi_two_best"].runner_up
    assert second is not None
    assert reference is not None
    if not _as_good(second.values, reference.values).all():
        raise AssertionError("column generation and Viterbi's algorithm disagree on a second best labelling")
    say(f"{name}, 0/1-loss oracle: {seconds['viterbi_two_best'] / seconds['cg']:.1f} times two-best Viterbi")
    return [
        *(Figure(f"oracle_per_second_{name}_{way}", n / taken, "1/s", n) for way, taken in seconds.items()),
        Figure(
            f"oracle_speedup_{name}",
            seconds["viterbi_two_best"] / seconds["cg"],
            "ratio",
            n,
            "compared with two-best Viterbi",
        ),
    ]


def compare_reduced_costs(instance: ChainInstance, name: str, plan: TaggingPlan, say: Say) -> list[Figure]:
    """Compare the three reduced costs, in rounds of pricing from the best local label."""
    n = instance.num_trees
    ways: dict[str, Way] = {
        how: (lambda i, how=how: decode(i, start=1, reduced_cost=how))  # type: ignore[misc]
        for how in REDUCED_COSTS
    }
    seconds, _ = race(instance, ways, plan.repeats)
    say(f"{name}, reduced costs: " + ", ".join(f"{how} {n / taken:,.0f}/s" for how, taken in seconds.items()))
    return [Figure(f"reduced_cost_{name}_{how}", n / taken, "1/s", n) for how, taken in seconds.items()]


# --- figure 2 and scaling --------------------------------------------------------------------------------------------


def _measure_strength(svm: Tagger, test: Sequence[Tagged], strength: float, plan: TaggingPlan) -> Point:
    instance = svm.instance([sentence.words for sentence in test])
    seconds, _ = race(instance, {"cg": decode}, plan.repeats)
    return Point(instance.num_trees / seconds["cg"], 100.0 * svm.accuracy(test), f"{strength:g}")


def measure_label_growth(trained: ChainInstance, plan: TaggingPlan, say: Say) -> dict[str, list[Point]]:
    """Measure sentences per second by number of labels."""
    part = first_chains(trained, plan.chains)
    points: dict[str, list[Point]] = {"cg": [], "viterbi": []}
    for num in plan.labels:
        instance = resize_labels(part, num, seed=num)
        seconds, answers = race(instance, {"cg": decode, "viterbi": viterbi}, min(plan.repeats, 3))
        if not _as_good(answers["cg"].values, answers["viterbi"].values).all():
            raise AssertionError("column generation and Viterbi's algorithm disagree on a best labelling")
        for way, taken in seconds.items():
            points[way].append(Point(num, instance.num_trees / taken, str(num)))
        say(f"{num} labels: {seconds['viterbi'] / seconds['cg']:.1f} times Viterbi")
    return points


def fit_label_growth(points: Mapping[str, Sequence[Point]]) -> list[Figure]:
    """Return throughput by number of labels, and the fitted exponents of time."""
    figures = []
    for way, mine in points.items():
        figures += [Figure(f"labels_{p.label}_{way}", p.y, "1/s", 1, "sentences per second") for p in mine]
        slope = np.polyfit(np.log([p.x for p in mine]), -np.log([p.y for p in mine]), 1)[0]
        figures.append(
            Figure(f"label_exponent_{way}", float(slope), "", len(mine), "fitted exponent of time by number of labels")
        )
    return figures


def _true_labels(tagger: Tagger, test: Sequence[Tagged]) -> Ints:
    numbers = {tag: k for k, tag in enumerate(tagger.tags)}
    return np.array([numbers.get(tag, -1) for sentence in test for tag in sentence.tags], dtype=np.int32)

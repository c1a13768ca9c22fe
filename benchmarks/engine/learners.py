"""Benchmark of a learned choice of branching candidates: nodes and time relative to pseudo-costs.

A linear scorer imitates strong branching on generated instances of assignment, or of routing, and is measured on others
of the same kind.  Each tree is proved in all ways, and its certificate with the learned choice is checked.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.engine.branching import WithoutEnumeration
from benchmarks.harness import BenchOptions, Run, check_agreement, mean_ratio, run_engine
from colgen import Method, Problem, Record, StrongBranching, solve
from colgen.branching.imitation import LinearScorer, StrongExamples, fit_scorer
from colgen.branching.learned import LearnedBranching
from colgen.branching.selection import Choice, PseudoCostBranching
from colgen.certificate.checker import check
from colgen.cli.template import Figure
from colgen.problems.assignment import random
from colgen.problems.assignment.template import Unguessed
from colgen.reporting.ablation import ablation

_MINUTES = 6.0
"""Approximate minutes for all instances."""

_LIMIT = 120.0
"""Time limit per run in seconds."""

_TRAINING = 1_000
"""Seed of the first training instance; those of test instances begin at 0."""


@dataclass(frozen=True)
class _Family:
    """Instances by seed, and how many are trained on, measured, and proved with a certificate."""

    make: Callable[[int], Problem]
    training: int
    test: int
    certificates: int


_FAMILIES = {
    "assignment": _Family(lambda seed: Unguessed(random(5, 20, seed)), 40, 40, 5),
    "routing": _Family(lambda seed: WithoutEnumeration(seed, customers=25), 25, 20, 5),
}


def bench_learners(options: BenchOptions) -> list[Figure]:
    """Measure trees with a learned choice, and with strong branching, relative to pseudo-costs."""
    share = 0.1 if options.quick else options.share(_MINUTES)
    figures: list[Figure] = []
    for name, family in _FAMILIES.items():
        count = max(2, math.ceil(share * family.training))
        scorer = learn(family, count, options.say)
        runs = [_measure(name, family, seed, scorer, options) for seed in range(max(2, math.ceil(share * family.test)))]
        figures += _ratios(name, runs, f"trained on {count} other instances")
        valid = [_is_certified(family.make(seed), scorer) for seed in range(min(family.certificates, len(runs)))]
        figures.append(
            Figure(f"certificates_learned_{name}", sum(valid), "count", len(valid), "complete proofs that were checked")
        )
    return figures


def learn(family: _Family, count: int, say: Callable[[str], None]) -> LinearScorer:
    """Return a scorer that has learned from runs of an ablation."""
    examples = StrongExamples()
    problems = {f"training {seed}": family.make(_TRAINING + seed) for seed in range(count)}
    found = ablation(problems, {"all children": Method(choice=examples)}, time_limit=_LIMIT)
    say(f"{len(examples.examples)} examples, {sum(line.seconds for line in found.lines):.1f} s")
    return fit_scorer(examples.examples)


def _measure(name: str, family: _Family, seed: int, scorer: LinearScorer, options: BenchOptions) -> Mapping[str, Run]:
    choices: dict[str, Choice] = {
        "pseudo_costs": PseudoCostBranching(),
        "strong": StrongBranching(),
        "learned": LearnedBranching(scorer),
        "learned_alone": LearnedBranching(scorer, tried=0),
    }
    runs = {
        way: run_engine(family.make(seed), _LIMIT, name=f"{name} {seed}", way=way, method=Method(choice=choice))[0]
        for way, choice in choices.items()
    }
    check_agreement(name, {way: run.claim for way, run in runs.items()})
    for run in runs.values():
        options.say(str(run))
    return runs


def _ratios(name: str, runs: Sequence[Mapping[str, Run]], note: str) -> list[Figure]:
    figures = []
    for way in ("learned", "learned_alone", "strong"):
        for what, effort in (("nodes", "nodes"), ("seconds", "seconds")):
            own, other = ([float(getattr(of[each], effort)) for of in runs] for each in (way, "pseudo_costs"))
            total = f"{sum(own):.6g} and {sum(other):.6g} {what} in total" + ("" if way == "strong" else f", {note}")
            figures.append(mean_ratio(f"{what}_{way}_over_pseudo_costs_{name}", own, other, total))
    return figures


def _is_certified(problem: Problem, scorer: LinearScorer) -> bool:
    """Return whether the certificate of a run with the learned choice is a complete proof."""
    with tempfile.TemporaryDirectory() as folder:
        proof = Path(folder) / "proof.jsonl"
        result = solve(problem, method=Method(choice=LearnedBranching(scorer)), record=Record(certificate=proof))
        verdict = check(proof.read_text().splitlines())
    return result.is_optimal and verdict.checked and math.isclose(float(verdict.objective or 0), result.objective)

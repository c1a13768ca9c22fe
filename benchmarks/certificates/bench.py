"""Benchmark of certificates: whole proofs, the time to check and to write them, and the lies that are found."""

from __future__ import annotations

import gzip
import math
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.decomposition.families import FAMILIES
from benchmarks.harness import BenchOptions, check_agreement, measure, read_table, say_nothing, spread
from colgen import InputError, NodeLimit, Problem, Record, TimeLimit, decompose, solve
from colgen.certificate.checker import Verdict, check
from colgen.certificate.checker_pricing import WrongError
from colgen.certificate.checker_program import Claims
from colgen.cli.template import Figure
from colgen.core.tolerances import TOLERANCES
from colgen.problems import (
    assignment,
    chain_map,
    colouring,
    coreference,
    cutting_stock,
    grandparent_parsing,
    nonlocal_parsing,
    title_path,
    vehicle_routing,
)
from colgen.problems.assignment import Assignment
from colgen.problems.chain_map.corpus import TASKS
from colgen.problems.chain_map.learning import train_perceptron
from colgen.problems.chain_map.template import ChainMAP
from colgen.problems.chain_map.training import examples_of, read_corpus
from colgen.problems.colouring import Colouring
from colgen.problems.coreference import Coreference
from colgen.problems.coreference.learning import scores_of
from colgen.problems.coreference.learning import train as learn_mentions
from colgen.problems.coreference.training import read_corpus as read_documents
from colgen.problems.cutting_stock import CuttingStock
from colgen.problems.dependency.conll import read_conll
from colgen.problems.dependency.learning import MiraSettings as Chains
from colgen.problems.dependency.scorer import Weights
from colgen.problems.dependency.sentence import Sentence
from colgen.problems.grandparent_parsing import GrandparentParsing
from colgen.problems.grandparent_parsing.training import train as learn_chains
from colgen.problems.nonlocal_parsing import NonlocalParsing
from colgen.problems.nonlocal_parsing.learning import NonlocalSettings as Learning
from colgen.problems.nonlocal_parsing.learning import train as learn_factors
from colgen.problems.title_path import TitlePath
from colgen.problems.vehicle_routing import VehicleRouting
from tests.fuzz.lies import unfound

_MINUTES = 20.0
"""What it takes whole, about."""

_LIMIT = 120.0
"""Seconds for an instance."""

_LIES = 1_000
"""Of each kind of certificate."""

_LEARN = 2_000
"""Sentences that a tagger learns from, whose scores are then labelled."""

_TAGGED = "english_ewt"
"""The folder of tagged sentences."""

_ANNOTATED = "litbank"
"""The folder of documents with mentions."""

_CUSTOMERS = 25
"""Of each of the instances with time windows."""

_SENTENCES, _WORDS, _LEARN_TREES = 100, 20, 600
"""Sentences of each parser, the words of the longest, and sentences that parsers learn from."""

_DOCUMENTS, _MENTIONS, _LEARN_DOCUMENTS, _LEARN_PAIRS = 50, 40, 30, 20_000
"""Documents whose first mentions are clustered, how many of these, and what their scorer learns from."""

_COMPACT = (("assignment", 18, 4), ("assignment", 30, 1), ("packing", 40, 2), ("median", 12, 4), ("cutting", 4, 4))
"""Families of compact models with knapsacks as blocks, their size, and how many of each."""

_ROOTS = (402, 600)
"""Items of the packing instances whose roots alone are to be proved."""

_SHORT = 40_000
"""Lies are told of certificates with no more bytes than this: each is checked up to its first false line."""


@dataclass(frozen=True)
class _Set:
    """Instances whose proofs are wanted whole, and small ones beside them, for lies."""

    name: str
    folder: str
    patterns: Sequence[str]
    read: Callable[[Path], Any]
    problem: Callable[[Any], Problem]
    small: Sequence[Callable[[], Any]]
    text: Callable[[Path], str] = Path.read_text
    """The text of the instance's file."""


def _first_customers(path: Path) -> str:
    """Solomon's text without the lines of the customers that are left out."""
    lines = path.read_text().splitlines()
    return "\n".join(line for line in lines if len(line.split()) != 7 or int(line.split()[0]) <= _CUSTOMERS)


_SETS = (
    _Set(
        "packing",
        "packing",
        ("Hard28_*.txt", "201_*.txt"),
        cutting_stock.read,
        CuttingStock,
        [lambda: cutting_stock.uniform(8, 1, demands=(1, 5)), lambda: cutting_stock.bin_packing(40, 2)],
    ),
    _Set(
        "assignment",
        "assignment",
        ("*.txt",),
        assignment.read,
        Assignment,
        [lambda: assignment.random(3, 12, 0), lambda: assignment.random(4, 16, 1)],
    ),
    _Set(
        "colouring",
        "colouring",
        ("*.col",),
        colouring.read,
        Colouring,
        [lambda: colouring.mycielski(4), lambda: colouring.random(24, 1)],
    ),
    _Set(
        "routes",
        "routing/vrptw",
        ("C1*.txt", "R1*.txt", "RC1*.txt"),
        lambda path: vehicle_routing.read(path, customers=_CUSTOMERS),
        VehicleRouting,
        [lambda: vehicle_routing.random(3, customers=12), lambda: vehicle_routing.random(5, customers=8)],
        _first_customers,
    ),
)


@dataclass(frozen=True)
class _Case:
    """An instance: its problem, the file's text where the checker reads files, and the value that is known."""

    name: str
    problem: Callable[[], Problem]
    text: str | None = None
    optimum: float | None = None


@dataclass(frozen=True)
class _Outcome:
    """Of one instance: processor seconds, without a certificate where that was measured."""

    proved: bool
    verdict: Verdict
    seconds: float
    plain: float | None
    checking: float
    size: int
    lines: list[str]

    def __str__(self) -> str:
        proved = "proved" if self.proved else "NOT PROVED"
        return f"{proved}, {self.seconds:.2f} s, checked in {self.checking:.2f} s, {self.size:,} bytes"


def bench_proofs(options: BenchOptions) -> list[Figure]:
    """Certificates of public instances, checked; and true ones that are changed, of which none may pass."""
    data = options.folder("the benchmark proofs needs --data: the folder of the instances")
    share = 0.1 if options.quick else options.share(_MINUTES)
    figures: list[Figure] = []
    outcomes: list[_Outcome] = []
    told: dict[str, list[list[str]]] = {}

    def prove(cases: Iterable[_Case], every: int) -> list[_Outcome]:
        """Prove instances with certificates, and each ``every``-th without one as well."""
        found = []
        for k, case in enumerate(cases):
            found.append(_prove(case, compared=k % every == 0))
            options.say(f"{case.name}: {found[-1]}")
        return found

    def count_proved(name: str, found: Sequence[_Outcome], unit: str, note: str) -> Figure:
        return Figure(f"checked_{name}", sum(outcome.proved for outcome in found), unit, len(found), note)

    for each in _SETS:
        optima = _optima(data / each.folder / "optima.csv")
        there = (path for pattern in each.patterns for path in (data / each.folder).glob(pattern))
        files = sorted(path for path in there if path.stem in optima)
        if not files:
            raise InputError(f"{data / each.folder}: expected the instances {', '.join(each.patterns)}")
        solve(each.problem(each.read(files[0])), stop=TimeLimit(1.0))  # compiles the kernels
        small = _prove_small(each.problem, (make() for make in each.small))
        found = prove(
            (
                _Case(path.stem, partial(each.problem, each.read(path)), each.text(path), optima[path.stem])
                for path in spread(files, share)
            ),
            4,
        )
        figures.append(count_proved(each.name, found, "instances", f"whole proofs, of {len(found)}"))
        outcomes += found
        told[each.name] = [outcome.lines for outcome in (*small, *found) if outcome.proved and outcome.size <= _SHORT]
    for name, small in _small_proofs().items():
        told[name] = [outcome.lines for outcome in small]
    cases = _compact_models(share)
    found = prove(cases, 2)
    figures.append(count_proved("compact", found, "models", f"taken apart, of {len(found)}"))
    outcomes += found
    # One piece more than demanded is another answer, as true as the first: rolls are not lied about.
    told["compact"] = [
        outcome.lines
        for case, outcome in zip(cases, found, strict=True)
        if outcome.proved and outcome.size <= _SHORT and not case.name.startswith("cutting")
    ]
    if (data / _ANNOTATED).is_dir():
        found = prove(_documents(data / _ANNOTATED, share), 1)
        note = f"of {len(found)}, their first {_MENTIONS} mentions"
        figures.append(count_proved("clusters", found, "documents", note))
        outcomes.append(_add_up(found))
    if (data / _TAGGED).is_dir():
        found = prove(_parser_cases(data / _TAGGED, share), 1)
        note = f"of {len(found)}, half of them of each parser, at most {_WORDS} words"
        figures.append(count_proved("trees", found, "sentences", note))
        half = len(found) // 2
        outcomes += [_add_up(found[:half]), _add_up(found[half:])]
        case, sentences = _tagger_case(data / _TAGGED, share)
        (whole,) = prove([case], 1)
        note = "whole batches, of one test set"
        figures.append(Figure("checked_chains", sentences * whole.proved, "sentences", sentences, note))
        outcomes.append(whole)
    figures += [] if options.quick else [_check_roots(data, items, options, share) for items in _ROOTS]
    verdicts = [outcome.verdict for outcome in outcomes]
    trusted = sum(verdict.claims.trusted for verdict in verdicts)
    claims = sum(verdict.claims.checked for verdict in verdicts) + trusted
    leaves = sum(verdict.leaves for verdict in verdicts)
    compared = [o.seconds / o.plain for o in outcomes if o.plain]
    figures += [
        Figure("trusted_share", trusted / max(claims, 1), "share", claims, "of the claims"),
        Figure(
            "check_time_share",
            median(o.checking / o.seconds for o in outcomes),
            "ratio",
            len(outcomes),
            "processor time of checking over solving, in the middle",
        ),
        Figure(
            "certificate_bytes_per_leaf",
            sum(o.size for o in outcomes) / max(leaves, 1),
            "bytes",
            leaves,
            "not compressed",
        ),
        Figure(
            "write_overhead",
            median(compared),
            "ratio",
            len(compared),
            "solving with a certificate over solving without, in the middle",
        ),
    ]
    wanted = 30 if options.quick else max(round(_LIES * share), 30)
    lies = {kind: _count_lies(certificates, wanted, options) for kind, certificates in told.items()}
    note = f"of {wanted} of each kind that change what a certificate says: "
    note += ", ".join(f"{kind} {found:,}" for kind, found in lies.items())
    figures.append(Figure("lies_found", sum(lies.values()), "lies", wanted * len(lies), note))
    return figures


def _optima(path: Path) -> dict[str, float]:
    """The known optima, of tables of several sizes those of the size that is measured."""
    rows = [list(row.values()) for row in read_table(path)]
    return {row[0]: float(row[-1]) for row in rows if len(row) == 2 or row[1] == str(_CUSTOMERS)}


def _prove_small(problem: Callable[[Any], Problem], instances: Iterable[Any]) -> list[_Outcome]:
    """Certificates that lies are told about; nobody measures their seconds."""
    return [_prove(_Case("", partial(problem, instance)), compared=False) for instance in instances]


def _small_proofs() -> dict[str, list[_Outcome]]:
    """Certificates of the kinds that are measured on larger instances, or not at all."""
    chains = (chain_map.random(k, chains=3, length=5, labels=5) for k in range(3))
    trees = (nonlocal_parsing.random(4, 1), nonlocal_parsing.random(4, 1, projective=False))
    paths = (title_path.random(7, 4, seed, num_classes=5, attraction=3.0) for seed in range(3))
    return {
        "chains": _prove_small(ChainMAP, chains),
        "trees": [
            *_prove_small(GrandparentParsing, [grandparent_parsing.random(6, 3)]),
            *_prove_small(NonlocalParsing, trees),
        ],
        "paths": _prove_small(TitlePath, paths),
        "clusters": _prove_small(Coreference, (coreference.random(6, seed) for seed in range(3))),
    }


def _tagger_case(folder: Path, share: float) -> tuple[_Case, int]:
    """A test set as one batch, scored by a tagger that learns from the training set; and how many sentences it has."""
    task = TASKS["pos"]
    tagger = train_perceptron(
        "pos", examples_of(read_corpus(folder, task, "train")[:_LEARN], task), epochs=2, say=say_nothing
    )
    test = spread(read_corpus(folder, task, "test"), share)
    instance = tagger.instance([sentence.words for sentence in test])
    return _Case(f"{len(test)} sentences", partial(ChainMAP, instance)), len(test)


def _check_roots(data: Path, items: int, options: BenchOptions, share: float) -> Figure:
    """Roots of packing instances: a bound that is what the run says of its root, rounded up, with nothing trusted."""
    files = spread(sorted((data / "packing").glob(f"{items}_*.txt")), share)
    found = 0
    for path in files:
        problem = CuttingStock(cutting_stock.read(path))
        with tempfile.TemporaryDirectory() as folder:
            proof = Path(folder) / "proof.jsonl.gz"
            result = solve(problem, stop=[TimeLimit(_LIMIT), NodeLimit(1)], record=Record(certificate=proof))
            verdict = check(gzip.decompress(proof.read_bytes()).decode().splitlines(), path.read_text())
        wanted = math.ceil(result.root_bound - TOLERANCES.integrality) if math.isfinite(result.root_bound) else None
        proved = not verdict.claims.trusted and wanted is not None and (verdict.bound or 0) >= wanted
        found += proved
        options.say(f"{path.stem}: {verdict.proves}, bound {verdict.bound} of {result.root_bound:g}, proved: {proved}")
    return Figure(f"checked_roots_{items}", found, "instances", len(files), "root bounds, rounded up")


def _parser_cases(folder: Path, share: float) -> list[_Case]:
    """Sentences of a test set, scored by parsers that learn from a part of the training set.

    One has arcs and chains of two, the other arcs and the factors of the default families.
    """
    learn = [s for s in read_conll(next(folder.glob("*train*.conllu"))) if len(s) <= _WORDS][:_LEARN_TREES]
    test = [s for s in read_conll(next(folder.glob("*test*.conllu"))) if 1 < len(s) <= _WORDS]
    test = spread(test, share, most=_SENTENCES)
    weights = learn_chains(learn, Chains(epochs=2, kinds=("grandparents",)))
    model = learn_factors(
        learn, Learning(backbone="first", filter_epochs=1, epochs=1, family_epochs=1), say=say_nothing
    )
    chains = [_score_densely(weights, sentence) for sentence in test]
    cases = [
        _Case(f"chains, {len(s)} words", partial(GrandparentParsing, c)) for s, c in zip(test, chains, strict=True)
    ]
    factors = [model.instance(s, 10) for s in test]
    return cases + [
        _Case(f"factors, {len(s)} words", partial(NonlocalParsing, f)) for s, f in zip(test, factors, strict=True)
    ]


def _compact_models(share: float) -> list[_Case]:
    """Models with as many blocks as machines, bins, medians or rolls; their optima are not known."""

    def take_apart(name: str, size: int, seed: int) -> Problem:
        return decompose(FAMILIES[name].build(size, seed), FAMILIES[name].by)

    cases = [
        _Case(f"{name} {size}, {seed}", partial(take_apart, name, size, seed))
        for name, size, count in _COMPACT
        for seed in range(count)
    ]
    return spread(cases, share)


def _documents(folder: Path, share: float) -> list[_Case]:
    """Documents with their first mentions alone, scored by a classifier that learns from some of the others."""
    documents = read_documents(folder)
    scorer = learn_mentions(documents[::3][:_LEARN_DOCUMENTS], num_pairs=_LEARN_PAIRS, num_networks=1)
    others = [document for k, document in enumerate(documents) if k % 3][:_DOCUMENTS]
    cases = []
    for document in spread(others, share):
        whole = coreference.CoreferenceInstance(scores_of(scorer.probabilities(document), "probability"), document.name)
        cases.append(_Case(document.name, partial(Coreference, whole.restricted_to(range(_MENTIONS)))))
    return cases


def _score_densely(weights: Weights, sentence: Sentence) -> grandparent_parsing.GrandparentInstance:
    scorer = weights.scorer(sentence)
    return grandparent_parsing.from_scores(scorer, siblings=False, single_root=weights.single_root)


def _prove(case: _Case, *, compared: bool) -> _Outcome:
    """Solve an instance with a certificate, and without one to compare; check the certificate."""

    def run(**options: Any) -> float:
        _, seconds = measure(lambda: solve(case.problem(), stop=TimeLimit(_LIMIT), **options))
        return seconds

    plain = run() if compared else None
    with tempfile.TemporaryDirectory() as folder:
        proof = Path(folder) / "proof.jsonl.gz"
        seconds = run(record=Record(certificate=proof))
        text = gzip.decompress(proof.read_bytes()).decode()
    lines = text.splitlines()
    try:
        verdict, checking = measure(lambda: check(lines, case.text))
    except WrongError as wrong:
        raise AssertionError(f"{case.name}: line {wrong.line} is refused: {wrong}") from None
    proved = verdict.proves == "optimal" and not verdict.claims.trusted
    if proved:
        objective = float(verdict.objective or 0)
        check_agreement(case.name, {"the certificate": (objective, objective)}, known=case.optimum)
    return _Outcome(proved, verdict, seconds, plain, checking, len(text), lines)


def _add_up(found: Sequence[_Outcome]) -> _Outcome:
    """Instances that take a hundredth of a second each as one."""
    verdicts = [outcome.verdict for outcome in found]
    claims = Claims(sum(v.claims.checked for v in verdicts), sum(v.claims.trusted for v in verdicts))
    return _Outcome(
        all(outcome.proved for outcome in found),
        Verdict(leaves=sum(v.leaves for v in verdicts), claims=claims),
        sum(outcome.seconds for outcome in found),
        sum(outcome.plain or 0.0 for outcome in found),
        sum(outcome.checking for outcome in found),
        sum(outcome.size for outcome in found),
        [],
    )


def _count_lies(certificates: Sequence[list[str]], wanted: int, options: BenchOptions) -> int:
    """How many seeded lies are found."""
    seeds = range(wanted if certificates else 0)
    believed = unfound(certificates, seeds)
    for each in believed:
        options.say(f"not found, of {each}")
    return len(seeds) - len(believed)

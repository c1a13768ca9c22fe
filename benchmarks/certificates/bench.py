"""What is measured of certificates: whole proofs, the time to check and to write them, and the lies that are found."""

from __future__ import annotations

import csv
import gzip
import math
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.decomposition.families import FAMILIES
from benchmarks.harness import BenchOptions, spread
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
    verdict: Verdict | None
    seconds: float
    plain: float | None
    checking: float
    size: int
    lines: list[str]


def bench_proofs(options: BenchOptions) -> list[Figure]:
    """Certificates of public instances, checked; and true ones that are changed, of which none may pass."""
    if options.data is None:
        raise InputError("the benchmark proofs needs --data: the folder of the instances")
    share = 0.1 if options.quick else options.share(_MINUTES)
    figures: list[Figure] = []
    outcomes: list[_Outcome] = []
    told: dict[str, list[list[str]]] = {}
    for each in _SETS:
        files = sorted(path for pattern in each.patterns for path in (options.data / each.folder).glob(pattern))
        if not files:
            raise InputError(f"{options.data / each.folder}: expected the instances {', '.join(each.patterns)}")
        with (options.data / each.folder / "optima.csv").open(newline="") as table:
            rows = (row for row in csv.reader(table) if len(row) == 2 or row[1] == str(_CUSTOMERS))
            optima = {row[0]: row[-1] for row in rows}
        solve(each.problem(each.read(files[0])), stop=TimeLimit(1.0))  # compiles the kernels
        small = [_outcome(_Case("", _of(each.problem, make())), compared=False) for make in each.small]
        found = []
        for k, path in enumerate(spread(files, share)):
            case = _Case(path.stem, _of(each.problem, each.read(path)), each.text(path), float(optima[path.stem]))
            found.append(_outcome(case, compared=k % 4 == 0))
            _say(case, found[-1], options)
        proved = sum(outcome.proved for outcome in found)
        figures.append(
            Figure(f"checked_{each.name}", proved, "instances", len(found), f"whole proofs, of {len(found)}")
        )
        outcomes += found
        told[each.name] = [outcome.lines for outcome in (*small, *found) if outcome.proved and outcome.size <= _SHORT]
    small = [
        _outcome(_Case("", _of(ChainMAP, chain_map.random(k, chains=3, length=5, labels=5))), compared=False)
        for k in range(3)
    ]
    told["chains"] = [outcome.lines for outcome in small]
    small = [_outcome(case, compared=False) for case in _small_trees()]
    told["trees"] = [outcome.lines for outcome in small]
    small = [
        _outcome(
            _Case("", _of(TitlePath, title_path.random(7, 4, seed, num_classes=5, attraction=3.0))), compared=False
        )
        for seed in range(3)
    ]
    told["paths"] = [outcome.lines for outcome in small]
    small = [_outcome(_Case("", _of(Coreference, coreference.random(6, seed))), compared=False) for seed in range(3)]
    told["clusters"] = [outcome.lines for outcome in small]
    cases = _compact_models(share)
    found = []
    for k, case in enumerate(cases):
        found.append(_outcome(case, compared=k % 2 == 0))
        _say(case, found[-1], options)
    proved = sum(outcome.proved for outcome in found)
    figures.append(Figure("checked_compact", proved, "models", len(found), f"taken apart, of {len(found)}"))
    outcomes += found
    # One piece more than demanded is another answer, as true as the first: rolls are not lied about.
    told["compact"] = [
        outcome.lines
        for case, outcome in zip(cases, found, strict=True)
        if outcome.proved and outcome.size <= _SHORT and not case.name.startswith("cutting")
    ]
    if (options.data / _ANNOTATED).is_dir():
        found = []
        for case in _documents(options.data / _ANNOTATED, share):
            found.append(_outcome(case, compared=True))
            _say(case, found[-1], options)
        proved = sum(outcome.proved for outcome in found)
        note = f"of {len(found)}, their first {_MENTIONS} mentions"
        figures.append(Figure("checked_clusters", proved, "documents", len(found), note))
        outcomes.append(_together(found))
    if (options.data / _TAGGED).is_dir():
        found = []
        for case in _parsed(options.data / _TAGGED, share):
            found.append(_outcome(case, compared=True))
            _say(case, found[-1], options)
        proved = sum(outcome.proved for outcome in found)
        note = f"of {len(found)}, half of them of each parser, at most {_WORDS} words"
        figures.append(Figure("checked_trees", proved, "sentences", len(found), note))
        half = len(found) // 2
        outcomes += [_together(found[:half]), _together(found[half:])]
        case, sentences = _sentences(options.data / _TAGGED, share)
        whole = _outcome(case, compared=True)
        _say(case, whole, options)
        figures.append(
            Figure("checked_chains", sentences * whole.proved, "sentences", sentences, "whole batches, of one test set")
        )
        outcomes.append(whole)
    figures += [] if options.quick else [_roots(items, options, share) for items in _ROOTS]
    checked = [(outcome, outcome.verdict) for outcome in outcomes if outcome.verdict is not None]
    claims = sum(verdict.claims.checked + verdict.claims.trusted for _, verdict in checked)
    trusted = sum(verdict.claims.trusted for _, verdict in checked)
    leaves = sum(verdict.leaves for _, verdict in checked)
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
    lies = {kind: _lies(certificates, wanted, options) for kind, certificates in told.items()}
    note = f"of {wanted} of each kind that change what a certificate says: "
    note += ", ".join(f"{kind} {found:,}" for kind, found in lies.items())
    figures.append(Figure("lies_found", sum(lies.values()), "lies", wanted * len(lies), note))
    return figures


def _of(problem: Callable[[Any], Problem], instance: Any) -> Callable[[], Problem]:
    """A new problem at each call: what one has learned about an instance is not lent to the next."""
    return lambda: problem(instance)


def _say(case: _Case, outcome: _Outcome, options: BenchOptions) -> None:
    options.say(
        f"{case.name}: {'proved' if outcome.proved else 'NOT PROVED'}, {outcome.seconds:.2f} s, checked in "
        f"{outcome.checking:.2f} s, {outcome.size:,} bytes"
    )


def _sentences(folder: Path, share: float) -> tuple[_Case, int]:
    """A test set as one batch, scored by a tagger that learns from the training set; and how many sentences it has."""
    task = TASKS["pos"]
    tagger = train_perceptron(
        "pos", examples_of(read_corpus(folder, task, "train")[:_LEARN], task), epochs=2, say=_nothing
    )
    test = spread(read_corpus(folder, task, "test"), share)
    instance = tagger.instance([sentence.words for sentence in test])
    return _Case(f"{len(test)} sentences", _of(ChainMAP, instance)), len(test)


def _roots(items: int, options: BenchOptions, share: float) -> Figure:
    """Roots of packing instances: a bound that is what the run says of its root, rounded up, with nothing trusted."""
    assert options.data is not None
    files = spread(sorted((options.data / "packing").glob(f"{items}_*.txt")), share)
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


def _small_trees() -> list[_Case]:
    return [
        _Case("", _of(GrandparentParsing, grandparent_parsing.random(6, 3))),
        _Case("", _of(NonlocalParsing, nonlocal_parsing.random(4, 1))),
        _Case("", _of(NonlocalParsing, nonlocal_parsing.random(4, 1, projective=False))),
    ]


def _parsed(folder: Path, share: float) -> list[_Case]:
    """Sentences of a test set, scored by parsers that learn from a part of the training set.

    One has arcs and chains of two, the other arcs and the factors of the default families.
    """
    learn = [s for s in read_conll(next(folder.glob("*train*.conllu"))) if len(s) <= _WORDS][:_LEARN_TREES]
    test = [s for s in read_conll(next(folder.glob("*test*.conllu"))) if 1 < len(s) <= _WORDS]
    test = spread(test[:: max(len(test) // _SENTENCES, 1)][:_SENTENCES], share)
    weights = learn_chains(learn, Chains(epochs=2, kinds=("grandparents",)))
    model = learn_factors(learn, Learning(backbone="first", filter_epochs=1, epochs=1, family_epochs=1), say=_nothing)
    chains = [_dense(weights, sentence) for sentence in test]
    cases = [_Case(f"chains, {len(s)} words", _of(GrandparentParsing, c)) for s, c in zip(test, chains, strict=True)]
    factors = [model.instance(s, 10) for s in test]
    return cases + [
        _Case(f"factors, {len(s)} words", _of(NonlocalParsing, f)) for s, f in zip(test, factors, strict=True)
    ]


def _compact_models(share: float) -> list[_Case]:
    """Models with as many blocks as machines, bins, medians or rolls; their optima are not known."""

    def taken_apart(name: str, size: int, seed: int) -> Callable[[], Problem]:
        family = FAMILIES[name]
        return lambda: decompose(family.build(size, seed), family.by)

    cases = [
        _Case(f"{name} {size}, {seed}", taken_apart(name, size, seed))
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
        cases.append(_Case(document.name, _of(Coreference, whole.restricted_to(range(_MENTIONS)))))
    return cases


def _dense(weights: Weights, sentence: Sentence) -> grandparent_parsing.GrandparentInstance:
    scorer = weights.scorer(sentence)
    return grandparent_parsing.from_scores(scorer, siblings=False, single_root=weights.single_root)


def _nothing(_: str) -> None:
    pass


def _outcome(case: _Case, *, compared: bool) -> _Outcome:
    plain = None
    if compared:
        begun = time.process_time()
        solve(case.problem(), stop=TimeLimit(_LIMIT))
        plain = time.process_time() - begun
    with tempfile.TemporaryDirectory() as folder:
        proof = Path(folder) / "proof.jsonl.gz"
        begun = time.process_time()
        solve(case.problem(), stop=TimeLimit(_LIMIT), record=Record(certificate=proof))
        seconds = time.process_time() - begun
        text = gzip.decompress(proof.read_bytes()).decode()
    lines, verdict = text.splitlines(), None
    begun = time.process_time()
    try:
        verdict = check(lines, case.text)
    except WrongError as wrong:
        raise AssertionError(f"{case.name}: line {wrong.line} is refused: {wrong}") from None
    checking = time.process_time() - begun
    proved = verdict.proves == "optimal" and not verdict.claims.trusted
    if proved and case.optimum is not None and float(verdict.objective or 0) != case.optimum:
        raise AssertionError(f"{case.name}: {verdict.objective} is proved, {case.optimum:g} is known")
    return _Outcome(proved, verdict, seconds, plain, checking, len(text), lines)


def _together(found: Sequence[_Outcome]) -> _Outcome:
    """Instances that take a hundredth of a second each as one."""
    verdicts = [outcome.verdict for outcome in found if outcome.verdict is not None]
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


def _lies(certificates: Sequence[list[str]], wanted: int, options: BenchOptions) -> int:
    """How many seeded lies are found."""
    seeds = range(wanted if certificates else 0)
    believed = unfound(certificates, seeds)
    for each in believed:
        options.say(f"not found, of {each}")
    return len(seeds) - len(believed)

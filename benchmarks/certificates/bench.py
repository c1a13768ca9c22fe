"""Benchmark of certificates: complete proofs, time to check and to write them, and detection of altered ones."""

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
from tests.fuzz.alterations import find_undetected

_MINUTES = 20.0
"""Approximate minutes for all instances."""

_LIMIT = 120.0
"""Time limit per instance in seconds."""

_ALTERED = 1_000
"""Altered certificates of each kind."""

_LEARN = 2_000
"""Training sentences of the tagger."""

_TAGGED = "english_ewt"
"""Folder of tagged sentences."""

_ANNOTATED = "litbank"
"""Folder of documents with mentions."""

_CUSTOMERS = 25
"""Customers of each instance with time windows."""

_SENTENCES, _WORDS, _LEARN_TREES = 100, 20, 600
"""Test sentences of each parser, words of the longest, and training sentences."""

_DOCUMENTS, _MENTIONS, _LEARN_DOCUMENTS, _LEARN_PAIRS = 50, 40, 30, 20_000
"""Test documents, their first mentions that are clustered, training documents, and training pairs."""

_COMPACT = (("assignment", 18, 4), ("assignment", 30, 1), ("packing", 40, 2), ("median", 12, 4), ("cutting", 4, 4))
"""Families of compact models with knapsack blocks: name, size, number of instances."""

_ROOTS = (402, 600)
"""Items of the packing instances of which only the root bound is proved."""

_SHORT = 40_000
"""Largest size in bytes of certificates to alter; each is checked up to its first wrong line."""


@dataclass(frozen=True)
class _Set:
    """Instances of one kind, and small ones whose certificates are altered."""

    name: str
    folder: str
    patterns: Sequence[str]
    read: Callable[[Path], Any]
    problem: Callable[[Any], Problem]
    small: Sequence[Callable[[], Any]]
    text: Callable[[Path], str] = Path.read_text
    """Return the text of the instance's file."""


def _first_customers(path: Path) -> str:
    """Return the text of a Solomon file with only the first customers."""
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
    """An instance: its problem, the file's text if the checker reads such files, and the known optimum."""

    name: str
    problem: Callable[[], Problem]
    text: str | None = None
    optimum: float | None = None


@dataclass(frozen=True)
class _Outcome:
    """Processor seconds and certificate of one instance; ``plain`` are seconds without a certificate, if measured."""

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
    """Check certificates of public instances, and altered certificates, all of which must be rejected."""
    data = options.folder("the benchmark `proofs` needs the folder of the instances: add --data DIR")
    share = 0.1 if options.quick else options.share(_MINUTES)
    figures: list[Figure] = []
    outcomes: list[_Outcome] = []
    certificates: dict[str, list[list[str]]] = {}

    def prove(cases: Iterable[_Case], every: int) -> list[_Outcome]:
        """Solve instances with certificates, and every ``every``-th also without."""
        outcomes = []
        for k, case in enumerate(cases):
            outcomes.append(_prove(case, compared=k % every == 0))
            options.say(f"{case.name}: {outcomes[-1]}")
        return outcomes

    def count_proved(name: str, found: Sequence[_Outcome], unit: str, note: str) -> Figure:
        return Figure(f"checked_{name}", sum(outcome.proved for outcome in found), unit, len(found), note)

    for each in _SETS:
        optima = _optima(data / each.folder / "optima.csv")
        matching = (path for pattern in each.patterns for path in (data / each.folder).glob(pattern))
        files = sorted(path for path in matching if path.stem in optima)
        if not files:
            raise InputError(f"{data / each.folder}: expected instances named {', '.join(each.patterns)}, found none")
        solve(each.problem(each.read(files[0])), stop=TimeLimit(1.0))  # compiles the kernels
        small = _prove_small(each.problem, (make() for make in each.small))
        found = prove(
            (
                _Case(path.stem, partial(each.problem, each.read(path)), each.text(path), optima[path.stem])
                for path in spread(files, share)
            ),
            4,
        )
        figures.append(count_proved(each.name, found, "instances", f"complete proofs, of {len(found)}"))
        outcomes += found
        certificates[each.name] = [
            outcome.lines for outcome in (*small, *found) if outcome.proved and outcome.size <= _SHORT
        ]
    for name, small in _small_proofs().items():
        certificates[name] = [outcome.lines for outcome in small]
    cases = _compact_models(share)
    found = prove(cases, 2)
    figures.append(count_proved("compact", found, "models", f"decomposed, of {len(found)}"))
    outcomes += found
    # An additional piece makes another feasible solution, so altered certificates of rolls may be correct.
    certificates["compact"] = [
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
        note = f"of {len(found)}, half of them by each parser, at most {_WORDS} words"
        figures.append(count_proved("trees", found, "sentences", note))
        half = len(found) // 2
        outcomes += [_add_up(found[:half]), _add_up(found[half:])]
        case, sentences = _tagger_case(data / _TAGGED, share)
        (batch,) = prove([case], 1)
        note = "one batch, the test set"
        figures.append(Figure("checked_chains", sentences * batch.proved, "sentences", sentences, note))
        outcomes.append(batch)
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
            "processor time of checking over solving, median",
        ),
        Figure(
            "certificate_bytes_per_leaf",
            sum(o.size for o in outcomes) / max(leaves, 1),
            "bytes",
            leaves,
            "uncompressed",
        ),
        Figure(
            "write_overhead",
            median(compared),
            "ratio",
            len(compared),
            "solving with a certificate over solving without, median",
        ),
    ]
    count = 30 if options.quick else max(round(_ALTERED * share), 30)
    rejected = {kind: _count_rejected(originals, count, options) for kind, originals in certificates.items()}
    note = f"rejected, of {count} altered certificates of each kind: "
    note += ", ".join(f"{kind} {number:,}" for kind, number in rejected.items())
    figures.append(Figure("lies_found", sum(rejected.values()), "lies", count * len(rejected), note))
    return figures


def _optima(path: Path) -> dict[str, float]:
    """Return the known optima; tables with several sizes are restricted to ``_CUSTOMERS``."""
    rows = [list(row.values()) for row in read_table(path)]
    return {row[0]: float(row[-1]) for row in rows if len(row) == 2 or row[1] == str(_CUSTOMERS)}


def _prove_small(problem: Callable[[Any], Problem], instances: Iterable[Any]) -> list[_Outcome]:
    """Return the certificates of small instances, to be altered; their seconds are not used."""
    return [_prove(_Case("", partial(problem, instance)), compared=False) for instance in instances]


def _small_proofs() -> dict[str, list[_Outcome]]:
    """Return small certificates of the problems that are not in ``_SETS``."""
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
    """Return a test set as one batch, scored by a trained tagger, and its number of sentences."""
    task = TASKS["pos"]
    tagger = train_perceptron(
        "pos", examples_of(read_corpus(folder, task, "train")[:_LEARN], task), epochs=2, say=say_nothing
    )
    test = spread(read_corpus(folder, task, "test"), share)
    instance = tagger.instance([sentence.words for sentence in test])
    return _Case(f"{len(test)} sentences", partial(ChainMAP, instance)), len(test)


def _check_roots(data: Path, items: int, options: BenchOptions, share: float) -> Figure:
    """Count root nodes of packing instances whose bound, rounded up, is proved with nothing trusted."""
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
    """Return test sentences scored by two parsers that are trained on a part of the training set.

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
    """Return models with one block per machine, bin, median or roll; their optima are unknown."""

    def build_and_decompose(name: str, size: int, seed: int) -> Problem:
        return decompose(FAMILIES[name].build(size, seed), FAMILIES[name].by)

    cases = [
        _Case(f"{name} {size}, {seed}", partial(build_and_decompose, name, size, seed))
        for name, size, count in _COMPACT
        for seed in range(count)
    ]
    return spread(cases, share)


def _documents(folder: Path, share: float) -> list[_Case]:
    """Return documents, cut after their first mentions, scored by a classifier trained on other documents."""
    documents = read_documents(folder)
    scorer = learn_mentions(documents[::3][:_LEARN_DOCUMENTS], num_pairs=_LEARN_PAIRS, num_networks=1)
    others = [document for k, document in enumerate(documents) if k % 3][:_DOCUMENTS]
    cases = []
    for document in spread(others, share):
        instance = coreference.CoreferenceInstance(
            scores_of(scorer.probabilities(document), "probability"), document.name
        )
        cases.append(_Case(document.name, partial(Coreference, instance.restricted_to(range(_MENTIONS)))))
    return cases


def _score_densely(weights: Weights, sentence: Sentence) -> grandparent_parsing.GrandparentInstance:
    scorer = weights.scorer(sentence)
    return grandparent_parsing.from_scores(scorer, siblings=False, single_root=weights.single_root)


def _prove(case: _Case, *, compared: bool) -> _Outcome:
    """Solve an instance with a certificate, check it, and optionally solve without one to compare."""

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
        raise AssertionError(f"{case.name}: line {wrong.line} of a correct certificate is rejected: {wrong}") from None
    proved = verdict.proves == "optimal" and not verdict.claims.trusted
    if proved:
        objective = float(verdict.objective or 0)
        check_agreement(case.name, {"the certificate": (objective, objective)}, known=case.optimum)
    return _Outcome(proved, verdict, seconds, plain, checking, len(text), lines)


def _add_up(found: Sequence[_Outcome]) -> _Outcome:
    """Add up outcomes that are too short to be timed individually (about 0.01 s each)."""
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


def _count_rejected(certificates: Sequence[list[str]], count: int, options: BenchOptions) -> int:
    """Return how many seeded alterations the checker rejects."""
    seeds = range(count if certificates else 0)
    accepted = find_undetected(certificates, seeds)
    for seed in accepted:
        options.say(f"an altered certificate is accepted: {seed}")
    return len(seeds) - len(accepted)

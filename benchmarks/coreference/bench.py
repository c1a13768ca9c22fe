"""Benchmark of coreference on annotated documents: the source's comparison, and the quality of the clusterings.

The pairwise classifier is trained on the first 80% of the documents, tuned on the next 10% and tested on the last 10%.
Times exclude training.  All compared methods are measured in one run on one thread.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np
from numpy.typing import NDArray

from benchmarks.coreference.comparison import (
    QUICK,
    ClusteringPlan,
    compare_ways,
    cut,
    measure_growth,
    measure_hard,
    run_sizes,
    run_whole,
)
from benchmarks.coreference.drawing import draw
from benchmarks.coreference.graphs import FOOTBALL, bench_graphs
from benchmarks.coreference.methods import GENERATED, run, warm_up
from benchmarks.coreference.oracles import compare_oracles, count_columns
from benchmarks.harness import BenchOptions, Run, spread
from colgen import InputError
from colgen.cli.template import Figure
from colgen.core.files import write_figure
from colgen.problems.coreference.baseline import closure, greedy_joining, link_best, link_first
from colgen.problems.coreference.document import Cluster, Document
from colgen.problems.coreference.instance import CoreferenceInstance
from colgen.problems.coreference.learning import (
    KINDS,
    NUM_NETWORKS,
    NUM_PAIRS,
    MentionScorer,
    ScoreKind,
    scores_of,
    train,
)
from colgen.problems.coreference.metrics import Agreement, agreement
from colgen.problems.coreference.training import read_corpus, split

_LIMIT = 20.0
"""Time limit per complete document in seconds."""

_MINUTES = 12.0
"""Approximate minutes for all documents."""

_QUICK_DOCUMENTS = 10

HEURISTICS = {
    "link_first": link_first,
    "link_best": link_best,
    "closure": closure,
    "greedy_joining": greedy_joining,
}


@dataclass(frozen=True)
class Scored:
    """A document and the probability that two mentions corefer, for each pair."""

    document: Document
    probabilities: NDArray[np.float64]

    def instance(self, kind: ScoreKind, bias: float = 0.0) -> CoreferenceInstance:
        document = self.document
        return CoreferenceInstance(
            scores_of(self.probabilities, kind, bias), f"{document.name};{document.part}", document.labels
        )


def bench_coreference(options: BenchOptions) -> list[Figure]:
    """Run the source's experiment: column generation and the integer linear program on complete texts and parts.

    If the folder holds graphs instead of texts, measure clustering on graphs.
    """
    if options.data is not None and (options.data / FOOTBALL).is_file():
        return bench_graphs(options)
    data = options.folder(
        "this benchmark needs annotated documents: add --data DIR, for example the folder coref/conll of "
        "github.com/dbamman/litbank, or a folder with football.gml to measure graphs"
    )
    share = options.share(_MINUTES)
    plan = (QUICK if options.quick else ClusteringPlan()).shortened(share)
    documents, num_test, scorer = _train(data, options, plan.compared[-1])
    scored = [Scored(document, scorer.probabilities(document)) for document in documents]
    options.say("scores of all documents; compiling")
    instances = [one.instance("probability") for one in scored]
    warm_up(cut(instances, plan.compared[0], 3))
    runs = run_sizes(instances, plan, options.say)
    whole = run_whole(instances, plan, options.say)
    if options.plot is not None:
        write_figure(draw(runs), options.plot)
    figures = [
        *compare_ways(runs, whole, plan),
        *measure_growth(runs),
        *(count_columns(cut(instances, size, plan.documents), plan.own_limit) for size in plan.compared),
        compare_oracles(
            spread(cut(instances, plan.compared[-1], plan.documents), most=plan.priced),
            plan.sign_cap,
            plan.own_limit,
            options.say,
        ),
        *measure_hard(plan, options.say),
    ]
    proved, answers = _prove_documents(spread(scored if not options.quick else scored[-4:], share), options)
    figures = [*proved, *figures, *_compare_clusterings(spread(scored[-num_test:], share), scorer, answers, options)]
    return figures


def _train(data: Path, options: BenchOptions, least: int) -> tuple[list[Document], int, MentionScorer]:
    """Return all documents, the number of test documents at their end, and the scorer.

    The longest document must have at least ``least`` mentions.
    """
    documents = read_corpus(data)
    if options.quick:
        documents = documents[:_QUICK_DOCUMENTS]
    longest = max(len(document.mentions) for document in documents)
    if longest < least:
        raise InputError(f"{data}: expected a document with at least {least} mentions, the longest has {longest}")
    learn, tune, test = split(documents)
    options.say(f"{len(learn)} documents for training, {len(tune)} for tuning, {len(test)} for testing")
    scorer = train(
        learn,
        tune,
        num_pairs=NUM_PAIRS // 16 if options.quick else NUM_PAIRS,
        num_networks=1 if options.quick else NUM_NETWORKS,
        say=options.say,
    )
    return documents, len(test), scorer


# --- complete documents ----------------------------------------------------------------------------------------------


def _prove_documents(
    scored: Sequence[Scored], options: BenchOptions
) -> tuple[list[Figure], dict[tuple[ScoreKind, str], Run]]:
    """Solve all documents with all mentions; return proofs and times, and the runs by kind and document."""
    limit = 5.0 if options.quick else _LIMIT
    figures: list[Figure] = []
    answers: dict[tuple[ScoreKind, str], Run] = {}
    for kind in KINDS:
        name = "" if kind == "probability" else f"_{kind}"
        runs = []
        for number, one in enumerate(scored, 1):
            instance = one.instance(kind)
            result = answers[kind, instance.name] = run(GENERATED, instance, limit)
            runs.append(result)
            if number % 10 == 0 or number == len(scored) or not result.proved:
                options.say(
                    f"{kind}: {number} of {len(scored)} documents, {sum(r.proved for r in runs)} proved; the last "
                    f"has {result.size} mentions and took {result.seconds:.3g} s"
                )
        figures += count_proofs(runs, name, f"in {limit:g} s")
    return figures, answers


def count_proofs(runs: Sequence[Run], suffix: str, limit: str) -> list[Figure]:
    """Return how many documents were proved, and the effort."""
    n, seconds = len(runs), [r.seconds for r in runs]
    at_root = sum(r.proved and r.nodes <= 1 for r in runs)
    return [
        Figure(f"documents_proved{suffix}", sum(r.proved for r in runs), "documents", n, f"of {n}, {limit}"),
        Figure(f"documents_seconds{suffix}", median(seconds), "s", n, "median, complete documents"),
        Figure(f"documents_seconds_worst{suffix}", max(seconds), "s", n),
        Figure(f"documents_closed_at_root{suffix}", at_root, "documents", n, "proved without branching"),
        Figure(f"documents_nodes_worst{suffix}", max(r.nodes for r in runs), "nodes", n),
        Figure(f"documents_rounds{suffix}", median(r.rounds for r in runs), "rounds", n, "median"),
        Figure(
            f"proved_by_engine{suffix}",
            sum(r.by_engine for r in runs) / n,
            "share",
            n,
            "of the clusterings have a bound recomputed by an oracle and a score recomputed by the check",
        ),
    ]


# --- quality of clusterings ------------------------------------------------------------------------------------------


def _compare_clusterings(
    test: Sequence[Scored], scorer: MentionScorer, answers: Mapping[tuple[ScoreKind, str], Run], options: BenchOptions
) -> list[Figure]:
    """Measure CoNLL F1 of the optimal clusterings and of the heuristics on the test documents."""
    limit = 5.0 if options.quick else _LIMIT
    figures = []
    for kind in KINDS:
        for label, bias in (("", 0.0), ("_tuned", scorer.bias[kind])):
            clusterings, proved = [], 0
            for one in test:
                instance = one.instance(kind, bias)
                result = answers.get((kind, instance.name)) if not bias else None
                result = result or run(GENERATED, instance, limit)
                clusterings.append(result.answer)
                proved += result.proved
            note = f"optimal clustering, bias {bias:g}, {proved} of {len(test)} proved"
            figures.append(measure_quality(f"conll_f1_optimal_{kind}{label}", test, clusterings, note))
            options.say(f"{figures[-1].name}: {figures[-1].value:.1f}")
    for name, method in HEURISTICS.items():
        for label, bias in (("", 0.0), ("_tuned", scorer.bias["probability"])):
            clusterings = [method(one.instance("probability", bias)) for one in test]
            figures.append(measure_quality(f"conll_f1_{name}{label}", test, clusterings, f"p - 1/2, bias {bias:g}"))
    return figures


def measure_quality(name: str, test: Sequence[Scored], clusterings: Sequence[Sequence[Cluster]], note: str) -> Figure:
    """Return CoNLL F1 over documents, with its three measures in the note."""
    total = Agreement()
    for one, clusters in zip(test, clusterings, strict=True):
        total += agreement(one.document.gold, clusters)
    parts = ", ".join(f"{100 * measure.f1:.1f}" for measure in (total.muc, total.b_cubed, total.ceaf_e))
    return Figure(name, 100.0 * total.conll, "%", len(test), f"MUC, B-cubed, CEAF-e: {parts}; {note}")

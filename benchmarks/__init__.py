"""Benchmarks that ``colgen bench`` runs.  They are part of a checkout, not of the installed package."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module

from benchmarks.harness import BenchOptions
from colgen.cli.template import Figure

BENCHMARKS = {
    "answers": "models.answers:bench_answers",
    "assignment": "assignment.bench:bench_assignment",
    "bounding": "cutting_stock.bounding:bench_bounding",
    "branching": "engine.branching:bench_branching",
    "chain_map": "chain_map.bench:bench_chain_map",
    "colouring": "colouring.bench:bench_colouring",
    "coreference": "coreference.bench:bench_coreference",
    "cutting_stock": "cutting_stock.bench:bench_cutting_stock",
    "decisions": "learning.decisions:bench_decisions",
    "decompose": "decomposition.bench:bench_decompose",
    "demo": "runs.demo:bench_demo",
    "engine": "engine.bench:bench_engine",
    "first_answers": "runs.first_answers:bench_first_answers",
    "first_gaps": "runs.first_gaps:bench_first_gaps",
    "grandparent_parsing": "grandparent_parsing.bench:bench_grandparent_parsing",
    "labelling": "vehicle_routing.labelling:bench_labelling",
    "learners": "engine.learners:bench_learners",
    "learning": "learning.bench:bench_learning",
    "lp_backends": "cutting_stock.lp_backends:bench_lp_backends",
    "models": "models.bench:bench_models",
    "networks": "networks.bench:bench_networks",
    "nonlocal_parsing": "nonlocal_parsing.bench:bench_nonlocal_parsing",
    "pipeline": "pipeline.bench:bench_pipeline",
    "proofs": "certificates.bench:bench_proofs",
    "scale": "runs.large:bench_scale",
    "stabilization": "engine.stabilization:bench_stabilization",
    "title_path": "title_path.bench:bench_title_path",
    "truth": "truth.bench:bench_truth",
    "vehicle_routing": "vehicle_routing.bench:bench_vehicle_routing",
    "workers": "runs.workers:bench_workers",
}
"""Module, relative to this package, and function of each benchmark."""

SEEDED = ("answers", "truth")
"""Benchmarks with random instances, which use the seed."""


def load(name: str) -> Callable[[BenchOptions], Sequence[Figure]]:
    """Import and return a benchmark; imports are deferred because benchmarks import templates."""
    module, _, function = BENCHMARKS[name].partition(":")
    benchmark: Callable[[BenchOptions], Sequence[Figure]] = getattr(import_module(f"{__name__}.{module}"), function)
    return benchmark

"""Certificates of labellings: valid for whole batches, and rejected if forged."""

from fractions import Fraction

import networkx as nx
import numpy as np
import pytest

from colgen import Record, solve
from colgen.certificate.checker import check
from colgen.core.result import Termination
from colgen.problems.chain_map import ChainInstance, random
from colgen.problems.chain_map.template import ChainMAP
from tests.fuzz.alterations import find_undetected


def certified(instance, path, **options):
    result = solve(ChainMAP(instance, **options), record=Record(certificate=path))
    return result, path.read_text().splitlines()


@pytest.mark.parametrize("start", ["sweep", 1])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_batches_are_proved(tmp_path, start, dtype):
    result, lines = certified(random(5, chains=4, labels=6, dtype=dtype), tmp_path / "proof.jsonl", start=start)
    verdict = check(lines)
    assert result.termination is Termination.OPTIMAL
    assert (verdict.proves, verdict.claims.trusted, verdict.stated) == ("optimal", 0, True)
    assert float(verdict.objective) == pytest.approx(result.objective)


def test_trees_with_forbidden_labels_or_without_labellings(tmp_path):
    graph = nx.Graph([(0, 1), (0, 2), (3, 4)])
    scores = {0: [1e-3, 2.0], 1: [0.25, -1.0], 2: [3.0], 3: [1.0, 1.0], 4: [1.0, 1.0]}
    tables = {0: [[1.0, -np.inf], [0.5, 0.0]], 1: [[1.0], [2.5]], 3: [[-np.inf, -np.inf]] * 2}
    for u, v in graph.edges:
        graph.edges[u, v]["transitions"] = np.array(tables[u if v != 2 else 1])
    result, lines = certified(ChainInstance.from_tree(graph, scores), tmp_path / "proof.jsonl")
    verdict = check(lines)
    assert (verdict.proves, verdict.claims.trusted) == ("optimal", 0)
    assert float(verdict.objective) == result.objective


def test_optima_up_to_rounding_are_reported_within_tolerance(tmp_path):
    """Labellings whose sums are equal in floating point, but not exactly."""
    tiny = 2.0**-60
    instance = ChainInstance.from_chain([[1.0, 1.0], [tiny, 0.0]], np.array([[0.0, tiny], [tiny, 0.0]]))
    result, lines = certified(instance, tmp_path / "proof.jsonl", start=1)
    verdict = check(lines)
    assert result.termination is Termination.WITHIN_TOLERANCE
    assert (verdict.proves, verdict.claims.trusted) == ("bound", 0)
    assert (verdict.objective, verdict.bound) == (1 + Fraction(1, 2**60), 1 + Fraction(2, 2**60))


def test_forged_certificates_are_rejected(tmp_path):
    _, lines = certified(random(2, chains=3, length=4, labels=3), tmp_path / "proof.jsonl")
    assert not find_undetected([lines], range(150))

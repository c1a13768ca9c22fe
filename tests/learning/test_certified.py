"""Best structures with certificates: against lists of all structures, and checked by the checker alone."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from colgen.certificate.checker import check
from colgen.certificate.checker_files import lines_of
from colgen.core.errors import InputError
from colgen.learning import (
    Alignments,
    Chains,
    Constituents,
    Matchings,
    MonotoneChains,
    Segmentations,
    best_structure,
    certified_best,
)

CASES = {
    "segmentations": (Segmentations(), [(6, 3, 2), (2, 2)]),
    "longer than the chain": (Segmentations(), [(2, 4, 2), (2, 2)]),
    "constituents": (Constituents(), [(5, 5)]),
    "labelled constituents": (Constituents(), [(4, 4, 3)]),
    "one word": (Constituents(), [(1, 1)]),
    "alignments": (Alignments(), [(4, 3, 3)]),
    "nothing to align": (Alignments(), [(1, 1, 3)]),
    "monotone chains": (MonotoneChains(), [(5, 4), (5, 3)]),
    "matchings": (Matchings(), [(5, 5)]),
    "more columns than rows": (Matchings(), [(3, 6)]),
    "one pair": (Matchings(), [(1, 1)]),
    "one state": (MonotoneChains(), [(3, 1), (2, 3)]),
}


def drawn(shapes, seed, forbidden=0.0):
    rng = np.random.default_rng(seed)
    return [np.where(rng.random(s) < forbidden, -np.inf, rng.normal(size=s)) for s in shapes]


def exact_score(structure, scores):
    parts = zip(scores, structure.parts, strict=True)
    return sum(
        (Fraction(float(theta.ravel()[p])) * int(n) for theta, own in parts for p, n in zip(*own, strict=True)),
        Fraction(0),
    )


@pytest.mark.parametrize("forbidden", [0.0, 0.15])
@pytest.mark.parametrize("name", CASES)
def test_certificates_prove_the_best_structures(name, forbidden, tmp_path):
    """Best structures are compared with lists of all structures in ``test_derivations``."""
    oracle, shapes = CASES[name]
    for seed in range(4):
        scores, path = drawn(shapes, seed, forbidden), tmp_path / f"{seed}.jsonl.gz"
        try:
            best = best_structure(oracle, scores)
        except InputError:
            with pytest.raises(InputError, match="every structure is forbidden"):
                certified_best(oracle, scores, path)
            assert not path.exists()
            continue
        found = certified_best(oracle, scores, path)
        assert found.score(scores) == pytest.approx(best.score(scores), abs=1e-12)
        verdict = check(lines_of(str(path)))
        assert verdict.checked
        assert verdict.stated
        assert verdict.proves == "optimal"
        assert verdict.objective == verdict.bound == exact_score(found, scores)


def test_rounding_does_not_decide(tmp_path):
    """In floating point both divisions score 1e16; exactly, the second scores 1 more."""
    scores = np.full((3, 3), 0.0)
    scores[0, 2], scores[0, 1], scores[1, 2] = 1e16, 0.0, 1.0
    for turned in (scores, np.ascontiguousarray(scores[::-1, ::-1].T)):
        found = certified_best(Constituents(), [turned], tmp_path / "proof.jsonl")  # overwrites the first
        assert exact_score(found, [turned]) == 10**16 + 1
        assert check(lines_of(str(tmp_path / "proof.jsonl"))).objective == 10**16 + 1


@pytest.mark.parametrize("shape", [(4, 4), (3, 5)])
def test_matchings_with_ties_and_forbidden_pairs(shape, tmp_path):
    rng, rows = np.random.default_rng(0), np.arange(shape[0])
    for _ in range(30):
        scores = np.where(rng.random(shape) < 0.4, -np.inf, rng.integers(-2, 3, size=shape))
        best = max(scores[rows, list(x)].sum() for x in itertools.permutations(range(shape[1]), shape[0]))
        if best == -np.inf:
            with pytest.raises(InputError, match="every structure is forbidden"):
                certified_best(Matchings(), [scores], tmp_path / "proof.jsonl")
        else:
            assert certified_best(Matchings(), [scores], tmp_path / "proof.jsonl").score((scores,)) == best
            assert check(lines_of(str(tmp_path / "proof.jsonl"))).bound == best


@pytest.mark.parametrize("scale", [1e-300, 1e290])
@pytest.mark.parametrize("name", CASES)
def test_scores_of_any_size(name, scale, tmp_path):
    oracle, shapes = CASES[name]
    scores = [scale * theta for theta in drawn(shapes, 3)]
    scores[0].ravel()[0] = 1.0  # beside tiny ones, or large ones
    if scores[0].shape[1] > 1:
        scores[0].ravel()[1] = -np.inf
    found = certified_best(oracle, scores, tmp_path / "proof.jsonl")
    verdict = check(lines_of(str(tmp_path / "proof.jsonl")))
    assert verdict.proves == "optimal"
    assert verdict.objective == exact_score(found, scores)


def test_what_has_no_certificate_is_refused(tmp_path):
    path = tmp_path / "proof.jsonl"
    with pytest.raises(InputError, match=r"expected an oracle whose best structures have certificates .*not Chains"):
        certified_best(Chains(), drawn([(2, 2), (2, 2)], 0), path)
    with pytest.raises(InputError, match=r"expected the shape \(words, words\)"):
        certified_best(Constituents(), [np.zeros((2, 3))], path)
    path.write_text("scores")
    with pytest.raises(InputError, match="exists and is not a certificate"):
        certified_best(Constituents(), [np.zeros((2, 2))], path)
    assert path.read_text() == "scores"


def test_too_many_edges_are_refused(tmp_path, monkeypatch):
    from colgen.certificate import checker_pricing

    monkeypatch.setattr(checker_pricing, "LABEL_LIMIT", 10)
    with pytest.raises(InputError, match="too many for a certificate: expected at most 10 edges"):
        certified_best(Constituents(), [np.zeros((4, 4))], tmp_path / "proof.jsonl")

"""The measures on published examples and on identities that they satisfy."""

import itertools
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colgen.problems.coreference.document import as_clusters
from colgen.problems.coreference.metrics import MEASURES, Agreement, agreement, b_cubed, blanc, ceaf_e, ceaf_m, lea, muc
from colgen.problems.coreference.training import read_corpus

DATA = Path(os.environ.get("COLGEN_DATA", Path(__file__).parents[4] / "shared" / "data")) / "litbank"

# Pradhan et al. (2014): key and response hold different mentions.  (They round before they divide: B-cubed 0.46.)
KEY = ["abc", "defg"]
RESPONSE = ["ab", "cd", "fghi"]

# Luo (2005): twelve mentions in three entities.
TRUTH = [range(1, 6), range(6, 8), range(8, 13)]
A = [range(1, 6), range(6, 13)]
B = [[1, 2, 3, 4, 5, 8, 9, 10, 11, 12], [6, 7]]
C = [range(1, 13)]
D = [[i] for i in range(1, 13)]


def test_example_of_the_reference_implementation():
    found = agreement(KEY, RESPONSE)
    assert (found.muc.recall, found.muc.precision) == pytest.approx((2 / 5, 2 / 5))
    assert (found.b_cubed.recall, found.b_cubed.precision) == pytest.approx((35 / 12 / 7, 4 / 8))
    assert (found.ceaf_e.recall, found.ceaf_e.precision) == pytest.approx((1.3 / 2, 1.3 / 3))
    assert [round(m.f1, 2) for m in (found.muc, found.b_cubed, found.ceaf_e)] == [0.40, 0.45, 0.52]
    assert found.conll == pytest.approx((0.4 + found.b_cubed.f1 + 0.52) / 3)
    assert (found.ceaf_m.recall, found.ceaf_m.precision) == pytest.approx((4 / 7, 4 / 8))
    assert (found.blanc.links.recall, found.blanc.links.precision) == pytest.approx((2 / 9, 2 / 8))
    assert (found.blanc.others.recall, found.blanc.others.precision) == pytest.approx((8 / 12, 8 / 20))
    assert [round(m.f1, 2) for m in (found.ceaf_m, found.blanc)] == [0.53, 0.37]


def test_example_of_lea():
    # Moosavi and Strube (2016), section 4: the same key and response.
    found = lea(KEY, RESPONSE)
    assert (found.recall, found.precision) == pytest.approx(((3 * 1 / 3 + 4 * 1 / 6) / 7, (2 * 1 + 2 * 0 + 4 / 6) / 8))
    assert (round(found.recall, 2), round(found.precision, 2)) == (0.24, 0.33)


@pytest.mark.parametrize(
    ("response", "muc_f1", "b_cubed_f1", "ceaf_e_f1"),
    [(A, 0.947, 0.865, 0.733), (B, 0.947, 0.737, 0.667), (C, 0.900, 0.545, 0.294), (D, 0.0, 0.400, 0.178)],
)
def test_table_of_luo(response, muc_f1, b_cubed_f1, ceaf_e_f1):
    found = agreement(TRUTH, response)
    assert found.muc.f1 == pytest.approx(muc_f1, abs=6e-4)
    assert found.b_cubed.f1 == pytest.approx(b_cubed_f1, abs=6e-4)
    assert found.ceaf_e.f1 == pytest.approx(ceaf_e_f1, abs=6e-4)


def test_single_mentions_count_in_all_measures_but_muc():
    key = ["ab", "c", "d"]
    response = ["ab", "cd"]
    assert muc(key, response).recall == 1.0
    assert muc(key, response).precision == pytest.approx(1 / 2)
    assert muc([*key, "e"], [*response, "e"]) == muc(key, response)
    assert b_cubed([*key, "e"], [*response, "e"]).f1 > b_cubed(key, response).f1
    assert ceaf_e([*key, "e"], [*response, "e"]).f1 > ceaf_e(key, response).f1


def test_corpora_are_summed_before_division():
    first, second = agreement(["ab", "cd"], ["abcd"]), agreement(["abc"], ["ab", "c"])
    total = sum((first, second), Agreement())
    assert total.muc.recall == pytest.approx((2 + 1) / (2 + 2))
    assert total.muc.precision == pytest.approx((2 + 1) / (3 + 1))
    assert total.b_cubed.precision == pytest.approx((2 + 3) / 7)
    assert total.ceaf_e.recall == pytest.approx((2 * 2 / 6 + 2 * 2 / 5) / 3)


def test_nothing_to_find_or_nothing_found():
    assert agreement([], []).conll == 0.0
    assert agreement(["ab"], []).b_cubed.f1 == 0.0
    assert muc(["a"], ["a"]).f1 == 0.0


def test_a_mention_in_two_clusters_raises():
    for measure in (agreement, muc, b_cubed, ceaf_e, ceaf_m, lea, blanc):
        with pytest.raises(ValueError, match="mention 'b' is in clusters 0 and 1"):
            measure(["ab", "c"], ["ab", "bc"])


clusterings = st.lists(st.integers(0, 4), min_size=2, max_size=9).map(as_clusters)


@given(clusterings)
def test_perfect_agreement(clustering):
    found = agreement(clustering, clustering)
    assert found.b_cubed.f1 == pytest.approx(1.0)
    assert found.ceaf_e.f1 == pytest.approx(1.0)
    assert found.muc.f1 == (1.0 if any(len(c) > 1 for c in clustering) else 0.0)


def drawn(numbers):
    """Return a clustering of some of the mentions; those of number 0 are omitted."""
    clusters = {}
    for mention, number in enumerate(numbers):
        if number:
            clusters.setdefault(number, set()).add(mention)
    return list(clusters.values())


lists = st.integers(2, 9).flatmap(lambda n: st.tuples(*[st.lists(st.integers(0, 4), min_size=n, max_size=n)] * 2))


@given(lists)
def test_blanc_agrees_with_its_definition(numbers):
    keys, responses = map(drawn, numbers)

    def pairs(clusters):
        mentions = sorted(set().union(*clusters))
        every = set(itertools.combinations(mentions, 2))
        links = {pair for pair in every if any(set(pair) <= cluster for cluster in clusters)}
        return links, every - links

    for kind, a, b in zip(("links", "others"), pairs(keys), pairs(responses), strict=True):
        measure = getattr(blanc(keys, responses), kind)
        assert (measure.found, measure.findable, measure.right, measure.given) == (
            len(a & b),
            len(a),
            len(a & b),
            len(b),
        )
    recall = 0.0
    for key in keys:
        links = set(itertools.combinations(sorted(key), 2)) or {(*key, *key)}
        kept = [p for p in links if any(set(p) <= r and (len(key) > 1 or len(r) == 1) for r in responses)]
        recall += len(key) * len(kept) / len(links)
    assert lea(keys, responses).found == pytest.approx(recall)


@given(lists)
def test_without_single_mentions(numbers):
    keys, responses = map(drawn, numbers)
    several = [[c for c in clusters if len(c) > 1] for clusters in (keys, responses)]
    assert agreement(keys, responses, singletons=False) == agreement(*several)


@pytest.mark.slow
@pytest.mark.skipif(not DATA.is_dir(), reason="LitBank is not there (COLGEN_DATA names the folder of the corpora)")
def test_the_same_as_another_scorer_on_a_corpus():
    scores = pytest.importorskip("scorch.scores", reason="the other scorer")
    for number, document in enumerate(read_corpus(DATA)[:20]):
        rng = np.random.default_rng(number)
        gold = [set(cluster) for cluster in document.gold]
        moved = [(int(rng.integers(len(gold))) if rng.random() < 0.3 else k, m) for k, c in enumerate(gold) for m in c]
        found = {}
        for cluster, mention in moved:
            if rng.random() < 0.9:
                found.setdefault(cluster, set()).add(mention)
        for singletons in (True, False):
            least = 1 if singletons else 2
            ours = agreement(gold, found.values(), singletons=singletons)
            kept = [[c for c in clusters if len(c) >= least] for clusters in (gold, found.values())]
            for name in ("muc", "b_cubed", "ceaf_e", "ceaf_m", "blanc"):
                measure = getattr(ours, name)
                theirs = getattr(scores, name)(*kept)
                assert (measure.recall, measure.precision, measure.f1) == pytest.approx(theirs, abs=1e-12), name


@given(st.integers(2, 9).flatmap(lambda n: st.tuples(*[st.lists(st.integers(0, 4), min_size=n, max_size=n)] * 2)))
def test_exchanging_clusterings_exchanges_recall_and_precision(numbers):
    first, second = map(as_clusters, numbers)
    there, back = agreement(first, second), agreement(second, first)
    for name in MEASURES:
        one, other = getattr(there, name), getattr(back, name)
        assert one.recall == pytest.approx(other.precision)
        assert 0.0 <= one.f1 <= 1.0 + 1e-12

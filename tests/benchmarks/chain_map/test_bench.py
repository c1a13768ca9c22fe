"""Proofs that the benchmark counts."""

import numpy as np

from benchmarks.chain_map.bench import QUICK, measure_tagging, share_proved
from colgen.problems.chain_map.corpus import TASKS, Tagged
from colgen.problems.chain_map.instance import ChainInstance, random
from colgen.problems.chain_map.learning import train_perceptron
from colgen.problems.chain_map.sweeping import SweepPricing
from colgen.problems.chain_map.training import examples_of


def test_chains_are_proved_by_a_pricing_round():
    assert share_proved(random(0, chains=5, labels=6)) == 1.0
    assert share_proved(random(1, chains=5, labels=6, dtype=np.float32)) == 1.0


def test_a_chain_without_a_labelling_is_proved_to_have_none():
    scores = [np.zeros((3, 2)), np.array([[0.0, 0.0], [-np.inf, -np.inf]])]
    assert share_proved(ChainInstance.from_chains(scores, np.eye(2))) == 1.0


def test_chains_beyond_the_time_limit_are_not_proved(monkeypatch):
    swept = SweepPricing._sweep_domains
    monkeypatch.setattr(SweepPricing, "_sweep_domains", lambda *args: (0, swept(*args)[1]))
    assert share_proved(random(0, chains=5, labels=6)) == 0.0


def test_tagging_times_include_features():
    sentences = [Tagged(("a", "b"), ("A", "B")), Tagged(("b",), ("B",))]
    tagger = train_perceptron("pos", examples_of(sentences, TASKS["pos"]), epochs=1, say=lambda _: None)
    figures = {figure.name: figure.value for figure in measure_tagging(tagger, sentences, "pos", QUICK)}
    assert set(figures) == {"tag_tokens_per_second_pos", "tag_one_sentence_ms_pos"}
    assert min(figures.values()) > 0

"""What the benchmark counts as proved."""

import numpy as np

from problems.chain_map.experiment import share_proved
from problems.chain_map.instance import Instance, random
from problems.chain_map.sweeping import SweepPricing


def test_chains_are_proved_by_the_round_that_priced_them():
    assert share_proved(random(0, chains=5, labels=6)) == 1.0
    assert share_proved(random(1, chains=5, labels=6, dtype=np.float32)) == 1.0


def test_a_chain_without_a_labelling_is_proved_to_have_none():
    scores = [np.zeros((3, 2)), np.array([[0.0, 0.0], [-np.inf, -np.inf]])]
    assert share_proved(Instance.from_chains(scores, np.eye(2))) == 1.0


def test_chains_that_there_was_no_time_for_are_not_proved(monkeypatch):
    swept = SweepPricing._swept
    monkeypatch.setattr(SweepPricing, "_swept", lambda *args: (0, swept(*args)[1]))
    assert share_proved(random(0, chains=5, labels=6)) == 0.0

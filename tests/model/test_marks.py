"""Marks of variables with a special role."""

import numpy as np

from colgen import exchange
from colgen.model.rows import compile_model
from tests.model.test_rows import sample


def test_exchanges_have_both_marks():
    m = sample()
    assert compile_model(m).exchange is None
    m.trade = exchange([1])
    m.second[1].set_value(m.y + m.missing[1] - m.trade[1] >= 1)
    f = compile_model(m)
    assert f.exchange.tolist() == [False] * 6 + [True]
    assert f.artificial.tolist() == [False] * 4 + [True] * 3
    assert f.subset(np.ones(5, dtype=bool), np.arange(7) != 0).exchange.tolist() == [False] * 5 + [True]

"""Cuts that an oracle cannot price are refused by name; who says that it can is held to it."""

import pytest

from colgen import Best, Stages, WarmStart, solve
from colgen.core.errors import UnpricedCutError
from colgen.core.terms import Count
from colgen.pricing.derived import Identical
from tests.cuts.test_cut import TRIPLES, WORTH, Packing, Sets, complete


class Forgetful(Sets):
    """Says nothing of cuts, and prices none."""

    prices = frozenset()

    def best(self, duals, context):
        worth = {s: context.cost_weight * w - sum(duals["row", i] for i in s) for s, w in WORTH.items()}
        chosen = max(worth, key=worth.get)
        return Best(chosen, worth[chosen])


class Liar(Forgetful):
    """Says that it prices what it does not."""

    prices = frozenset({Count})


def test_an_oracle_that_cannot_price_a_cut_is_refused_by_name():
    with pytest.raises(UnpricedCutError, match=r"Forgetful cannot price the cuts 'subset_row', .* are Count terms"):
        solve(Packing(TRIPLES, Forgetful))
    assert solve(Packing((), Forgetful), relaxation=True).objective == pytest.approx(complete(()))
    with pytest.raises(Exception, match="states the reduced cost"):
        solve(Packing(TRIPLES, Liar))


def test_stages_price_what_all_of_them_price_and_identical_oracles_what_one_does():
    assert Stages(Forgetful(), Sets()).prices == frozenset()
    assert Stages(Sets(), Liar()).prices == {Count}
    assert Identical([Sets(), Sets()]).prices == Sets.prices


def test_a_cut_among_the_rows_that_a_problem_starts_from_is_refused_as_well():
    class Started(Packing):
        def warm_start(self, budget):
            return WarmStart(rows=TRIPLES[:1])

    with pytest.raises(UnpricedCutError, match="subset_row"):
        solve(Started((), Forgetful))

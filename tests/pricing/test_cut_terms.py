"""Cuts that an oracle cannot price raise errors, and claims to price a term are checked."""

import pytest

from colgen import Best, Stages, WarmStart, solve
from colgen.core.errors import UnpricedCutError
from colgen.core.terms import Count
from colgen.pricing.derived import Identical
from tests.cuts.test_cut import TRIPLES, WORTH, Packing, Sets, complete


class Forgetful(Sets):
    """Declares no terms of cuts, and prices none."""

    prices = frozenset()

    def best(self, duals, context):
        worth = {s: context.cost_weight * w - sum(duals["row", i] for i in s) for s, w in WORTH.items()}
        chosen = max(worth, key=worth.get)
        return Best(chosen, worth[chosen])


class Liar(Forgetful):
    """Declares a term that it does not price."""

    prices = frozenset({Count})


def test_an_oracle_that_cannot_price_a_cut_raises_an_error():
    with pytest.raises(UnpricedCutError, match=r"Forgetful cannot price the cuts 'subset_row', .* are Count terms"):
        solve(Packing(TRIPLES, Forgetful))
    assert solve(Packing((), Forgetful), relaxation=True).objective == pytest.approx(complete(()))
    with pytest.raises(Exception, match="states the reduced cost"):
        solve(Packing(TRIPLES, Liar))


def test_terms_priced_by_stages_and_identical_oracles():
    assert Stages(Forgetful(), Sets()).prices == frozenset()
    assert Stages(Sets(), Liar()).prices == {Count}
    assert Identical([Sets(), Sets()]).prices == Sets.prices


def test_an_unpriced_cut_among_the_first_rows_raises_an_error():
    class Started(Packing):
        def warm_start(self, budget):
            return WarmStart(rows=TRIPLES[:1])

    with pytest.raises(UnpricedCutError, match="subset_row"):
        solve(Started((), Forgetful))

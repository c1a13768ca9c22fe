"""The restricted master's protocol: what a master that is no linear program says of what it does not know."""

import re

import pytest

from colgen import Column, Sense, Solution
from colgen.core.decision import Together
from colgen.core.errors import FormulationError, InputError
from colgen.core.renamed import METHODS
from colgen.master.lagrangian_master import LagrangianMaster
from colgen.master.protocol import LinkingRows, MasterSolution, MasterStatus, Precision, RestrictedMaster, switch


class Unknowing(RestrictedMaster):
    """Writes what must be written, and nothing else."""

    sense = Sense.MAXIMIZE
    num_columns = 0

    def solve(self, budget):
        return MasterSolution(MasterStatus.LIMIT)

    def add(self, columns, rows=(), origins=-1):
        return 0

    def price(self, columns, duals):
        return []

    def bound(self, duals, pricing, results):
        return self.sense.ideal

    def solution(self, solved):
        return Solution(solved.objective)


class Named(LinkingRows):
    """A row of one name."""

    def __len__(self):
        return 1

    def __contains__(self, key):
        return key == "a"


def test_defaults_claim_nothing():
    master, column = Unknowing(), Column(1.0, {})
    assert (master.rows, master.node, master.integer, master.num_rows) == (None, None, None, 0)
    assert master.find([column, column]).tolist() == [-1, -1]
    assert master.precision == Precision(scale=1.0, rounding=0.0)


def test_linking_rows_need_only_names():
    rows, solution = Named(), Solution(3.0)
    assert (len(rows), "a" in rows, rows.joined, rows.sides("a"), rows.packing_sides("a")) == (1, True, (), None, {})
    assert rows.guess("messages") is rows.signed("messages") is not None
    assert rows.itemised(1.0, Column(1.0, {}), None, 1.0) == ""
    assert rows.best_known(None, 2) is rows.subgradient(None, [], None) is rows.linking() is None
    assert (rows.violation(solution), rows.objective_of(solution)) == (None, 3.0)
    assert not any([rows.checks_answers, rows.overuses(None, []), rows.refine(None, [], [])])
    assert list(rows.far_points(None)) == [None]


def test_a_master_with_columns_must_apply_decisions():
    switch(Unknowing(), ())
    with pytest.raises(FormulationError, match="Unknowing cannot apply branching decisions"):
        switch(Unknowing(), [Together(1, 2)])
    switch(LagrangianMaster(Sense.MINIMIZE), [Together(1, 2)])


@pytest.mark.parametrize(("old", "new"), METHODS["RestrictedMaster"].items())
def test_an_old_method_is_refused_with_its_new_name(old, new):
    with pytest.raises(InputError, match=f"define {re.escape(new)}"):
        type("Old", (Unknowing,), {old: None})
    with pytest.raises(AttributeError, match=f"write {re.escape(new)}"):
        getattr(Unknowing(), old)

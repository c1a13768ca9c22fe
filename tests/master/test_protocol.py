"""The restricted master's protocol: what a master that is no linear program says of what it does not know."""

import math
import re

import numpy as np
import pytest

from colgen import Column, Sense, Solution
from colgen.core.errors import InputError
from colgen.core.renamed import METHODS
from colgen.master.protocol import MasterSolution, MasterStatus, RestrictedMaster


class Unknowing(RestrictedMaster):
    """Writes what must be written, and nothing else."""

    sense = Sense.MAXIMIZE
    num_columns = 0
    num_rows = 0

    def solve(self, budget):
        return MasterSolution(MasterStatus.LIMIT)

    def add(self, columns, rows=(), origins=-1):
        return 0

    def price(self, columns, duals):
        return np.zeros(len(columns))

    def dual_bound(self, duals, pricing, results):
        return self.sense.ideal

    def solution(self, solved):
        return Solution(solved.objective)


def test_defaults_claim_nothing():
    master, column, solution = Unknowing(), Column(1.0, {}), Solution(3.0)
    assert not master.solves_integers
    assert master.solve_integer() == (None, math.inf)
    assert master.solve_over([column], {}, 1.0, 1.0) == (MasterStatus.LIMIT, None)
    assert master.rounded(solution) is None
    assert master.named({"row": 1.0}) is None
    assert master.guessed("messages") == "messages"
    assert master.itemised(1.0, column, None, 1.0) == ""
    assert master.find([column]).tolist() == [-1]
    assert master.best_known(None, 2) == [-math.inf, -math.inf]


@pytest.mark.parametrize(("name", "new"), METHODS["RestrictedMaster"].items())
def test_a_method_of_an_old_name_names_the_new_form(name, new):
    with pytest.raises(AttributeError, match=f"no attribute '{name}' any more; write {re.escape(new)}"):
        getattr(Unknowing(), name)
    with pytest.raises(InputError, match=rf"Mine.{name}\(\) is never used any more: write {re.escape(new)}"):
        type("Mine", (Unknowing,), {name: lambda self, *given: None})

"""A problem states its master as a Pyomo model, as rows, or as the restricted master itself."""

import pyomo.environ as pyo
import pytest

from colgen import LinearMaster, Rows, Sense
from colgen.core.errors import FormulationError
from colgen.master.lagrangian_master import LagrangianMaster
from colgen.master.statement import restricted_master, stated_rows


def rows():
    found = Rows(Sense.MAXIMIZE, objective="worth")
    y = found.add_variables("y", [0, 1], cost=[1.0, 2.0], upper=3.0)
    found.add_entries(found.add_rows("most", upper=4.0), y, 1.0)
    return found


@pytest.mark.parametrize("form", [lambda f: f, lambda f: f.pyomo(), LinearMaster], ids=["rows", "pyomo", "master"])
def test_rows_in_any_form_are_one_program(form):
    assert stated_rows(form(rows())).is_same(rows())
    master = restricted_master(form(rows()))
    assert type(master) is LinearMaster
    assert master.solve().objective == 7.0


def test_a_master_without_rows_is_returned():
    master = LagrangianMaster(Sense.MINIMIZE)
    assert restricted_master(master) is master
    assert stated_rows(master) is None


class Watched(LinearMaster):
    pass


@pytest.mark.parametrize("form", [lambda f: f, lambda f: f.pyomo()], ids=["rows", "pyomo"])
def test_rows_may_choose_their_master(form):
    found = rows()
    found.solved_by = Watched
    assert type(restricted_master(form(found))) is Watched


@pytest.mark.parametrize("nothing", [None, 3, pyo.Var()])
def test_other_values_raise_errors(nothing):
    for read in (restricted_master, stated_rows):
        with pytest.raises(FormulationError, match=r"expected master\(\) to return a Pyomo model, Rows or"):
            read(nothing)

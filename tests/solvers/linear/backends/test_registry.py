"""Solvers of linear programs by name: what cannot be had is one sentence, before any work."""

import sys

import numpy as np
import pytest

from colgen import InputError, Method, solve
from colgen.core.errors import SolverError
from colgen.solvers.linear.backends import registry
from colgen.solvers.linear.backends.foreign import ForeignBackend
from colgen.solvers.linear.backends.registry import NAMES, BackendError, check_backend
from tests.assignment import assignment


@pytest.fixture(autouse=True)
def _asked_anew():
    registry._refusal.cache_clear()
    yield
    registry._refusal.cache_clear()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("guroby", r"'guroby'; did you mean 'gurobi'\?"),
        ("qqq", "'qqq'.* highs, clp, cplex, glpk, gurobi, soplex, xpress"),
        (3, "expected the name.* 3$"),
    ],
)
def test_unknown_names_are_rejected(name, words):
    with pytest.raises(BackendError, match=words):
        check_backend(name)
    with pytest.raises(InputError, match=f"^lp: .*{words}"):
        solve(assignment(), method=Method(lp=name))


@pytest.mark.parametrize("name", NAMES[1:])
def test_missing_packages_are_named(name, monkeypatch):
    maker = registry._MAKERS[name]
    monkeypatch.setitem(sys.modules, maker.package, None)
    monkeypatch.delitem(sys.modules, f"colgen.solvers.linear.backends.{maker.module}", raising=False)
    with pytest.raises(BackendError) as refused:
        check_backend(name)
    assert str(refused.value) == f"{maker.title} is not installed: pip install colgen[{name}]"


class Refusing(ForeignBackend):
    name, title, errors = "gurobi", "Gurobi", (ValueError,)
    iterations = 0

    def _make(self):
        if self.at_once:
            raise ValueError("no licence\nfound")

    def _nothing(self, *args): ...

    _set_sense = _add_columns = _add_rows = _delete_columns = _delete_rows = _change_costs = _nothing
    _change_bounds = _change_row_bounds = _set_tolerance = _set_basis = _forget = _solution = describe_status = _nothing

    def _basis(self):
        return np.zeros(self.num_columns, dtype=int), np.ones(self.num_rows, dtype=int)

    def _run(self, *args):
        raise ValueError("model too large for the licence")


def test_licence_errors_are_reported(monkeypatch):
    monkeypatch.setattr(registry, "_class", lambda name: Refusing)
    monkeypatch.setattr(Refusing, "at_once", True, raising=False)
    with pytest.raises(InputError, match=r"^lp: Gurobi .* 0 columns and 0 rows: no licence found$"):
        solve(assignment(), method=Method(lp="gurobi"))
    registry._refusal.cache_clear()
    monkeypatch.setattr(Refusing, "at_once", False)
    with pytest.raises(SolverError, match=r"^Gurobi .* \d+ columns and \d+ rows: model too"):
        solve(assignment(), method=Method(lp="gurobi"))


def test_options_belong_to_highs(monkeypatch):
    monkeypatch.setattr(registry, "_class", lambda name: Refusing)
    monkeypatch.setattr(Refusing, "at_once", False, raising=False)
    with pytest.raises(InputError, match="not to lp='gurobi'"):
        solve(assignment(), method=Method(lp="gurobi", lp_options={"presolve": "on"}))
    assert solve(assignment(), method=Method(lp="highs", lp_options={"random_seed": 3})).is_optimal

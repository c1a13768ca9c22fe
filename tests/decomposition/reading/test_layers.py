"""Models of linopy and gurobipy: the same arrays, names, answers and refusals as in their own words."""

import numpy as np
import pytest

from colgen import CompactModel, InputError, decompose, solve

SIZES, CAPACITIES, GAINS = (3, 4, 5, 6), (8, 9), ((4, 3, 6, 5), (3, 5, 4, 7))


def in_linopy(**options):
    linopy = pytest.importorskip("linopy", reason="needs linopy")
    pandas = pytest.importorskip("pandas", reason="linopy needs pandas")
    bins, items = pandas.Index(["a", "b"], name="bin"), pandas.RangeIndex(4, name="item")
    model = linopy.Model()
    x = model.add_variables(binary=True, coords=[bins, items], name="x")
    y = model.add_variables(lower=-2, upper=3, integer=True, name="y", **options)
    z = model.add_variables(name="z", lower=0.5)
    model.add_constraints((x * pandas.Series(SIZES, items)).sum("item") <= pandas.Series(CAPACITIES, bins), name="fits")
    model.add_constraints(x.sum("bin") <= 1, name="once", mask=pandas.Series([True, True, True, False], items))
    model.add_constraints(x.sel(item=3).sum() + y + z == 2.5, name="sum")
    gains = pandas.DataFrame(GAINS, bins, items)
    model.add_objective((x * gains).sum() + y - 2 * z, sense="max")
    return model, x, y, z


def in_gurobi():
    gurobi = pytest.importorskip("gurobipy", reason="needs gurobipy")
    environment = gurobi.Env(params={"OutputFlag": 0})
    model = gurobi.Model(env=environment)
    x = model.addVars(["a", "b"], 4, vtype="B", name="x")
    y = model.addVar(lb=-2, ub=3, vtype="I", name="y")
    z = model.addVar(lb=0.5, name="z")
    for bin_, capacity in zip("ab", CAPACITIES, strict=True):
        model.addConstr(gurobi.quicksum(SIZES[i] * x[bin_, i] for i in range(4)) <= capacity, name=f"fits[{bin_}]")
    model.addConstrs((x.sum("*", i) <= 1 for i in range(3)), name="once")
    model.addConstr(x.sum("*", 3) + y + z == 2.5, name="sum")
    gains = gurobi.quicksum(GAINS["ab".index(b)][i] * x[b, i] for b, i in x)
    model.setObjective(gains + y - 2 * z + 10, gurobi.GRB.MAXIMIZE)
    return model, x, y, z


def read_linopy():
    return CompactModel.from_linopy(in_linopy()[0]), 0.0


def read_gurobi():
    return CompactModel.from_gurobipy(in_gurobi()[0]), 10.0


@pytest.mark.parametrize("read_layer", [read_linopy, read_gurobi])
def test_arrays_and_names(read_layer):
    model, offset = read_layer()
    names = [f"x[{bin_},{item}]" for bin_ in "ab" for item in range(4)]
    assert sorted(model.names) == sorted([*names, "y", "z"])
    assert sorted(model.source.constraint_names) == ["fits[a]", "fits[b]", "once[0]", "once[1]", "once[2]", "sum"]
    place, f = model.place_of_name, model.formulation
    assert (f.sense.sign, f.offset) == (-1, offset)
    assert [f.costs[place[name]] for name in names] == [*GAINS[0], *GAINS[1]]
    assert [f.costs[place[name]] for name in "yz"] == [1.0, -2.0]
    assert [(f.lower[place[name]], f.upper[place[name]], f.integer[place[name]]) for name in ("x[a,0]", "y", "z")] == [
        (0.0, 1.0, True),
        (-2.0, 3.0, True),
        (0.5, np.inf, False),
    ]
    rows = {
        name: ({model.names[j]: v for j, v in zip(row.indices.tolist(), row.data.tolist(), strict=True)}, low, high)
        for name, row, low, high in zip(
            model.source.constraint_names,
            (model.rows[[k]] for k in range(model.rows.shape[0])),
            f.row_lower.tolist(),
            f.row_upper.tolist(),
            strict=True,
        )
    }
    assert rows["fits[b]"] == (dict(zip(names[4:], map(float, SIZES), strict=True)), -np.inf, 9.0)
    assert rows["once[2]"] == ({"x[a,2]": 1.0, "x[b,2]": 1.0}, -np.inf, 1.0)
    assert rows["sum"] == ({"x[a,3]": 1.0, "x[b,3]": 1.0, "y": 1.0, "z": 1.0}, 2.5, 2.5)


def fits(name):
    return name[5] if name.startswith("fits") else None


def test_a_decomposed_model_of_linopy_has_its_optimum():
    model, *_ = in_linopy()
    result = solve(decompose(CompactModel.from_linopy(model), fits))
    model.solve("highs", output_flag=False)
    assert result.is_optimal
    assert result.objective == pytest.approx(model.objective.value)
    assert result.answer["y"] == pytest.approx(model.solution["y"].item())


def test_a_decomposed_model_of_gurobi_has_its_optimum():
    model, _, y, _ = in_gurobi()
    result = solve(decompose(CompactModel.from_gurobipy(model), fits))
    model.optimize()
    assert result.is_optimal
    assert result.objective == pytest.approx(model.ObjVal)
    assert result.answer["y"] == pytest.approx(y.X)


def test_scaling_factors_of_linopy_are_undone():
    model, _, _, z = in_linopy()
    before = CompactModel.from_linopy(model).formulation
    z.scaling = 4.0
    model.objective.scaling = 0.5
    after = CompactModel.from_linopy(model).formulation
    assert (after.matrix != before.matrix).nnz == 0
    np.testing.assert_array_equal(after.costs, before.costs)
    np.testing.assert_array_equal(after.lower, before.lower)


def test_what_linopy_has_beyond_linear_models_is_refused():
    model, x, y, z = in_linopy()
    model.add_objective(z * z + y, overwrite=True)
    with pytest.raises(InputError, match="quadratic"):
        CompactModel.from_linopy(model)
    model, x, _, _ = in_linopy()
    model.add_sos_constraints(x, sos_type=1, sos_dim="item")
    with pytest.raises(InputError, match="special ordered sets"):
        CompactModel.from_linopy(model)
    model, x, y, _ = in_linopy()
    model.add_indicator_constraints(x.sel(bin="a", item=0), 1, y, "<=", 2)
    with pytest.raises(InputError, match="indicator"):
        CompactModel.from_linopy(model)
    model, *_ = in_linopy()
    model.add_variables(lower=1, upper=2, semi_continuous=True, name="some")
    with pytest.raises(InputError, match="'some' is semicontinuous"):
        CompactModel.from_linopy(model)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda m, x, y, z: m.setObjective(z * z), "quadratic terms"),
        (lambda m, x, y, z: m.addConstr(y * z <= 2), "quadratic constraints"),
        (lambda m, x, y, z: m.addSOS(1, [x["a", 0], x["a", 1]]), "special ordered sets"),
        (lambda m, x, y, z: m.addGenConstrIndicator(x["a", 0], 1, y <= 2), "general constraints"),
        (lambda m, x, y, z: m.setPWLObj(z, [0, 1, 2], [0, 1, 4]), "piecewise-linear"),
        (lambda m, x, y, z: m.setObjectiveN(y, 1), "several objectives"),
        (lambda m, x, y, z: setattr(m, "NumScenarios", 2), "several scenarios"),
        (lambda m, x, y, z: m.addVar(lb=1, ub=2, vtype="S", name="some"), "'some' is semicontinuous"),
        (lambda m, x, y, z: m.addVar(name="y"), "two variables have the name 'y'"),
    ],
)
def test_what_gurobi_has_beyond_linear_models_is_refused(change, message):
    model, *variables = in_gurobi()
    model.update()
    change(model, *variables)
    with pytest.raises(InputError, match=message):
        CompactModel.from_gurobipy(model)


@pytest.mark.parametrize("read_layer", [CompactModel.from_linopy, CompactModel.from_gurobipy])
def test_models_of_other_libraries_are_refused(read_layer):
    with pytest.raises(InputError, match=r"expected a (linopy|gurobipy)\.Model, not dict"):
        read_layer({})

"""Pictures: they can be drawn for every kind of run, have labels, and leave no figures open."""

import io
import sys

import numpy as np
import pytest

from colgen import InputError, IterationLimit, Method, Record, solve
from tests.assignment import assignment

matplotlib = pytest.importorskip("matplotlib")

from colgen.reporting import plotting  # noqa: E402


@pytest.fixture(scope="module")
def branched():
    """A run with a tree of several nodes."""
    result = solve(assignment(4, 9, 1), record=Record(duals=True, values=True), method=Method(heuristics=()))
    assert len(result.nodes) > 1
    return result


@pytest.fixture(scope="module")
def infeasible():
    problem = assignment(2, 4, 3)
    problem.capacities = np.array([3, 3])
    return solve(problem)


@pytest.fixture(scope="module")
def stopped():
    return solve(assignment(3, 7, 4), stop=IterationLimit(1))


def labels(ax):
    return ax.get_legend_handles_labels()[1]


def drawn(figure):
    """Draw the figure: only this shows mistakes in labels and layouts."""
    file = io.BytesIO()
    figure.savefig(file, format="png")
    assert file.getvalue().startswith(b"\x89PNG")


def assert_labelled(ax):
    assert ax.get_title(loc="left")
    for axis in (ax.xaxis, ax.yaxis):
        if axis.get_visible() and len(axis.get_majorticklocs()):
            assert axis.get_label_text() or not any(t.get_text().isdigit() for t in axis.get_ticklabels())


def test_bounds_show_phase_1_objective_bound_and_incumbent(branched):
    ax = plotting.bounds(branched)
    assert {"phase 1", "restricted master", "dual bound", "incumbent"} <= set(labels(ax))
    assert ax.get_xlabel() == "round"
    assert "units" in ax.get_ylabel()
    assert_labelled(ax)
    drawn(ax.figure)


def test_bounds_by_second(branched):
    ax = plotting.bounds(branched, by="second")
    assert ax.get_xlabel() == "time (seconds)"
    with pytest.raises(InputError, match="'minute'"):
        plotting.bounds(branched, by="minute")


def test_the_last_bound_drawn_is_the_result_s(branched):
    ax = plotting.bounds(branched)
    line = next(line for line in ax.get_lines() if line.get_label() == "dual bound")
    assert line.get_ydata()[-1] == branched.dual_bound


def test_bounds_of_a_relaxation_show_no_incumbent():
    ax = plotting.bounds(solve(assignment(3, 5, 1), relaxation=True))
    assert "incumbent" not in labels(ax)


def test_lines_are_told_apart_without_colour(branched):
    ax = plotting.bounds(branched)
    styles = [
        (line.get_linestyle(), line.get_marker()) for line in ax.get_lines() if not line.get_label().startswith("_")
    ]
    assert len(set(styles)) == len(styles)


def test_columns_and_rows(branched):
    ax = plotting.columns_and_rows(branched)
    assert {"columns", "rows", "new columns in the round"} <= set(labels(ax))
    counts = next(line for line in ax.get_lines() if line.get_label() == "columns").get_ydata()
    assert list(counts) == [i.columns for i in branched.iterations]
    drawn(ax.figure)


def test_stages_leave_out_the_total(branched):
    ax = plotting.stages(branched)
    names = [tick.get_text() for tick in ax.get_yticklabels()]
    assert set(names) == set(branched.seconds) - {"total"}
    assert ax.get_xlabel() == "time (seconds)"


def test_tree_has_a_place_for_every_node_and_a_marker_for_every_outcome(branched):
    ax = plotting.tree(branched)
    outcomes = {node.outcome for node in branched.nodes}
    assert {label.split(" (")[0] for label in labels(ax)} == outcomes
    points = [line for line in ax.get_lines() if not line.get_label().startswith("_")]
    assert sum(len(line.get_xdata()) for line in points) == len(branched.nodes)
    assert len({(line.get_marker(), line.get_markerfacecolor()) for line in points}) == len(outcomes)
    assert len(ax.texts) == len(branched.nodes)
    drawn(ax.figure)


def test_duals_settle(branched):
    figure = plotting.duals(branched)
    upper, lower = figure.axes
    assert any(label.startswith("assign[") for label in labels(upper))
    distances = lower.get_lines()[0].get_ydata()
    assert (np.asarray(distances) > 0).all()
    assert lower.get_xlabel() == "round"
    drawn(figure)


def test_duals_that_were_not_kept(infeasible):
    with pytest.raises(InputError, match="duals=True"):
        plotting.duals(infeasible)


def test_values_settle(branched):
    ax = plotting.values(branched)
    last = {column.identity: value for column, value in branched.relaxation.columns}
    rounds = [record for record in branched.iterations if record.node == 0 and record.values is not None]
    used = {column.identity for record in rounds for column, _ in record.values.columns}
    lines = [line for line in ax.get_lines() if len(line.get_xdata())]
    assert len(lines) == len(used)
    ends = sorted(float(line.get_ydata()[-1]) for line in lines)
    assert ends == pytest.approx(sorted(last.get(identity, 0.0) for identity in used))
    assert sum(label.endswith(" other columns") for label in labels(ax)) == 1
    assert_labelled(ax)
    drawn(ax.figure)


def test_values_that_were_not_kept(infeasible):
    with pytest.raises(InputError, match="values=True"):
        plotting.values(infeasible)


@pytest.mark.parametrize("run", ["branched", "infeasible", "stopped"])
def test_overview_of_every_kind_of_run(run, request):
    result = request.getfixturevalue(run)
    figure = plotting.overview(result)
    assert len(figure.axes) == 4
    assert result.termination.value in figure.get_suptitle()
    assert figure.get_suptitle().startswith(result.settings["problem"])
    assert figure.axes[0].get_title(loc="left") == "Bounds"  # the name is in the title of all
    for ax in figure.axes:
        assert_labelled(ax)
    drawn(figure)


def test_a_run_that_ends_in_phase_1_has_a_text(stopped):
    ax = plotting.bounds(stopped)
    assert any("phase 1" in text.get_text() for text in ax.texts)


def test_given_axes_are_drawn_into(branched):
    from matplotlib.figure import Figure

    ax = Figure().subplots()
    for draw in (plotting.bounds, plotting.columns_and_rows, plotting.stages, plotting.tree):
        assert draw(branched, ax=ax) is ax


def test_pyplot_is_not_touched(branched):
    before = "matplotlib.pyplot" in sys.modules
    plotting.overview(branched)
    assert ("matplotlib.pyplot" in sys.modules) is before
    if before:
        assert sys.modules["matplotlib.pyplot"].get_fignums() == []

"""Pictures of gaps and runs."""

import dataclasses
import math

import pytest

from colgen import InputError, Method, solve
from colgen.reporting import plotting
from tests.zoo import Partitioning

pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def results():
    return {"cuts": solve(Partitioning()), "no <cuts>": solve(Partitioning(cuts=False), method=Method(heuristics=()))}


@pytest.mark.parametrize("by", ["round", "second"])
def test_a_gap_that_closes_ends_in_a_star_on_a_logarithmic_axis(results, by):
    ax = plotting.gap(results, by=by)
    assert ax.get_yscale() == "log"
    assert len([line for line in ax.get_lines() if line.get_marker() == "*"]) == 2
    assert [text.get_text() for text in ax.get_legend().get_texts()] == list(results)
    open_one = dataclasses.replace(results["cuts"], dual_bound=29.0)
    assert not [line for line in plotting.gap(open_one, by=by).get_lines() if line.get_marker() == "*"]


@pytest.mark.parametrize("by", ["round", "second"])
def test_runs_are_told_apart_by_colour_and_style_and_end_where_they_ended(results, by):
    ax = plotting.runs(results, by=by)
    assert ax.get_title(loc="left") == "Answers and bounds: Partitioning"
    stars = [line for line in ax.get_lines() if line.get_marker() == "*"]
    assert [line.get_ydata().tolist() for line in stars] == [[30.0], [30.0]]
    lines = [line for line in ax.get_lines() if line not in stars]
    assert len(lines) == 4
    assert {line.get_color() for line in lines[:2]} != {line.get_color() for line in lines[2:]}
    assert {line.get_linestyle() for line in lines[:2]} != {line.get_linestyle() for line in lines[2:]}
    assert [line.get_ydata()[-1] for line in lines] == [30.0] * 4


def test_gaps_are_written_in_percent_and_a_closed_one_as_zero(results):
    ax = plotting.gap(results["cuts"])
    ax.figure.canvas.draw()
    assert ax.get_title(loc="left") == "Gap (a star: proved optimal): Partitioning"
    texts = [text.get_text() for text in ax.get_yticklabels()]
    assert "0%" in texts
    assert "1%" in texts
    assert not ax.texts


def test_a_run_without_an_answer_has_no_gap_and_no_incumbent(results):
    (text,) = plotting.gap(solve(Partitioning(), time_limit=0)).texts
    assert text.get_text() == "no gap: no answer or no bound"
    relaxed = solve(Partitioning(), relaxation=True)
    star = plotting.runs({"relaxation": relaxed}).get_lines()[1]
    assert star.get_marker() == "*"
    assert math.isnan(star.get_ydata()[-1])


@pytest.mark.parametrize("ending", ["svg", "pdf", "png"])
def test_the_suffix_selects_the_format(results, ending, tmp_path):
    path = tmp_path / f"gap.{ending}"
    plotting.gap(results).figure.savefig(path)
    assert path.read_bytes()[:5] == {"svg": b"<?xml", "pdf": b"%PDF-", "png": b"\x89PNG\r"}[ending]


def test_the_primal_dual_integral_is_seconds_weighted_by_the_gap(results):
    run = results["cuts"]
    first = dataclasses.replace(run.iterations[0], incumbent=10.0)
    rounds = [dataclasses.replace(first, global_bound=bound, seconds=s) for s, bound in ((1.0, 5.0), (3.0, 9.0))]
    made = dataclasses.replace(run, iterations=rounds, objective=10.0, dual_bound=10.0, seconds={"total": 4.0})
    assert plotting.primal_dual_integral(made) == pytest.approx(1.0 + 2 * 0.5 + 1 * 0.1)
    nothing = dataclasses.replace(run, iterations=(), objective=math.inf, dual_bound=-math.inf, seconds={"total": 4.0})
    assert plotting.primal_dual_integral(nothing) == pytest.approx(4.0)


def test_a_value_that_is_no_result_is_refused(results):
    with pytest.raises(InputError, match="expected a result, or several by name"):
        plotting.gap({})
    with pytest.raises(InputError, match="'round' or 'second'"):
        plotting.runs(results, by="node")

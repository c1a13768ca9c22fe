"""The benchmark on a small language: all figures, and the equalities behind the source's tables."""

import numpy as np
import pytest

from benchmarks.grandparent_parsing.bench import bench_grandparent_parsing
from benchmarks.grandparent_parsing.kept_duals import KeptDuals
from benchmarks.harness import BenchOptions
from colgen import InputError, solve
from colgen.problems.dependency import write_conll
from colgen.problems.dependency.drawing import draw_tree
from colgen.problems.grandparent_parsing.automata import AutomataParsing, Multipliers
from colgen.problems.grandparent_parsing.instance import random
from tests.problems.dependency.treebank import sentences


def test_bench(tmp_path):
    for seed, kind in enumerate(("train", "dev", "test")):
        write_conll(sentences(40, seed), tmp_path / f"xx-ud-{kind}.conllu")
    lines = []
    options = BenchOptions(tmp_path, quick=True, say=lines.append, plot=tmp_path / "seconds.png")
    figures = {figure.name: figure for figure in bench_grandparent_parsing(options)}
    name = tmp_path.name
    assert figures[f"{name}.objective_difference"].value < 1e-6
    assert figures[f"{name}.proved"].value == 100.0
    assert figures[f"{name}.proved_by_engine"].value == 1.0
    assert figures[f"{name}.engine_vs_kernel"].value > 0.0
    assert 0.0 < figures[f"{name}.added"].value <= figures[f"{name}.scored"].value <= 1.0
    assert figures[f"{name}.all.whole"].value >= figures[f"{name}.one_gp+no_gp.whole"].value
    assert figures[f"accuracy_{name}"].value > 30.0
    assert figures[f"tokens_per_second_{name}"].value > 0.0
    assert figures[f"parse_one_sentence_ms_{name}"].value > 0.0
    assert figures[f"parse_one_sentence_vs_batch_{name}"].value > 0.0
    assert 0.0 < figures[f"own_duals_{name}"].value < 1.0
    assert figures[f"kept_duals_{name}"].value > figures[f"own_duals_{name}"].value
    assert (tmp_path / "seconds.png").stat().st_size > 0
    assert lines


def test_bench_needs_data(tmp_path):
    with pytest.raises(InputError, match="--data"):
        bench_grandparent_parsing(BenchOptions())
    with pytest.raises(InputError, match="'train' in its name"):
        bench_grandparent_parsing(BenchOptions(tmp_path))


def test_a_tree_is_drawn(tmp_path):
    picture = draw_tree(("a", "b"), {(0, 1): 1.0, (1, 2): 0.5, (0, 2): 0.5, (2, 1): 0.0}, "two readings")
    picture.savefig(tmp_path / "tree.png")
    assert len(picture.axes[0].patches) == 3


@pytest.mark.parametrize("seed", range(10))
def test_initial_multipliers_do_not_change_the_tree(seed):
    """Multipliers of another sentence and random numbers are guesses."""
    rng = np.random.default_rng(seed)
    one, other = (random(7, seed=2 * seed + k, siblings=True) for k in range(2))
    expected = solve(AutomataParsing(one))
    found = KeptDuals(other)
    solve(found)
    nonsense = Multipliers(rng.random((8, 8)) < 0.5, *(10.0 * rng.normal(size=(8, 8)) for _ in range(2)))
    for guess in (found.multipliers, nonsense):
        result = solve(KeptDuals(one, guess))
        assert result.is_optimal
        assert result.objective == pytest.approx(expected.objective)

"""Viterbi's algorithm, its two-best version and the textbook version, against all labellings."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from colgen.solvers.chains import viterbi
from tests.solvers.small_chains import draw, labellings
from tests.sweeps import seeds


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("seed", seeds(40))
def test_best_and_second_best_labellings(seed, dtype):
    scores, starts, tau = draw(seed, dtype)
    labels, values = viterbi.viterbi(scores, starts, tau)
    plain_labels, plain_values = viterbi.plain(scores, starts, tau)
    first, first_values, second, second_values = viterbi.two_best(scores, starts, tau)
    for k in range(len(starts) - 1):
        part = slice(starts[k], starts[k + 1])
        found = labellings(scores[part], [tau] * 10)
        assert values[k] == pytest.approx(found[0][0], abs=1e-5)
        assert plain_values[k] == pytest.approx(found[0][0], abs=1e-5)
        assert first_values[k] == pytest.approx(found[0][0], abs=1e-5)
        runner_up = found[1][0] if len(found) > 1 else -np.inf
        assert second_values[k] == pytest.approx(runner_up, abs=1e-5)
        by_labels = {c: s for s, c in found}
        for chosen, value in (
            (labels, values),
            (plain_labels, plain_values),
            (first, first_values),
            (second, second_values),
        ):
            if value[k] == -np.inf:
                assert (chosen[part] == -1).all()
            else:
                assert by_labels[tuple(chosen[part].tolist())] == pytest.approx(value[k], abs=1e-5)
        if second_values[k] > -np.inf:
            assert (first[part] != second[part]).any()


@pytest.mark.parametrize("seed", range(10))
def test_transitions_may_differ_from_step_to_step(seed):
    scores, starts, tau = draw(seed, float)
    rng = np.random.default_rng(seed)
    steps = rng.normal(size=(len(scores), *tau.shape))
    _, values = viterbi.viterbi(scores, starts, steps)
    for k in range(len(starts) - 1):
        part = slice(starts[k], starts[k + 1])
        assert values[k] == pytest.approx(labellings(scores[part], steps[part])[0][0])


def test_kernels_run_without_the_compiler():
    here = Path(__file__).parent
    modules = [str(here / f"test_{name}.py") for name in ("viterbi", "beam", "tree_domains", "tree_messages")]
    modules.append(str(here.parents[1] / "problems/chain_map/kernels/test_tree_prices.py"))
    chosen = "not without_the_compiler and (3] or 7-) and not vector"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *modules, "-k", chosen]
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=here.parents[2], check=False)
    assert done.returncode == 0, done.stdout[-3000:]
    assert "passed" in done.stdout

"""Benchmark of predict-then-optimise: regret and seconds of training compared with PyEPO, on its generated data.

A linear predictor learns costs of arcs, or values of items, by the SPO+ loss.  Both sides have the same instances,
initial weights and optimiser.  PyEPO uses the fastest of its installed solvers.  Since decisions take less time here,
training has more epochs, and returns the mean of the weights over the second half of its steps (Polyak averaging).
Numbers of epochs were chosen with the seeds 0 to 5, which are not measured.
"""

from __future__ import annotations

import importlib.util
import json
import math
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median, stdev
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness import BenchOptions
from colgen.cli.template import Figure
from colgen.core.errors import InputError
from colgen.learning import GraphPaths, Knapsacks
from colgen.learning.batches import batch_of, best_counts

Floats = NDArray[np.float64]

MINUTES = 4.0
"""Minutes at full size on an idle processor."""

GRID, FEATURES, ITEMS, CAPACITIES = 5, 5, 32, (20.0, 20.0)
DEGREE, NOISE = 4, 0.5
_EXAMPLES, _EPOCHS, _SEEDS, _TEST = 500, 20, 10, 1000
_FIRST_SEED = 6
_MORE = 4
"""Epochs of training here for each epoch of PyEPO."""

_DRAWN = 16
_THEIRS = Path(__file__).with_name("pyepo_training.py")


@dataclass(frozen=True, eq=False)
class Task:
    """Instances of one problem.

    ``sign`` is 1 where coefficients are values to maximise, -1 where they are costs.  Examples for training come first.
    """

    name: str
    oracle: Any
    sign: float
    features: Floats
    coefficients: Floats


def shortest_path(seed: int, examples: int, *, degree: int = DEGREE, noise: float = NOISE) -> Task:
    """Return shortest paths from corner to corner of a grid, with costs generated as by PyEPO."""
    arcs = [(v, v + step) for v in range(GRID * GRID) for step in (1, GRID) if v + step in _after(v)]
    arcs.sort(key=lambda arc: (arc[0] // GRID, arc[1] // GRID, arc[0]))
    tails, heads = np.array(arcs).T
    random = np.random.RandomState(seed)
    features, costs = _polynomial(random, examples, len(arcs), degree)
    costs = costs / 3.5**degree * random.uniform(1.0 - noise, 1.0 + noise, costs.shape)
    oracle = GraphPaths(tails, heads, sink=GRID * GRID - 1)
    return Task("shortest_path", oracle, -1.0, features, costs.astype(np.float32).astype(np.float64))


def knapsack(seed: int, examples: int, *, degree: int = DEGREE, noise: float = NOISE) -> Task:
    """Return knapsacks with two capacities, with values generated as by PyEPO."""
    random = np.random.RandomState(seed)
    sizes = random.choice(range(300, 800), size=(len(CAPACITIES), ITEMS)) / 100
    features, values = _polynomial(random, examples, ITEMS, degree)
    values = 5.0 * values / 3.5**degree * random.uniform(1.0 - noise, 1.0 + noise, values.shape)
    return Task("knapsack", Knapsacks(sizes, CAPACITIES), 1.0, features, np.ceil(values))


def _after(node: int) -> tuple[int, ...]:
    """Return the nodes to the right of a node of the grid and below it."""
    row, column = divmod(node, GRID)
    right, below = [node + 1] if column + 1 < GRID else [], [node + GRID] if row + 1 < GRID else []
    return (*right, *below)


def _polynomial(random: np.random.RandomState, examples: int, size: int, degree: int) -> tuple[Floats, Floats]:
    """Return features, and polynomials of their sums over random subsets."""
    chosen = random.binomial(1, 0.5, (size, FEATURES))
    features = random.normal(0.0, 1.0, (examples, FEATURES))
    return features, (features @ chosen.T / np.sqrt(FEATURES) + 3.0) ** degree + 1.0


def bench_decisions(options: BenchOptions) -> list[Figure]:
    """Train for shortest paths and knapsacks with PyEPO and here; compare regret on other examples, and seconds."""
    missing = [name for name in ("torch", "pyepo") if importlib.util.find_spec(name) is None]
    if missing:
        raise InputError(f"the benchmark compares with PyEPO: install {' and '.join(missing)}, and ortools if possible")
    share = 0.1 if options.quick else options.share(MINUTES)
    seeds = max(round(share * _SEEDS), 2)
    epochs = 3 if options.quick else _EPOCHS
    figures, regrets, seconds = [], [], []
    for make in (shortest_path, knapsack):
        measured = range(_FIRST_SEED, _FIRST_SEED + seeds)
        compared = [_compare(make(seed, _EXAMPLES + _TEST), seed, epochs) for seed in measured]
        name, ratios = make.__name__, [one["own_seconds"] / one["their_seconds"] for one in compared]
        sums = {who: sum(one[f"{who}_regret"] for one in compared) for who in ("own", "their")}
        for seed, one in zip(measured, compared, strict=True):
            options.say(f"{name} {seed}: {one}")
        regrets.append(sums["own"] / sums["their"])
        each = [one["own_regret"] / one["their_regret"] for one in compared]
        error = stdev(each) / math.sqrt(seeds)
        seconds.append(median(ratios))
        solver = compared[0]["solver"]
        note = f"{_EXAMPLES} examples, {_MORE * epochs} epochs (PyEPO {epochs}), {_TEST} test examples, {seeds} seeds"
        figures += [
            Figure(f"regret_vs_pyepo_{name}", regrets[-1], "ratio", seeds, f"sums over seeds; {note}"),
            Figure(f"regret_ratio_error_{name}", error, "ratio", seeds, f"standard error of the mean {mean(each):.4f}"),
            Figure(f"seconds_vs_pyepo_{name}", seconds[-1], "ratio", seeds, f"processor time; PyEPO with {solver}"),
            Figure(f"regret_{name}", sums["own"] / seeds, "share", seeds, "sum of regrets over sum of optima"),
            Figure(f"pyepo_regret_{name}", sums["their"] / seeds, "share", seeds),
            Figure(f"decision_seconds_{name}", median(one["own_seconds"] for one in compared), "s", seeds, note),
        ]
    return [
        Figure("regret_vs_pyepo", max(regrets), "ratio", seeds, "larger of the two"),
        Figure("seconds_vs_pyepo", max(seconds), "ratio", seeds, "larger of the two"),
        *figures,
    ]


def _compare(task: Task, seed: int, epochs: int) -> dict[str, Any]:
    """Return regrets and seconds of training on both sides, and the solver that PyEPO used."""
    generator = np.random.default_rng(seed)
    size = task.coefficients.shape[1]
    start = generator.uniform(-1.0, 1.0, (size, FEATURES + 1)).astype(np.float32) / np.sqrt(FEATURES)
    _train(task, start, seed, 1)  # compiles the kernels
    started = time.process_time()
    weights = _train(task, start, seed, _MORE * epochs)
    own_seconds = time.process_time() - started
    with tempfile.TemporaryDirectory() as folder:
        data, result = Path(folder) / "data.npz", Path(folder) / "result.npz"
        np.savez(
            data,
            start=start,
            features=task.features[:_EXAMPLES],
            coefficients=task.coefficients[:_EXAMPLES],
            sizes=getattr(task.oracle, "sizes", np.zeros((0, 0))),
            settings=np.array(json.dumps({"grid": GRID, "capacities": CAPACITIES, "seed": seed, "epochs": epochs})),
        )
        # in a process of its own: OR-Tools and highspy cannot share one
        subprocess.run([sys.executable, "-P", str(_THEIRS), task.name, str(data), str(result)], check=True)
        with np.load(result) as theirs:
            return {
                "own_regret": _regret(task, weights),
                "their_regret": _regret(task, theirs["weights"]),
                "own_seconds": own_seconds,
                "their_seconds": float(theirs["seconds"]),
                "solver": str(theirs["solver"]),
            }


def _train(task: Task, start: NDArray[np.float32], seed: int, epochs: int) -> NDArray[np.float32]:
    """Return weights learned by SPO+, the mean over the second half of the steps, with the bias in the last column."""
    import torch
    from torch.optim.swa_utils import AveragedModel

    from colgen.torch import SPOPlus

    torch.set_num_threads(1)
    true = task.sign * task.coefficients[:_EXAMPLES]
    best = _mean_of_best(task, true)
    tensors = (torch.as_tensor(array, dtype=torch.float32) for array in (task.features[:_EXAMPLES], true, best))
    predictor = torch.nn.Linear(FEATURES, len(start.T[0]))
    with torch.no_grad():
        predictor.weight.copy_(torch.as_tensor(start[:, :-1]))
        predictor.bias.copy_(torch.as_tensor(start[:, -1]))
    loss, optimizer = SPOPlus(task.oracle), torch.optim.Adam(predictor.parameters(), lr=1e-2)
    loader = torch.utils.data.DataLoader(
        torch.utils.data.TensorDataset(*tensors), 32, shuffle=True, generator=torch.Generator().manual_seed(seed)
    )
    averaged = AveragedModel(predictor)
    for epoch in range(epochs):
        for features, scores, gold in loader:
            optimizer.zero_grad()
            loss(task.sign * predictor(features), true=scores, gold=gold).backward()
            optimizer.step()
            if epoch >= epochs // 2:
                averaged.update_parameters(predictor)
    parts = averaged.module.weight, averaged.module.bias[:, None]
    return np.hstack([part.detach().numpy() for part in parts])


def _mean_of_best(task: Task, true: Floats) -> Floats:
    """Return means of best decisions: half of the knapsacks have several, since their values are integers."""
    generator = np.random.default_rng(0)
    scores = (true + 1e-9 * generator.normal(size=true.shape) for _ in range(_DRAWN))
    means: Floats = np.mean([best_counts(batch_of(task.oracle, [own]))[0] for own in scores], axis=0)
    return means


def _regret(task: Task, weights: NDArray[np.float32]) -> float:
    """Return the sum of regrets on the test examples as a share of the sum of optima."""
    true = task.sign * task.coefficients[_EXAMPLES:]
    predicted = task.sign * (task.features[_EXAMPLES:] @ weights[:, :-1].T + weights[:, -1])
    best, chosen = (best_counts(batch_of(task.oracle, [scores]))[0] for scores in (true, predicted))
    return float((true * (best - chosen)).sum() / np.abs((true * best).sum()))

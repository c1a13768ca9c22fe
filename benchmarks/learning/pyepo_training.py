"""Training with PyEPO for the benchmark of decisions: a program that does not import colgen.

Arguments: the problem, the file of the data, and the file of the result.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import time
from typing import Any

import numpy as np
import torch
from pyepo.data.dataset import optDataset
from pyepo.func import SPOPlus
from pyepo.model.predefined import knapsackModel, shortestPathModel

SOLVERS: dict[str, dict[str, tuple[str, ...]]] = {
    "ortools": {"shortest_path": ("glop", "clp", "cbc"), "knapsack": ("scip", "cbc", "sat")},
    "pyomo": {"shortest_path": ("appsi_highs",), "knapsack": ("appsi_highs",)},
}
"""Solvers without a licence.  With OR-Tools in the process, HiGHS, which takes longer, cannot be loaded."""


def fastest(problem: str, sizes: Any, settings: dict[str, Any], coefficients: Any) -> tuple[Any, str]:
    """Return PyEPO's model with the solver that takes least time for the first instances, and the solver's name."""
    backend = "ortools" if importlib.util.find_spec("ortools") else "pyomo"
    models, taken = {}, {}
    for solver in SOLVERS[backend][problem]:
        if problem == "shortest_path":
            model = shortestPathModel((settings["grid"],) * 2, backend=backend, solver=solver)
        else:
            model = knapsackModel(sizes, settings["capacities"], backend=backend, solver=solver)
        started = time.process_time()
        for own in coefficients[:20]:
            model.setObj(own)
            model.solve()
        taken[solver], models[solver] = time.process_time() - started, model
    best = min(taken, key=lambda solver: taken[solver])
    return models[best], f"{backend} {best}"


def train(model: Any, data: Any, settings: dict[str, Any]) -> Any:
    """Return weights learned by SPO+, with the bias in the last column."""
    examples = optDataset(model, data["features"], data["coefficients"].astype(np.float32))
    start = torch.as_tensor(data["start"])
    predictor = torch.nn.Linear(start.shape[1] - 1, len(start))
    with torch.no_grad():
        predictor.weight.copy_(start[:, :-1])
        predictor.bias.copy_(start[:, -1])
    loss, optimizer = SPOPlus(model), torch.optim.Adam(predictor.parameters(), lr=1e-2)
    generator = torch.Generator().manual_seed(settings["seed"])
    loader = torch.utils.data.DataLoader(examples, 32, shuffle=True, generator=generator)
    for _ in range(settings["epochs"]):
        for features, costs, solutions, optima in loader:
            optimizer.zero_grad()
            loss(predictor(features), costs, solutions, optima).backward()
            optimizer.step()
    return np.hstack([part.detach().numpy() for part in (predictor.weight, predictor.bias[:, None])])


def main(problem: str, source: str, target: str) -> None:
    """Read the data, train, and write weights, seconds of processor time and the solver's name."""
    torch.set_num_threads(1)
    with np.load(source) as stored:
        data = dict(stored)
    settings = json.loads(str(data["settings"]))
    model, solver = fastest(problem, data["sizes"], settings, data["coefficients"])
    started = time.process_time()
    weights = train(model, data, settings)
    np.savez(target, weights=weights, seconds=time.process_time() - started, solver=np.array(solver))


if __name__ == "__main__":
    main(*sys.argv[1:])

"""Seconds of layers compared with torch-struct: log-partition functions and their gradients, over a batch."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np

from benchmarks.harness import Say, take_turns
from colgen.cli.template import Figure
from colgen.learning import Chains, Constituents, ProjectiveTrees, Segmentations, Trees

_BATCH, _TOKENS = 32, 30

_FORBIDDEN = -1e9
"""Score of what torch-struct must not use; it has no exact -inf."""

_NOTE = (
    "least over structures, batch of 32 x 30, forward and backward, one thread, processor time; alignments of "
    "torch-struct are left out, since they need the package genbmm"
)


def layer_figures(share: float, say: Say) -> list[Figure]:
    """Return the ratio of seconds, torch-struct over colgen, for each structure that both have, and the least."""
    if not all(importlib.util.find_spec(name) for name in ("torch", "torch_struct")):
        say("layers of torch-struct are skipped: torch and torch-struct are not installed")
        return []
    import torch

    from colgen.torch import LogPartition

    torch.set_num_threads(1)
    repeats = max(round(12 * share), 3)
    rng = np.random.default_rng(0)
    figures = []
    for name, (model, shapes, theirs) in _cases().items():
        scores = [torch.tensor(rng.normal(size=shape), requires_grad=True) for shape in shapes]
        layer = LogPartition(model)
        ways = {"own": _step(layer, scores), "other": _step(theirs, scores)}
        (value, gradients), (their_value, their_gradients) = ways["own"](), ways["other"]()
        pairs = [(value, their_value), *zip(gradients, their_gradients, strict=True)]
        difference = max(float(np.abs(a - b).max()) for a, b in pairs)
        _, taken = take_turns(ways, repeats)
        ratio = median(taken["other"]) / median(taken["own"])
        figures.append(
            Figure(f"speedup_vs_torch_struct ({name})", ratio, "ratio", repeats, f"largest difference {difference:.2g}")
        )
    return [Figure("speedup_vs_torch_struct", min(f.value for f in figures), "ratio", repeats, _NOTE), *figures]


def _step(function: Callable[..., Any], scores: list[Any]) -> Callable[[], tuple[Any, list[Any]]]:
    """Return a function that computes log-partition functions and the gradients of their sum."""

    def run() -> tuple[Any, list[Any]]:
        for tensor in scores:
            tensor.grad = None
        value = function(*scores)
        value.sum().backward()
        return value.detach().numpy(), [tensor.grad.numpy() for tensor in scores]

    return run


def _cases() -> dict[str, tuple[Any, list[tuple[int, ...]], Callable[..., Any]]]:
    """Return oracles, shapes of scores, and log-partition functions of torch-struct for the same scores."""
    import torch
    import torch_struct

    def chains(scores: Any, transitions: Any) -> Any:
        steps = transitions.T[None, None] + scores[:, 1:, :, None]
        steps = torch.cat([steps[:, :1] + scores[:, 0, None, None, :], steps[:, 1:]], 1)
        return torch_struct.LinearChainCRF(steps).partition

    def segmentations(scores: Any, transitions: Any) -> Any:
        count, tokens, _, labels = scores.shape
        nothing = torch.full((count, tokens, 1, labels, labels), _FORBIDDEN, dtype=scores.dtype)
        first = torch.full((labels, labels), _FORBIDDEN, dtype=scores.dtype)
        first[:, 0] = 0.0  # one of its labels before the first segment
        steps = transitions.T.expand(1, tokens - 1, 1, labels, labels)
        steps = torch.cat([first[None, None, None], steps], 1)
        potentials = torch.cat([nothing, scores[..., None] + steps], 2)
        return torch_struct.SemiMarkovCRF(potentials, lengths=torch.full((count,), tokens + 1)).partition

    def constituents(scores: Any) -> Any:
        return torch_struct.TreeCRF(scores if scores.ndim == 4 else scores[..., None]).partition

    def trees(kind: Any, multiroot: bool) -> Callable[..., Any]:
        def partition(scores: Any) -> Any:
            diagonal = torch.eye(_TOKENS, dtype=torch.bool)
            arcs = torch.where(diagonal, torch.diag_embed(scores[:, 0, 1:]), scores[:, 1:, 1:])
            return kind(arcs, multiroot=multiroot).partition

        return partition

    first, size = (_BATCH, _TOKENS), _TOKENS + 1
    return {
        "chains, 10 labels": (Chains(), [(*first, 10), (10, 10)], chains),
        "segmentations, 5 labels, up to 6 tokens": (Segmentations(), [(*first, 6, 5), (5, 5)], segmentations),
        "constituents": (Constituents(), [(*first, _TOKENS)], constituents),
        "constituents, 20 labels": (Constituents(), [(*first, _TOKENS, 20)], constituents),
        "projective trees": (ProjectiveTrees(), [(_BATCH, size, size)], trees(torch_struct.DependencyCRF, True)),
        "trees, one root": (
            Trees(single_root=True),
            [(_BATCH, size, size)],
            trees(torch_struct.NonProjectiveDependencyCRF, False),
        ),
    }

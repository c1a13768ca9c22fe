"""What the parser adds to the oracles of the losses, on a batch of sentences."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from statistics import median
from typing import Any

import numpy as np

from benchmarks.harness import take_turns
from colgen.cli.template import Figure
from colgen.learning import ProjectiveTrees, Trees
from colgen.problems.grandparent_parsing import parse

_SENTENCES, _WORDS, _TURNS = 32, 30, 20


def overhead_figures(share: float) -> list[Figure]:
    """Return the processor time of ``parse`` over that of the oracles' ``best``, one sentence after the other."""
    rng = np.random.default_rng(0)
    size = _WORDS + 1
    arcs = rng.normal(size=(_SENTENCES, size, size))
    siblings, grandchildren = (0.3 * rng.normal(size=(_SENTENCES, size, size, size)) for _ in range(2))
    cases: dict[str, tuple[Any, dict[str, Any]]] = {
        "any trees": (Trees(), {}),
        "projective": (ProjectiveTrees(), {}),
        "siblings": (ProjectiveTrees("siblings"), {"siblings": siblings}),
        "siblings and grandchildren": (
            ProjectiveTrees("siblings", "grandchildren"),
            {"siblings": siblings, "grandchildren": grandchildren},
        ),
    }
    figures = []
    for name, (oracle, parts) in cases.items():
        ways: dict[str, Callable[[], Any]] = {
            "parse": partial(parse, arcs, **parts, projective=name != "any trees"),
            "oracle": partial(
                lambda best, *arrays: [best(*own) for own in zip(*arrays, strict=True)],
                oracle.best,
                arcs,
                *parts.values(),
            ),
        }
        take_turns(ways)  # compiles the kernels
        _, seconds = take_turns(ways, max(round(share * _TURNS), 3), turn=0.05)
        ratio = median(seconds["parse"]) / median(seconds["oracle"])
        figures.append(Figure(f"parse_batch_overhead ({name})", ratio, "", _SENTENCES))
    note = f"processor time of parse over best of the oracle, {_SENTENCES} sentences of {_WORDS} words; worst of these"
    worst = max(figure.value for figure in figures)
    return [Figure("parse_batch_overhead", worst, "", _SENTENCES, note), *figures]

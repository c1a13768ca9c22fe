"""Models in files on the command line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from colgen import CompactModel, InputError, Problem, decompose
from colgen.cli.decompose import WAYS
from colgen.cli.option import Option
from colgen.cli.template import Template
from colgen.decomposition.answers import Values
from colgen.decomposition.detection import FoundBlocks, find_in, score_blocks
from colgen.decomposition.reading.files import read
from colgen.decomposition.undecomposed import Undecomposed
from colgen.problems.assignment import random
from colgen.problems.assignment.model import full


def _read(
    path: Path,
    dec: str | None = None,
    compact: bool = False,
    method: Literal["dantzig-wolfe", "benders"] | None = None,
) -> FoundBlocks | CompactModel:
    """Read a mixed-integer linear model in MPS or LP format, or the core file of a two-stage program in SMPS.

    The ending of the name is ``.mps`` or ``.lp``, with ``.gz`` if the file is compressed, or ``.cor``. HiGHS reads MPS
    and LP. The option ``dec`` names a decomposition in one of GCG's formats. Without it, blocks are detected; those of
    a two-stage program are its scenarios. ``method`` is that of :func:`colgen.decompose`.

    Raises
    ------
    InputError
        If a file cannot be read, or no decomposition can pay.
    """
    if compact and (dec is not None or method is not None):
        raise InputError("options dec, method and compact: HiGHS solves the model without blocks, expected no others")
    model = read(path, dec)
    if compact:
        return model
    if model.blocks is not None:
        return replace(score_blocks(model, model.blocks), method=method)
    found = find_in(model)
    if found is None or found.remarks:
        what = "no blocks are found" if found is None else "none of the blocks that are found can pay"
        raise InputError(f"{path}: {what}; {WAYS}")
    return replace(found, method=method)


def _problem(instance: FoundBlocks | CompactModel) -> Problem:
    if isinstance(instance, FoundBlocks):
        return decompose(instance.compact, instance, method=instance.method)
    return Undecomposed(instance)


def _reading(instance: FoundBlocks | CompactModel) -> str:
    one = "one model without blocks, for HiGHS"
    return str(instance).replace("\n", "; ") if isinstance(instance, FoundBlocks) else one


def _data(instance: FoundBlocks | CompactModel, answer: Values) -> dict[str, float]:
    return answer.used


def _lines(instance: FoundBlocks | CompactModel, answer: Values) -> Sequence[str]:
    return [f"{name} {value:.10g}" for name, value in answer.used.items()]


def _draw(instance: FoundBlocks | CompactModel, answer: Values) -> Any:
    if isinstance(instance, FoundBlocks):
        return instance.draw()
    blocks = Undecomposed(instance).splitting.partition
    return FoundBlocks(instance, blocks, (), 0.0).draw()


def _example(path: Path) -> None:
    full(random(3, 6, 0)).write(str(path), io_options={"symbolic_solver_labels": True})


TEMPLATE = Template(
    name="model",
    title="A mixed-integer linear model in an MPS, LP or SMPS file, by its blocks",
    source="Dantzig and Wolfe (1960), Vanderbeck (2000)",
    problem=_problem,
    read=_read,
    options={
        "dec": Option("a decomposition: the name of a .dec, .blk or .jdec file (or --dec FILE)"),
        "method": Option("the method, by default that of colgen.decompose", ("dantzig-wolfe", "benders")),
        "compact": Option("yes hands the model to HiGHS, without blocks (or --compact)", {"no": False, "yes": True}),
    },
    suffixes=(".lp", ".mps", ".cor"),
    example=_example,
    reading=_reading,
    lines=_lines,
    data=_data,
    draw=_draw,
    write=Values.write,
)

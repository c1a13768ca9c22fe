"""``colgen resume``: goes on from what ``colgen solve --checkpoint`` has kept."""

from __future__ import annotations

import argparse
from pathlib import Path

from colgen.checkpoint.file import read_checkpoint
from colgen.cli.requests import ASKED
from colgen.cli.solve import solve_file
from colgen.core.errors import InputError


def resume_file(arguments: argparse.Namespace) -> int:
    """Go on with the run of a checkpoint."""
    found = read_checkpoint(arguments.checkpoint)
    if found is None:
        raise InputError(f"{arguments.checkpoint}: expected a checkpoint, there is no such file")
    asked = found.asked
    if not asked:
        raise InputError(
            f"{arguments.checkpoint} was written by a program, not by `colgen solve`: let that program go on, by "
            "solve(problem, checkpoint=...)"
        )
    for name, kind in ASKED.items():
        if not isinstance(asked.get(name), kind):
            raise InputError(f"{arguments.checkpoint} does not say which {name} it was written for")
    if not all(isinstance(option, str) for option in asked["option"]):
        raise InputError(f"{arguments.checkpoint} does not say which options it was written for")
    every = asked["every"] if arguments.every is None else arguments.every
    told = argparse.Namespace(
        **{**vars(arguments), **{name: asked[name] for name in ASKED}, "every": every, "certificate": None}
    )
    told.file = Path(told.file)
    told.files, told.cluster, told.subtrees = [told.file], None, None
    told.skip_bad = told.all_heads = False  # the options say the latter
    told.model = None if told.model is None else Path(told.model)
    return solve_file(told)

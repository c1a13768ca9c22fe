"""``colgen decompose``: the decompositions of a model in a file, with their scores."""

from __future__ import annotations

import argparse

from colgen.cli.arguments import PROVED
from colgen.cli.output import show
from colgen.cli.requests import check_destinations
from colgen.core.errors import InputError
from colgen.core.files import write_figure
from colgen.core.text import plural
from colgen.decomposition.detection import detected, score_blocks
from colgen.decomposition.reading.files import read

WAYS = "give a decomposition with --dec FILE, or hand the model to HiGHS: `colgen solve model MODEL --compact`"
"""What to do if nothing pays."""


def list_blocks(arguments: argparse.Namespace) -> int:
    """List the decompositions of a model, best first; draw and write the first."""
    check_destinations(arguments, "write")
    compact = read(arguments.file, arguments.dec)
    if compact.blocks is not None:
        found = [score_blocks(compact, compact.blocks)]
    else:
        found = sorted(detected(compact), key=lambda each: -each.score)
    if not found:
        raise InputError(f"{arguments.file}: no blocks are found; {WAYS}")
    rows, variables = compact.rows.shape
    show([f"{arguments.file}: {plural(rows, 'row')}, {plural(variables, 'variable')}"])
    for number, blocks in enumerate(found, 1):
        head, *remarks = str(blocks).splitlines()
        show([f"{number}. {head}", *(f"   {remark}" for remark in remarks)])
    if all(blocks.remarks for blocks in found):
        show([f"None of these can pay: {WAYS}."])
    if arguments.write is not None:
        found[0].write_dec(arguments.write)
    if arguments.picture is not None:
        write_figure(found[0].draw(), arguments.picture)
    return PROVED

"""Restores a search from a checkpoint."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from colgen.checkpoint.columns import Plainly, read_columns, read_solution, row_of_data
from colgen.checkpoint.fields import check_fields
from colgen.checkpoint.file import SavedRun
from colgen.checkpoint.writer import master_digest
from colgen.core.columns import Column, Key, Row
from colgen.core.decision_data import DecisionWriter
from colgen.core.errors import ColgenError, InputError
from colgen.core.result import Termination
from colgen.core.serialization import IMPOSSIBLE, of_plain
from colgen.core.solution import Solution
from colgen.cuts.separation import Separation
from colgen.master.column_table import GIVEN
from colgen.master.linear_master import as_linear
from colgen.tree.branch_and_price import BranchAndPrice
from colgen.tree.node_data import node_of, paths_of
from colgen.tree.open_tree import OpenTree

_LONGEST = 250
"""Characters of what was wrong that a message shows."""


def resume(
    checkpoint: SavedRun,
    search: BranchAndPrice,
    tree: OpenTree,
    writer: DecisionWriter,
    made: Plainly,
    fits: Callable[[Column], bool] | None,
) -> None:
    """Restore the state of a search from a checkpoint: answer, columns, rows, open nodes, bounds.

    Parameters
    ----------
    made
        Makes a column's structure of plain data.
    fits
        Whether a column is one of the instance; None: nothing can tell.

    Raises
    ------
    InputError
        If the checkpoint is of another restricted master, or its fields are impossible.
    """
    path, said = checkpoint.path, checkpoint.said
    if said.get("master") != master_digest(search.master):
        raise InputError(f"{path} is a checkpoint of another restricted master: its rows or costs were others")
    try:
        check_fields(said, checkpoint.arrays)
        _bring(checkpoint, search, tree, writer, made, fits)
    except (*IMPOSSIBLE, ColgenError) as error:
        text = " ".join(str(error).split())[:_LONGEST].removeprefix(f"{path} cannot be resumed: ")
        if not isinstance(error, ColgenError):
            text = f"its contents are no checkpoint's ({type(error).__name__}: {text})"
        raise InputError(f"{path} cannot be resumed: {text}") from error


def _bring(
    checkpoint: SavedRun,
    search: BranchAndPrice,
    tree: OpenTree,
    writer: DecisionWriter,
    made: Plainly,
    fits: Callable[[Column], bool] | None,
) -> None:
    said, run = checkpoint.said, search.run
    rows, lost = _rows(said["rows"], search.incumbents.separation)
    search.master.add((), rows)
    dropped = _add_columns(checkpoint, search, made, fits)
    answer: Solution | None = None
    if said["incumbent"] is not None:
        answer = read_solution("incumbent", said["incumbent"], checkpoint.arrays, made)
        search.incumbents.offer_with_columns(answer, f"the checkpoint {checkpoint.path}")
        if run.incumbent is None or not run.meets(answer.objective, run.objective):
            raise InputError(
                f"{checkpoint.path} cannot be resumed: its answer of objective {answer.objective:g} is none of this "
                "problem"
            )
    search.bounds.estimate_scale()
    bound, root_bound = float(said["global_bound"]), float(said["root_bound"])
    if answer is not None and run.contradicts(bound, answer.objective):
        raise InputError(f"its answer {answer.objective:g} is better than its bound {bound:g}")
    run.prove(bound)
    search.root_bound = root_bound
    search.costs.restore(said["pseudo_costs"])
    duals = checkpoint.arrays.get("duals")
    if duals is not None and said["columns"] is not None:
        names = [of_plain(key) for key in said["columns"]["rows"]]
        search.bounds.set_duals(dict(zip(names, duals.tolist(), strict=False)))
    elif said["duals"] is not None:
        search.bounds.set_duals(of_plain(said["duals"]))
    paths = paths_of(said["links"], writer)
    tree.refill(
        [node_of(data, paths) for data in said["nodes"]],
        lost=float(said["lost"]),
        why_lost=None if said["why_lost"] is None else Termination[said["why_lost"]],
        treated=int(said["treated"]),
        next_number=int(said["next_number"]),
    )
    # Without a row that a parent's bound rests on, a child may look better than its parent.
    tree.checks_children = bool(said["compares"]) and not lost
    run.seconds_before = float(said["seconds"])
    run.columns_generated, run.rows_generated = map(int, said["generated"])
    run.notes.append(
        f"Resumed after {tree.treated} nodes and {run.seconds_before:.3g} s, with {len(said['nodes'])} open nodes and "
        f"{search.master.num_columns} columns in the master."
    )
    if checkpoint.note:
        run.notes.append(checkpoint.note)
    if dropped:
        run.notes.append(f"{dropped} columns of the checkpoint are none of this instance and were left out.")


def _rows(data: Sequence[Any], separation: Sequence[Separation]) -> tuple[list[Row], int]:
    """Return the rows that were separated, and how many of them no separation states again."""

    def revived(key: Key, lower: float, upper: float) -> Row | None:
        found = (one.revived(key, lower, upper) for one in separation)
        return next((row for row in found if row is not None), None)

    rows = [row_of_data(row, revived) for row in data]
    known = [row for row in rows if row is not None]
    return known, len(rows) - len(known)


def _add_columns(
    checkpoint: SavedRun, search: BranchAndPrice, made: Plainly, fits: Callable[[Column], bool] | None
) -> int:
    """Add the columns, pricing problem by pricing problem; return how many of them are none of the instance."""
    told, arrays = checkpoint.said["columns"], checkpoint.arrays
    if told is None or as_linear(search.master) is None or not told["count"]:
        return 0
    batch = read_columns("columns", told, arrays, made)
    origins = arrays["columns.origins"]
    known = range(GIVEN, len(search.pricing))
    if len(origins) and not known.start <= origins.min() <= origins.max() < known.stop:
        raise InputError(f"expected 'columns.origins' from {known.start} to {known.stop - 1}")
    right = np.ones(len(batch), dtype=np.bool_)
    if fits is not None:
        right = np.fromiter((_fits(fits, column) for column in batch), dtype=np.bool_, count=len(batch))
    for origin in np.unique(origins).tolist():
        mine = right & (origins == origin)
        if mine.any():
            search.master.add(batch.take(mine), (), origin)
    return int((~right).sum())


def _fits(fits: Callable[[Column], bool], column: Column) -> bool:
    try:
        return fits(column)
    except (ColgenError, ValueError, KeyError, IndexError, TypeError):
        return False

"""Restoring a search from a checkpoint."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from colgen.checkpoint.columns import Converter, read_columns, read_solution, row_of_data
from colgen.checkpoint.fields import check_fields
from colgen.checkpoint.file import SavedRun
from colgen.checkpoint.writer import master_digest
from colgen.core.columns import Column, Key, Row
from colgen.core.decision_data import DecisionWriter
from colgen.core.errors import ColgenError, InputError
from colgen.core.result import Termination
from colgen.core.serialization import IMPOSSIBLE, of_plain
from colgen.core.solution import Solution
from colgen.core.text import duration, plural
from colgen.cuts.separation import Separation
from colgen.master.column_table import GIVEN
from colgen.master.linear_master import as_linear
from colgen.tree.branch_and_price import BranchAndPrice
from colgen.tree.node_data import node_of, paths_of
from colgen.tree.open_tree import OpenTree

_MAX_LENGTH = 250
"""Maximum number of characters of a quoted error."""


def resume(
    checkpoint: SavedRun,
    search: BranchAndPrice,
    tree: OpenTree,
    writer: DecisionWriter,
    from_plain: Converter,
    fits: Callable[[Column], bool] | None,
) -> None:
    """Restore the state of a search from a checkpoint: incumbent, columns, rows, open nodes, bounds.

    ``from_plain`` converts plain data to structures, and ``fits`` tests whether a column is of the instance. A
    checkpoint of another restricted master, or an invalid field, is an ``InputError``.
    """
    path, fields = checkpoint.path, checkpoint.fields
    if fields.get("master") != master_digest(search.master):
        raise InputError(f"{path} is a checkpoint of another restricted master: rows or costs differ")
    fields.setdefault("processor_seconds", 0.0)  # missing in checkpoints of earlier versions
    try:
        check_fields(fields, checkpoint.arrays)
        _restore(checkpoint, search, tree, writer, from_plain, fits)
    except (*IMPOSSIBLE, ColgenError) as error:
        text = " ".join(str(error).split())[:_MAX_LENGTH].removeprefix(f"{path} cannot be resumed: ")
        if not isinstance(error, ColgenError):
            text = f"its contents are invalid ({type(error).__name__}: {text})"
        raise InputError(f"{path} cannot be resumed: {text}") from error


def _restore(
    checkpoint: SavedRun,
    search: BranchAndPrice,
    tree: OpenTree,
    writer: DecisionWriter,
    from_plain: Converter,
    fits: Callable[[Column], bool] | None,
) -> None:
    fields, run = checkpoint.fields, search.run
    rows, lost = _rows(fields["rows"], search.incumbents.separation)
    search.master.add((), rows)
    dropped = _add_columns(checkpoint, search, from_plain, fits)
    answer: Solution | None = None
    if fields["incumbent"] is not None:
        answer = read_solution("incumbent", fields["incumbent"], checkpoint.arrays, from_plain)
        search.incumbents.offer_with_columns(answer, f"the checkpoint {checkpoint.path}")
        if run.incumbent is None or not run.meets(answer.objective, run.objective):
            raise InputError(
                f"{checkpoint.path} cannot be resumed: its answer of objective {answer.objective:g} is not feasible"
            )
    search.bounds.estimate_scale()
    bound, root_bound = float(fields["global_bound"]), float(fields["root_bound"])
    if answer is not None and run.contradicts(bound, answer.objective):
        raise InputError(f"its answer {answer.objective:g} is better than its bound {bound:g}")
    run.prove(bound)
    search.root_bound = root_bound
    search.costs.restore(fields["pseudo_costs"])
    duals = checkpoint.arrays.get("duals")
    if duals is not None and fields["columns"] is not None:
        names = [of_plain(key) for key in fields["columns"]["rows"]]
        search.bounds.set_duals(dict(zip(names, duals.tolist(), strict=False)))
    elif fields["duals"] is not None:
        search.bounds.set_duals(of_plain(fields["duals"]))
    paths = paths_of(fields["links"], writer)
    tree.refill(
        [node_of(data, paths) for data in fields["nodes"]],
        lost=float(fields["lost"]),
        why_lost=None if fields["why_lost"] is None else Termination[fields["why_lost"]],
        treated=int(fields["treated"]),
        next_number=int(fields["next_number"]),
    )
    # Without a row of the parent's bound, a child may have a better bound than its parent.
    tree.checks_children = bool(fields["compares"]) and not lost
    run.seconds_before, run.processor_before = float(fields["seconds"]), float(fields["processor_seconds"])
    run.columns_generated, run.rows_generated = map(int, fields["generated"])
    run.notes.append(
        f"Resumed after {plural(tree.treated, 'node')} and {duration(run.seconds_before, run.processor_before)}, with "
        f"{plural(len(fields['nodes']), 'open node')} and {plural(search.master.num_columns, 'column')} in the master."
    )
    if checkpoint.note:
        run.notes.append(checkpoint.note)
    if dropped:
        run.notes.append(f"{plural(dropped, 'column')} of the checkpoint left out: not of this instance.")


def _rows(data: Sequence[Any], separation: Sequence[Separation]) -> tuple[list[Row], int]:
    """Return the separated rows, and how many of them no separation can restore."""

    def restore(key: Key, lower: float, upper: float) -> Row | None:
        found = (one.restore(key, lower, upper) for one in separation)
        return next((row for row in found if row is not None), None)

    rows = [row_of_data(row, restore) for row in data]
    known = [row for row in rows if row is not None]
    return known, len(rows) - len(known)


def _add_columns(
    checkpoint: SavedRun, search: BranchAndPrice, from_plain: Converter, fits: Callable[[Column], bool] | None
) -> int:
    """Add the columns by pricing problem. Return how many of them are not of the instance."""
    description, arrays = checkpoint.fields["columns"], checkpoint.arrays
    if description is None or as_linear(search.master) is None or not description["count"]:
        return 0
    batch = read_columns("columns", description, arrays, from_plain)
    origins = arrays["columns.origins"]
    known = range(GIVEN, len(search.pricing))
    if len(origins) and not known.start <= origins.min() <= origins.max() < known.stop:
        raise InputError(f"expected 'columns.origins' from {known.start} to {known.stop - 1}")
    valid = np.ones(len(batch), dtype=np.bool_)
    if fits is not None:
        valid = np.fromiter((_fits(fits, column) for column in batch), dtype=np.bool_, count=len(batch))
    for origin in np.unique(origins).tolist():
        mine = valid & (origins == origin)
        if mine.any():
            search.master.add(batch.take(mine), (), origin)
    return int((~valid).sum())


def _fits(fits: Callable[[Column], bool], column: Column) -> bool:
    try:
        return fits(column)
    except (ColgenError, ValueError, KeyError, IndexError, TypeError):
        return False

"""What travels from run to run: checkpoints, read before one begins and written as it goes on, and pools."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from colgen.core.columns import Column, Key
from colgen.core.errors import ColgenError, InputError
from colgen.core.pool import Pool
from colgen.core.pool_files import Origin, kept_pool, read_pool
from colgen.core.warm_start import WarmStart
from colgen.cuts.separation import Separation
from colgen.master.protocol import RestrictedMaster
from colgen.problem import Problem
from colgen.tree.branch_and_price import BranchAndPrice
from colgen.tree.checkpoint import Saving, read_checkpoint
from colgen.tree.keeping import Keeper
from colgen.tree.open_tree import OpenTree
from colgen.tree.resuming import resume

_COLUMNS, _FEW = 3, 100
"""Of a pool so many columns a row are taken, and so many at least: more make linear programs slow, and are priced again
in no time if they are of use."""


class Checkpointing:
    """The checkpoint that a run goes on from, if there is one, and those that it writes.

    Raises
    ------
    InputError
        If the problem cannot be told from others, or what is there is not of it.
    """

    def __init__(self, problem: Problem, saving: Saving, relaxation: bool) -> None:
        self._problem, self._saving, self._relaxation = problem, saving, relaxation
        self._digest = problem.digest()
        self._found = read_checkpoint(saving.path)
        if self._found is not None:
            self._found.check(self._digest, relaxation)
        self.keeper: Keeper | None = None

    @property
    def resumes(self) -> bool:
        """Whether there is a checkpoint to go on from."""
        return self._found is not None

    def begin(self, search: BranchAndPrice, tree: OpenTree, alone: bool) -> None:
        """Go on from the checkpoint, if there is one, and write from now on.

        ``alone``: whether one restricted master has all rows that bounds rest on.
        """
        problem = self._problem
        self.keeper = Keeper(self._saving, self._digest, problem.written, search, self._relaxation, alone)
        if self._found is not None:
            made, fits = restored(problem)
            resume(self._found, search, tree, self.keeper.writer, made, fits)
        self.keeper.watch(tree)

    def close(self) -> None:
        """Write the last one."""
        if self.keeper is not None:
            self.keeper.close()


def saving_of(checkpoint: Path | str | Saving, every: float) -> Saving:
    """Where checkpoints go, as `solve` was told."""
    return checkpoint if isinstance(checkpoint, Saving) else Saving(Path(checkpoint), float(every))


class Pooled:
    """The columns and cuts of another run, of the same instance or of another.

    Parameters
    ----------
    pool
        A file that ``result.pool.save`` has written, or such a pool itself.

    Raises
    ------
    InputError
        If the file holds something else; or if it is of another instance, and the problem does not say how to make its
        columns anew.
    """

    def __init__(self, problem: Problem, pool: Path | str | Pool) -> None:
        self._problem, self.note = problem, ""
        self._kept = kept = read_pool(pool) if isinstance(pool, (str, Path)) else kept_pool(pool)
        if not states_columns(problem) and kept.digest != problem.digest():
            kind = type(problem).__name__
            raise InputError(
                f"pool: it is of another instance or problem, and {kind} does not say what its columns are here: "
                f"define {kind}.column_of(structure)"
            )

    def warm_start(self, own: WarmStart, master: RestrictedMaster, separation: Sequence[Separation]) -> WarmStart:
        """The problem's own guesses, and what of the pool is of this instance."""
        kept, columns = self._kept, self._columns(master)
        found = [next((row for one in separation if (row := one.restated(key)) is not None), None) for key in kept.rows]
        rows = [row for row in found if row is not None]
        duals = own.duals
        if duals is None:
            duals = {key: value for key, value in kept.duals.items() if master.has_row(key)} or None
        self.note = (
            f"Of {len(kept.structures)} columns and {len(kept.rows)} cuts of the pool, {len(columns)} and {len(rows)} "
            "are of this instance."
        )
        return dataclasses.replace(own, duals=duals, columns=[*own.columns, *columns], rows=[*own.rows, *rows])

    def _columns(self, master: RestrictedMaster) -> list[Column]:
        best = self._kept.best(max(_COLUMNS * master.num_rows, _FEW)).tolist()
        columns = self._stated(best) if states_columns(self._problem) else (self._kept.columns[k] for k in best)
        return [column for column in columns if all(map(master.has_row, column.coefficients))]

    def _stated(self, chosen: Sequence[int]) -> Iterator[Column]:
        """What the problem makes of structures: it may know nothing of some, or fail at them."""
        for k in chosen:
            made = None
            with suppress(ColgenError, ValueError, KeyError, IndexError, TypeError, AttributeError):  # it is a guess
                made = self._problem.column_of(self._kept.structures[k])
            if made is not None:
                yield made


def origin_of(problem: Problem, search: BranchAndPrice) -> Origin:
    """What a pool must know to be saved."""
    rows = [row.key for row in search.master.joined_rows]
    duals: Mapping[Key, float] = {} if search.certificate is None else search.certificate.duals
    return Origin(problem.digest, problem.written, rows, duals)


def restored(problem: Problem) -> tuple[Callable[[Any], Any], Callable[[Column], bool] | None]:
    """What makes a structure of plain data, and what says whether a column is one of the instance, if anybody does."""
    if not states_columns(problem):
        return lambda written: written, None

    def made(written: Any) -> Any:
        column = problem.column_of(written)
        if column is None:
            raise InputError(f"{type(problem).__name__} has no column of {written!r}")
        return column.structure

    def fits(column: Column) -> bool:
        other = problem.column_of(problem.written(column.structure))
        return other is not None and other.cost == column.cost and other.coefficients == column.coefficients

    return (made if type(problem).written is not Problem.written else lambda written: written), fits


def states_columns(problem: Problem) -> bool:
    """Whether a problem makes columns of structures: its own, not those of a class whose oracles it has replaced."""

    def depth(method: str) -> int:
        return next(k for k, kind in enumerate(type(problem).__mro__) if method in vars(kind))

    return type(problem).column_of is not Problem.column_of and depth("column_of") <= depth("pricing")

"""What travels from run to run: checkpoints, read before one begins and written as it goes on, and pools."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from colgen.checkpoint.file import Checkpoint, read_checkpoint
from colgen.checkpoint.pools import Origin, kept_pool, read_pool
from colgen.checkpoint.resume import resume
from colgen.checkpoint.writer import Keeper
from colgen.claims import answer_for_check
from colgen.core.columns import Codec, Column, Key
from colgen.core.errors import ColgenError, InputError
from colgen.core.pool import Pool
from colgen.core.solution import Solution
from colgen.core.warm_start import NOTHING, WarmStart
from colgen.cuts.separation import Separation
from colgen.master.linear_master import as_linear
from colgen.master.protocol import RestrictedMaster
from colgen.problem import Problem, codec_of, digest_of_problem
from colgen.tree.branch_and_price import BranchAndPrice
from colgen.tree.open_tree import OpenTree

_COLUMNS, _FEW = 3, 100
"""Of a pool so many columns a row are taken, and so many at least: more make linear programs slow, and are priced again
in no time if they are of use."""

_LONGEST = 480
"""Characters of a message."""


class Checkpointing:
    """The checkpoint that a run goes on from, if there is one, and those that it writes.

    Raises
    ------
    InputError
        If the problem cannot be told from others, or what is there is not of it.
    """

    def __init__(self, problem: Problem, saving: Checkpoint, relaxation: bool) -> None:
        self._problem, self._saving, self._relaxation = problem, saving, relaxation
        self._digest = digest_of_problem(problem)
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
        self.keeper = Keeper(self._saving, self._digest, _writing(problem), search, self._relaxation, alone)
        if self._found is not None:
            made, fits = restored(problem)
            resume(self._found, search, tree, self.keeper.writer, made, fits)
        self.keeper.watch(tree)

    def explained(self, error: Exception) -> Exception:
        """What went wrong; a diagnostic of a run that goes on from a checkpoint may be the fault of that."""
        return _unless_of(f"{self._saving.path} cannot be resumed", error) if self.resumes else error

    def close(self) -> None:
        """Write the last one."""
        if self.keeper is not None:
            self.keeper.close()


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
        self._path = pool if isinstance(pool, (str, Path)) else None
        self._kept = kept = read_pool(pool) if isinstance(pool, (str, Path)) else kept_pool(pool)
        self._codec = codec_of(problem)
        if self._codec is None and kept.digest != digest_of_problem(problem):
            kind = type(problem).__name__
            raise InputError(
                f"start: the pool is of another instance or problem, and {kind} cannot make its columns for this one: "
                f"define {kind}.codec()"
            )

    def explained(self, error: Exception) -> Exception:
        """What went wrong; a diagnostic of a run that starts from a file may be the fault of that."""
        return error if self._path is None else _unless_of(f"the pool {self._path} cannot be used", error)

    def warm_start(
        self, guess: Callable[[], WarmStart], master: RestrictedMaster, separation: Sequence[Separation]
    ) -> WarmStart:
        """Return the columns, cuts, answer and dual values of the pool that this instance has too.

        The problem's own guesses are added unless the pool has an answer of this instance and dual values.  Those of a
        similar instance are near the optimal ones, and its answer is near the best: computing guesses would then be the
        longest part of the run.
        """
        kept, columns, answer = self._kept, self._columns(master), self._answer(master)
        known = {key: value for key, value in kept.duals.items() if key in (master.rows or ())}
        own = NOTHING if answer is not None and known else guess()
        # A cut that was worth nothing in the end makes pricing as much slower as one that was.
        worth = [key for key in kept.rows if kept.duals.get(key, 0.0)]
        found = [next((row for one in separation if (row := one.restated(key)) is not None), None) for key in worth]
        rows = [row for row in found if row is not None]
        duals = known or own.duals
        self.note = (
            f"Of {len(kept.columns)} columns and {len(kept.rows)} cuts of the pool, {len(columns)} and {len(rows)} "
            "are of this instance."
        )
        answers = own.answers if answer is None else [*own.answers, answer]
        columns = [*own.columns, *columns]
        return dataclasses.replace(own, duals=duals, answers=answers, columns=columns, rows=[*own.rows, *rows])

    def _answer(self, master: RestrictedMaster) -> Solution | None:
        """The answer of the other run, if it is one of this instance too."""
        kept, problem = self._kept.answer, self._problem
        linear = as_linear(master)
        if kept is None or self._codec is None or linear is None:
            return None
        columns = list(_read(self._kept.structures(column for column, _ in kept.columns), self._codec))
        if len(columns) < len(kept.columns):
            return None
        uses = tuple(zip(columns, [value for _, value in kept.columns], strict=True))
        with suppress(ColgenError, ValueError, KeyError, IndexError, TypeError):
            found = Solution(0.0, uses, kept.variables)
            found = dataclasses.replace(found, objective=linear.rows.objective_of(found))
            if linear.rows.violation(found) is None:
                problem.check(answer_for_check(problem, found))
                return found
        return None

    def _columns(self, master: RestrictedMaster) -> list[Column]:
        best = self._kept.best(max(_COLUMNS * master.num_rows, _FEW)).tolist()
        columns: Iterable[Column] = [self._kept.columns[k] for k in best]
        if self._codec is not None:
            columns = _read(self._kept.structures(columns), self._codec)
        rows = master.rows or ()
        return [column for column in columns if all(key in rows for key in column.coefficients)]


def origin_of(problem: Problem, search: BranchAndPrice) -> Origin:
    """What a pool must know to be saved."""
    rows = [] if search.master.rows is None else [row.key for row in search.master.rows.joined]
    duals: Mapping[Key, float] = {} if search.certificate is None else search.certificate.duals
    return Origin(partial(digest_of_problem, problem), _writing(problem), rows, duals, search.run.incumbent)


def restored(problem: Problem) -> tuple[Callable[[Any], Any], Callable[[Column], bool] | None]:
    """Return a function that reads structures, and one that checks whether a column is of the instance, or None."""
    codec, write = codec_of(problem), _writing(problem)
    if codec is None:
        return _as_it_is, None
    read = codec.read

    def structure_of(data: Any) -> Any:
        column = read(data)
        if column is None:
            raise InputError(f"{type(problem).__name__} has no column of {data!r}")
        return column.structure

    def fits(column: Column) -> bool:
        other = read(write(column.structure))
        return other is not None and other.cost == column.cost and other.coefficients == column.coefficients

    return (_as_it_is if codec.write is None else structure_of), fits


def _writing(problem: Problem) -> Callable[[Any], Any]:
    """Return a function that makes data of a structure."""
    codec = codec_of(problem)
    return _as_it_is if codec is None or codec.write is None else codec.write


def _as_it_is(structure: Any) -> Any:
    return structure


def _read(structures: Iterable[Any], codec: Codec) -> Iterator[Column]:
    """Yield the columns of structures that another run has written: some may be none here, or fail to be read."""
    for structure in structures:
        column = None
        with suppress(ColgenError, ValueError, KeyError, IndexError, TypeError, AttributeError):  # it is a guess
            column = codec.read(structure)
        if column is not None:
            yield column


def _unless_of(what: str, error: Exception) -> Exception:
    """A diagnostic as the fault of a file that the run has started from; other errors as they are."""
    if isinstance(error, InputError) or not isinstance(error, ColgenError):
        return error
    return InputError(f"{what}, or the same comes without it: {type(error).__name__}: {error}"[:_LONGEST])

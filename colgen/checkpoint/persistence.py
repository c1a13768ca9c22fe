"""Data that is passed between runs: checkpoints, before and during a run, and pools."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from colgen.checkpoint.columns import identity
from colgen.checkpoint.file import Checkpoint, read_checkpoint
from colgen.checkpoint.pools import Origin, as_saved_pool, read_pool
from colgen.checkpoint.resume import resume
from colgen.checkpoint.writer import CheckpointWriter
from colgen.claims import answer_for_check
from colgen.core.columns import Codec, Column, Key
from colgen.core.errors import ColgenError, InputError
from colgen.core.pool import Pool
from colgen.core.solution import Solution
from colgen.core.text import plural
from colgen.core.warm_start import NOTHING, WarmStart
from colgen.cuts.separation import Separation
from colgen.master.linear_master import as_linear
from colgen.master.protocol import RestrictedMaster
from colgen.problem import Problem, codec_of, digest_of_problem
from colgen.tree.branch_and_price import BranchAndPrice
from colgen.tree.open_tree import OpenTree

_PER_ROW, _FEW = 3, 100
"""Maximum number of columns of a pool per row, and the least value of this limit for a master. More columns slow linear
programs down, and useful ones are soon priced again."""

_MAX_LENGTH = 480
"""Maximum number of characters of a message."""


class Checkpointing:
    """The checkpoint that a run continues from, if it exists, and those that it writes.

    A problem without an identity, or a file of another problem, is an ``InputError``.
    """

    def __init__(self, problem: Problem, saving: Checkpoint, relaxation: bool) -> None:
        self._problem, self._saving, self._relaxation = problem, saving, relaxation
        self._digest = digest_of_problem(problem)
        self._found = read_checkpoint(saving.path)
        if self._found is not None:
            self._found.check(self._digest, relaxation)
        self.writer: CheckpointWriter | None = None

    @property
    def resumes(self) -> bool:
        """True if there is a checkpoint to continue from."""
        return self._found is not None

    def begin(self, search: BranchAndPrice, tree: OpenTree, alone: bool) -> None:
        """Continue from the checkpoint, if it exists, and start writing.

        ``alone``: whether one restricted master has all rows that bounds depend on.
        """
        problem = self._problem
        self.writer = CheckpointWriter(
            self._saving, self._digest, structure_writer(problem), search, self._relaxation, alone
        )
        if self._found is not None:
            from_plain, fits = column_reader(problem)
            resume(self._found, search, tree, self.writer.decisions, from_plain, fits)
        self.writer.watch(tree)

    def explain(self, error: Exception) -> Exception:
        """Return the error; if the run was resumed, with a message that the checkpoint may have caused it."""
        return _blame_file(f"{self._saving.path} cannot be resumed", error) if self.resumes else error

    def close(self) -> None:
        """Write the last checkpoint."""
        if self.writer is not None:
            self.writer.close()


class PoolStart:
    """The columns and cuts of another run, of the same or another instance.

    ``pool`` is a file written by ``result.pool.save``, or such a pool. A pool of another instance needs a codec.
    """

    def __init__(self, problem: Problem, pool: Path | str | Pool) -> None:
        self._problem, self.note = problem, ""
        self._path = pool if isinstance(pool, (str, Path)) else None
        self._saved = saved = read_pool(pool) if isinstance(pool, (str, Path)) else as_saved_pool(pool)
        self._codec = codec_of(problem)
        if self._codec is None and saved.digest != digest_of_problem(problem):
            kind = type(problem).__name__
            raise InputError(
                f"start: the pool is of another instance or problem, and {kind} cannot convert its columns: "
                f"define {kind}.codec()"
            )

    def explain(self, error: Exception) -> Exception:
        """Return the error; if the pool came from a file, with a message that the file may have caused it."""
        return error if self._path is None else _blame_file(f"the pool {self._path} cannot be used", error)

    def warm_start(
        self, guess: Callable[[], WarmStart], master: RestrictedMaster, separation: Sequence[Separation]
    ) -> WarmStart:
        """Return the columns, cuts, incumbent and dual values of the pool that fit this instance.

        The guesses of the problem are added unless the pool has an incumbent for this instance and dual values. Those
        of a similar instance are near the optimum, and computing guesses would take longer than the rest of the run.
        """
        saved, columns, answer = self._saved, self._columns(master), self._answer(master)
        known = {key: value for key, value in saved.duals.items() if key in (master.rows or ())}
        own = NOTHING if answer is not None and known else guess()
        # A cut with a zero dual value slows pricing down as much as others.
        tight = [key for key in saved.rows if saved.duals.get(key, 0.0)]
        found = [next((row for one in separation if (row := one.restated(key)) is not None), None) for key in tight]
        rows = [row for row in found if row is not None]
        duals = known or own.duals
        self.note = (
            f"{len(columns)} of {plural(len(saved.columns), 'column')} and {len(rows)} of "
            f"{plural(len(saved.rows), 'cut')} of the pool are of this instance."
        )
        answers = own.answers if answer is None else [*own.answers, answer]
        columns = [*own.columns, *columns]
        return dataclasses.replace(own, duals=duals, answers=answers, columns=columns, rows=[*own.rows, *rows])

    def _answer(self, master: RestrictedMaster) -> Solution | None:
        """Return the incumbent of the other run if it is feasible for this instance."""
        saved, problem = self._saved.answer, self._problem
        linear = as_linear(master)
        if saved is None or self._codec is None or linear is None:
            return None
        columns = list(_read(self._saved.structures(column for column, _ in saved.columns), self._codec))
        if len(columns) < len(saved.columns):
            return None
        uses = tuple(zip(columns, [value for _, value in saved.columns], strict=True))
        with suppress(ColgenError, ValueError, KeyError, IndexError, TypeError):
            found = Solution(0.0, uses, saved.variables)
            found = dataclasses.replace(found, objective=linear.rows.objective_of(found))
            if linear.rows.violation(found) is None:
                problem.check(answer_for_check(problem, found))
                return found
        return None

    def _columns(self, master: RestrictedMaster) -> list[Column]:
        best = self._saved.best(max(_PER_ROW * master.num_rows, _FEW)).tolist()
        columns: Iterable[Column] = [self._saved.columns[k] for k in best]
        if self._codec is not None:
            columns = _read(self._saved.structures(columns), self._codec)
        rows = master.rows or ()
        return [column for column in columns if all(key in rows for key in column.coefficients)]


def origin_of(problem: Problem, search: BranchAndPrice) -> Origin:
    """Return the data that a pool needs to be saved."""
    rows = [] if search.master.rows is None else [row.key for row in search.master.rows.joined]
    duals: Mapping[Key, float] = {} if search.certificate is None else search.certificate.duals
    return Origin(partial(digest_of_problem, problem), structure_writer(problem), rows, duals, search.run.incumbent)


def column_reader(problem: Problem) -> tuple[Callable[[Any], Any], Callable[[Column], bool] | None]:
    """Return a function that reads structures, and one that tests whether a column is of the instance, or None."""
    codec, write = codec_of(problem), structure_writer(problem)
    if codec is None:
        return identity, None
    read = codec.read

    def structure_of(data: Any) -> Any:
        column = read(data)
        if column is None:
            raise InputError(f"{type(problem).__name__} has no column for the structure {data!r}")
        return column.structure

    def fits(column: Column) -> bool:
        other = read(write(column.structure))
        return other is not None and other.cost == column.cost and other.coefficients == column.coefficients

    return (identity if codec.write is None else structure_of), fits


def structure_writer(problem: Problem) -> Callable[[Any], Any]:
    """Return a function that converts a structure to plain data."""
    codec = codec_of(problem)
    return identity if codec is None or codec.write is None else codec.write


def _read(structures: Iterable[Any], codec: Codec) -> Iterator[Column]:
    """Yield the columns for structures of another run. Some may not exist here, or raise an error."""
    for structure in structures:
        column = None
        with suppress(ColgenError, ValueError, KeyError, IndexError, TypeError, AttributeError):
            column = codec.read(structure)
        if column is not None:
            yield column


def _blame_file(what: str, error: Exception) -> Exception:
    """Return an InputError that names a file as a possible cause of a diagnostic; other errors are unchanged."""
    if isinstance(error, InputError) or not isinstance(error, ColgenError):
        return error
    text = f"{what}, or the run fails without it too: {type(error).__name__}: {error}"
    return InputError(text[:_MAX_LENGTH])

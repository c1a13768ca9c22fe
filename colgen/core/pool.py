"""The columns that a run has left, with what its last dual values and its last linear program say of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from colgen.core.columns import Column, Key
from colgen.core.errors import InputError
from colgen.core.lazy_imports import behind
from colgen.core.warm_start import Basis

Floats = NDArray[np.float64]


class Pool(Sequence[Column]):
    """All generated columns of the restricted master at the end of a run: a sequence, the oldest first.

    Attributes
    ----------
    reduced_costs
        One entry a column: at the dual values that prove the root's bound, those of ``result.certificate``; not a
        number where nothing was proved.
    positions
        Of each column in the master, which had so many columns before it.
    """

    def __init__(
        self,
        columns: Sequence[Column],
        reduced_costs: Floats,
        basic: Callable[[], tuple[NDArray[np.bool_], Sequence[Key], Sequence[Key]]],
        positions: NDArray[np.int64],
    ) -> None:
        self._columns = columns
        self.origin: Any = None
        """Where it comes from, a ``colgen.checkpoint.pools.Origin``; None for results of another process."""
        self.positions = positions
        self.reduced_costs = reduced_costs
        self._find_basic = basic  # found out if somebody asks: most never do

    @cached_property
    def _found(self) -> tuple[NDArray[np.bool_], Sequence[Key], Sequence[Key]]:
        return self._find_basic()

    @property
    def basic(self) -> NDArray[np.bool_]:
        """Which columns are basic in the last linear program."""
        return self._found[0]

    def __getstate__(self) -> dict[str, Any]:
        """What other processes are sent: results travel."""
        arrays = {"reduced_costs": self.reduced_costs, "positions": self.positions}
        return {"origin": None, "_columns": list(self), **arrays, "_found": self._found}

    def save(self, path: Path | str) -> None:
        """Write the columns to a file for other runs, ``solve(problem, start=path)``, of changed instances too.

        With them go the names of separated rows and the dual values that prove the root's bound.  All of it is a guess
        there.

        Raises
        ------
        InputError
            If a structure is no data, and the problem's :meth:`Problem.codec` makes none of it.
        """
        if self.origin is None:
            raise InputError("pool: expected that of a run in this process; those of others are saved where they ran")
        behind("checkpoint.pools", "write_pool")(path, self._columns, self.reduced_costs, self.origin)

    def __len__(self) -> int:
        return len(self._columns)

    @overload
    def __getitem__(self, index: int) -> Column: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Column]: ...
    def __getitem__(self, index: int | slice) -> Column | Sequence[Column]:
        return self._columns[index]

    def __iter__(self) -> Iterator[Column]:
        return iter(self._columns)

    def __repr__(self) -> str:
        return f"<Pool of {len(self)} columns, {int(self.basic.sum())} of them basic>"

    def _repr_html_(self) -> str:
        shown: str = behind("reporting.html", "show_columns")(self)
        return shown

    @property
    def basis(self) -> Basis:
        """What is basic in the last linear program: columns, variables of the template, slacks of rows."""
        mask, variables, rows = self._found
        return Basis([self._columns[k] for k in np.flatnonzero(mask).tolist()], variables, rows)

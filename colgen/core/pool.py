"""The columns at the end of a run, with reduced costs and the last basis."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from colgen.core.columns import Column, Key
from colgen.core.errors import InputError
from colgen.core.lazy_imports import import_name
from colgen.core.text import plural
from colgen.core.warm_start import Basis

Floats = NDArray[np.float64]


class Pool(Sequence[Column]):
    """All generated columns of the restricted master at the end of a run: a sequence, the oldest first.

    Attributes
    ----------
    reduced_costs
        One per column, at the dual values that prove the root's bound (``result.certificate``); NaN if no bound was
        proved.
    positions
        Position of each column in the master.

    Examples
    --------
    >>> pool = solve(problem).pool
    >>> solve(problem, start=pool).objective, len(pool) > 0
    (453.0, True)
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
        """A ``colgen.checkpoint.pools.Origin``; None for results of another process."""
        self.positions = positions
        self.reduced_costs = reduced_costs
        self._find_basic = basic  # computed on demand, since it is rarely needed

    @cached_property
    def _basis(self) -> tuple[NDArray[np.bool_], Sequence[Key], Sequence[Key]]:
        return self._find_basic()

    @property
    def basic(self) -> NDArray[np.bool_]:
        """Which columns are basic in the last linear program."""
        return self._basis[0]

    def __getstate__(self) -> dict[str, Any]:
        """Return the data for other processes."""
        arrays = {"reduced_costs": self.reduced_costs, "positions": self.positions}
        return {"origin": None, "_columns": list(self), **arrays, "_basis": self._basis}

    def save(self, path: Path | str) -> None:
        """Write the columns to a file for ``solve(problem, start=path)``, also for changed instances.

        The file also contains the names of separated rows and the dual values that prove the root's bound. The other
        run treats all of it as guesses.

        Raises
        ------
        InputError
            If a structure is not plain data and :meth:`Problem.codec` does not convert it.
        """
        if self.origin is None:
            raise InputError("pool: expected a pool of this process; save pools of other processes where they ran")
        import_name("checkpoint.pools", "write_pool")(path, self._columns, self.reduced_costs, self.origin)

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
        return f"<Pool of {plural(len(self), 'column')}, {int(self.basic.sum())} of them basic>"

    def _repr_html_(self) -> str:
        page: str = import_name("reporting.html", "show_columns")(self)
        return page

    @property
    def basis(self) -> Basis:
        """The basis of the last linear program: columns, variables of the template, slacks of rows."""
        mask, variables, rows = self._basis
        return Basis([self._columns[k] for k in np.flatnonzero(mask).tolist()], variables, rows)

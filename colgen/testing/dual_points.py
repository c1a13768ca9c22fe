"""Dual points at which oracles are called, with the signs that the rows allow."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from colgen.core.columns import Column
from colgen.master.column_table import TEMPLATE
from colgen.master.linear_master import LinearMaster
from colgen.testing.column_checks import Claim

Floats = NDArray[np.float64]


class DualPoints:
    """Random and systematic dual values of a master.

    ``sizes`` contains, per row, the dual value that weighs as much as the costliest of the generated ``columns``.
    """

    def __init__(self, master: LinearMaster, columns: Sequence[Column], rng: np.random.Generator) -> None:
        self.master, self.rng = master, rng
        self._static = _static_bounds(master)
        costs = [abs(c.cost) for c in columns] + np.abs(master.table.costs).tolist()
        largest = max(costs, default=0.0) or 1.0
        weights = np.zeros(master.num_rows)
        for column in columns:
            rows, values = master.rows.entries(column)
            np.maximum.at(weights, rows, np.abs(values))
        self.sizes = largest / np.where(weights > 0, weights, 1.0)

    def legal(self, values: Floats, weight: float) -> Floats:
        """Return the nearest dual values that this master can have, judging by its rows' sides and slacks.

        The dual value of a row without a lower side has one sign. A template variable in a single row, such as its
        slack, bounds that row's dual value by its own reduced cost. Oracles may rely on both. ``weight`` is the factor
        on all costs.
        """
        master, sign = self.master, self.master.sense.sign
        values = values.copy()
        for row, ratio, above, below in self._static:
            if above:
                values[row] = max(values[row], weight * ratio)
            if below:
                values[row] = min(values[row], weight * ratio)
        values = np.where(np.isfinite(master.rows.lower), values, sign * np.minimum(sign * values, 0.0))
        return np.where(np.isfinite(master.rows.upper), values, sign * np.maximum(sign * values, 0.0))

    def all(self, claims: Sequence[Claim]) -> Iterator[tuple[str, Floats]]:
        """Yield points as ``(description, values)`` to pass to :meth:`legal`: simple ones first, the rest shuffled.

        ``claims`` are those at earlier points, from which new points are derived.
        """
        # A wrong cost shows best with all duals zero, a missing row where only its dual is nonzero.
        yield "all-zero duals", np.zeros(self.master.num_rows)
        yield from self._passing(claims)
        points = [*self._near(claims), *self._random()]
        for k in self.rng.permutation(len(points)).tolist():
            yield points[k]

    def _grown(self, claim: Claim) -> Floats:
        values = claim.duals.values
        return np.append(values, np.zeros(self.master.num_rows - len(values)))

    def _passing(self, claims: Sequence[Claim]) -> Iterator[tuple[str, Floats]]:
        """Yield points with a nonzero dual value on rows that were added later."""
        master, rng = self.master, self.rng
        first = len(master.formulation.row_keys)
        young = [k for k in range(first, master.num_rows) if not self._is_free(k)]
        for k in [young[j] for j in rng.permutation(len(young)).tolist()][:20]:
            for sign in (1.0, -1.0):
                values = self._grown(claims[int(rng.integers(len(claims)))]) if claims else np.zeros(master.num_rows)
                values[k] = sign * rng.uniform(0.2, 1.0) * self.sizes[k]
                yield f"duals of an earlier point and {master.rows.names.keys[k]!r} = {values[k]:g}", values

    def _is_free(self, row: int) -> bool:
        return bool(np.isinf(self.master.rows.lower[row]) and np.isinf(self.master.rows.upper[row]))

    def _near(self, claims: Sequence[Claim]) -> Iterator[tuple[str, Floats]]:
        """Yield points near those of earlier claims."""
        master, rng = self.master, self.rng
        width = master.num_rows
        blocks = dict.fromkeys(key[0] for key in master.rows.names.keys)
        for claim in [claims[k] for k in rng.permutation(len(claims))[:25]]:
            values = self._grown(claim)
            size = float(np.abs(values).sum()) / max(width, 1) or self.sizes
            yield f"perturbed duals ({claim.label})", values + rng.normal(scale=0.5, size=width) * size
            yield f"doubled duals ({claim.label})", 2.0 * values
            yield f"tenfold duals ({claim.label})", 10.0 * values
            yield f"halved duals ({claim.label})", 0.5 * values
            for block in blocks:
                only = np.zeros(width)
                where = master.rows.names.block(block)
                only[where] = values[where]
                yield f"the duals of block {block!r} alone ({claim.label})", only
            # At this point an oracle with the wrong sign returns the best column for the duals themselves, if the rows
            # are equations; other rows have duals of one sign only.
            yield f"negated duals ({claim.label})", -values

    def _random(self) -> Iterator[tuple[str, Floats]]:
        master, rng = self.master, self.rng
        width = master.num_rows
        for _ in range(25):
            yield "random duals", rng.normal(size=width) * self.sizes
        for position in rng.permutation(width)[:60].tolist():
            for sign in (1.0, -1.0):
                unit = np.zeros(width)
                unit[position] = sign * self.sizes[position]
                if (self.legal(unit.copy(), 1.0) == unit).all():
                    yield f"one dual value, {master.rows.names.keys[position]!r} = {unit[position]:g}", unit


def _static_bounds(master: LinearMaster) -> list[tuple[int, float, bool, bool]]:
    """Return row, ratio c/a, and whether it bounds the dual value below and above, for variables in a single row."""
    f, table = master.formulation, master.table
    columns, rows, entry_values = (np.array(part) for part in table.entry_lists())
    counts = np.bincount(columns.astype(np.int64), minlength=len(table)) if len(columns) else np.zeros(len(table))
    bounds = []
    for column, row, a in zip(columns.tolist(), rows.tolist(), entry_values.tolist(), strict=True):
        template = table.origins[column] == TEMPLATE and not table.artificial[column]
        if not template or counts[column] != 1 or not a:
            continue
        # A variable that may rise must not gain by it: sign·(c - aπ) ≥ 0; the reverse if it may fall.
        may_rise, may_fall = math.isinf(f.upper[column]), math.isinf(f.lower[column])
        upwards = a * master.sense.sign > 0
        ratio = float(f.costs[column]) / a
        bounds.append((int(row), ratio, may_fall if upwards else may_rise, may_rise if upwards else may_fall))
    return [entry for entry in bounds if entry[2] or entry[3]]

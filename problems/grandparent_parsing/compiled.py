"""The master of price and cut as arrays: what compiling the Pyomo model gives, in a hundredth of the time."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from scipy import sparse

from colgen import Formulation, InputError, Sense
from colgen.core.columns import Key
from colgen.model.formulation import Block
from colgen.problems.grandparent_parsing.instance import Floats, Ints
from colgen.problems.grandparent_parsing.model import CONNECTIVITIES


@lru_cache(64)
def arc_ends(tokens: int) -> tuple[Ints, Ints]:
    """Heads and modifiers of all arcs, in the order of the master's block ``z``; nobody writes to what it returns."""
    modifiers, heads = np.divmod(np.arange(tokens * (tokens + 1)), tokens + 1)
    modifiers += 1
    return heads[heads != modifiers], modifiers[heads != modifiers]


@lru_cache(64)
def compiled_master(
    tokens: int,
    *,
    formulation: str = "all",
    connectivity: str = "cuts",
    siblings: bool = False,
    single_root: bool = False,
) -> Formulation:
    """Return the compiled :func:`~colgen.problems.grandparent_parsing.model.master`, rows and columns in its order.

    Sentences have many lengths, and a model of long ones takes seconds to build.  Made once a length; nobody writes to
    what it returns.
    """
    if formulation not in ("all", "one_gp+no_gp"):
        raise InputError(f"formulation must be 'all' or 'one_gp+no_gp' for columns to come, not {formulation!r}")
    if connectivity not in CONNECTIVITIES:
        raise InputError(f"connectivity must be 'flow' or 'cuts', not {connectivity!r}")
    heads, modifiers = arc_ends(tokens)
    arcs = list(zip(heads.tolist(), modifiers.tolist(), strict=True))
    inner = np.flatnonzero(heads > 0)
    inner_arcs = [arcs[k] for k in inner.tolist()]
    rows, columns = _Blocks(), _Blocks()
    entries = _Entries()
    z = columns.add("z", arcs, 0.0, 1.0)
    one_head = rows.add("one_head", range(1, tokens + 1), 1.0, 1.0)
    entries.add(one_head[modifiers - 1], z, 1.0)
    if single_root:
        one_root = rows.add("one_root", [None], 1.0, 1.0)
        from_root = np.flatnonzero(heads == 0)
        entries.add(np.repeat(one_root, len(from_root)), z[from_root], 1.0)
    if connectivity == "flow":
        _add_flow(tokens, rows, columns, entries)
    if tokens > 1:
        no_part = columns.add("no_part", inner_arcs, 0.0, np.inf)
        one_gp = rows.add("one_gp", inner_arcs, 0.0, 0.0)
        entries.add(one_gp, no_part, 1.0)
        entries.add(one_gp, z[inner], -1.0)
        if formulation == "one_gp+no_gp":
            entries.add(rows.add("no_gp", arcs, -np.inf, 0.0), z, -float(tokens))
    if siblings:
        for name in ("before", "after"):
            missing = columns.add(f"no_{name}", arcs, 0.0, np.inf)
            row = rows.add(name, arcs, 0.0, 0.0)
            entries.add(row, missing, 1.0)
            entries.add(row, z, -1.0)
    blocks = np.array([name for name, _ in columns.keys])
    return Formulation(
        sense=Sense.MAXIMIZE,
        matrix=entries.matrix((len(rows.keys), len(columns.keys))),
        costs=np.zeros(len(columns.keys)),
        lower=columns.numbers(0),
        upper=columns.numbers(1),
        integer=blocks == "z",
        artificial=np.char.startswith(blocks, "no_"),
        row_lower=rows.numbers(0),
        row_upper=rows.numbers(1),
        offset=0.0,
        column_keys=tuple(columns.keys),
        row_keys=tuple(rows.keys),
        row_blocks=rows.blocks,
        column_blocks=columns.blocks,
    )


def _add_flow(tokens: int, rows: _Blocks, columns: _Blocks, entries: _Entries) -> None:
    """Add the flow of one commodity to the arcs of a block ``z``."""
    heads, modifiers = arc_ends(tokens)
    arcs, z = columns.blocks["z"].indices, columns.blocks["z"].positions
    inner, from_root = np.flatnonzero(heads > 0), np.flatnonzero(heads == 0)
    phi = columns.add("phi", arcs, 0.0, np.inf)
    source = rows.add("source", [None], float(tokens), float(tokens))
    consume = rows.add("consume", range(1, tokens + 1), 1.0, 1.0)
    no_flow = rows.add("no_flow", arcs, -np.inf, 0.0)
    entries.add(np.repeat(source, len(from_root)), phi[from_root], 1.0)
    entries.add(consume[modifiers - 1], phi, 1.0)
    entries.add(consume[heads[inner] - 1], phi[inner], -1.0)
    entries.add(no_flow, phi, 1.0)
    entries.add(no_flow, z, -float(tokens))


class _Blocks:
    """Rows or columns as they come, block after block, with their lower and upper bounds."""

    def __init__(self) -> None:
        self.keys: list[Key] = []
        self.blocks: dict[str, Block] = {}
        self._bounds: list[tuple[Floats, Floats]] = []

    def add(self, name: str, indices: Sequence[Hashable], lower: Any, upper: Any) -> Ints:
        """Positions of the members of a new block."""
        positions = np.arange(len(self.keys), len(self.keys) + len(indices))
        self.keys += [(name, index) for index in indices]
        if len(indices):
            self.blocks[name] = Block(name, tuple(indices), positions)
        size = len(indices)
        self._bounds.append((np.broadcast_to(lower, size), np.broadcast_to(upper, size)))
        return positions

    def numbers(self, side: int) -> Floats:
        """Lower bounds, or upper ones."""
        return np.concatenate([np.asarray(bounds[side], dtype=float) for bounds in self._bounds])


class _Entries:
    """Entries of a matrix."""

    def __init__(self) -> None:
        self._triples: list[tuple[Ints, Ints, Floats]] = []

    def add(self, rows: Ints, columns: Ints, value: float) -> None:
        self._triples.append((rows, columns, np.full(len(rows), value)))

    def matrix(self, shape: tuple[int, int]) -> sparse.csc_array:
        rows, columns, values = (np.concatenate(part) for part in zip(*self._triples, strict=True))
        return sparse.csc_array((values, (rows, columns)), shape=shape)

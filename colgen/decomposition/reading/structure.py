"""Matrices whose vertices are whole whatever the costs, by what they are: incidence of networks, and intervals.

A matrix is totally unimodular if all of its square parts have a determinant of 0, 1 or -1; a polyhedron of such rows,
with whole sides and bounds, has whole vertices (Hoffman and Kruskal, 1956).  What is recognised is the proof of it:

* at most two entries in each column, and rows that can be multiplied by 1 or -1 so that two entries of a column have
  unlike signs: node-arc incidence (Heller and Tompkins, 1956); the same of rows;
* entries of 1, up to signs of rows and columns, that are consecutive in each row, or column, in some order: intervals
  (Fulkerson and Gross, 1965).

Rows and columns of one entry change nothing and are left out before, and so are those that repeat others.
"""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from colgen.decomposition.reading.arrays import Floats, Ints

_SPECTRUM = 120
"""Of so many columns, or fewer, an order is sought by eigenvectors where that of the model is none."""


def in_units(matrix: sparse.sparray) -> tuple[sparse.csr_array, Floats] | None:
    """The rows divided by the size of their entries, and these sizes; None if the entries of some row differ in it."""
    rows = sparse.csr_array(matrix)
    rows.eliminate_zeros()
    sizes = np.ones(rows.shape[0])
    if not rows.nnz:
        return rows, sizes
    entries = np.abs(rows.data)
    filled = np.flatnonzero(np.diff(rows.indptr))
    sizes[filled] = np.maximum.reduceat(entries, rows.indptr[:-1][filled])
    if (entries != np.repeat(sizes, np.diff(rows.indptr))).any():
        return None
    return sparse.csr_array((np.sign(rows.data), rows.indices, rows.indptr), shape=rows.shape), sizes


def signs_of_rows(units: sparse.sparray) -> Floats | None:
    """Of each row 1 or -1, so that columns of two entries have one of either sign; None if there are no such signs.

    None as well if a column has more entries.
    """
    columns = sparse.csc_array(units)
    counts = np.diff(columns.indptr)
    if (counts > 2).any():
        return None
    first = columns.indptr[:-1][counts == 2]
    one, other = columns.indices[first], columns.indices[first + 1]
    return _signs(one, other, columns.data[first] == columns.data[first + 1], columns.shape[0])


def _signs(one: Ints, other: Ints, unlike: NDArray[np.bool_], count: int) -> Floats | None:
    """Of each of some things 1 or -1, unlike for some pairs and alike for others; None if that cannot be."""
    # Each thing is there twice, with either sign; what follows from one another is connected.
    far = np.where(unlike, count, 0)
    tails = np.concatenate([one, one + count])
    heads = np.concatenate([other + far, (other + far + count) % (2 * count)])
    graph = sparse.csr_array((np.ones(len(tails)), (tails, heads)), shape=(2 * count, 2 * count))
    labels = connected_components(graph, directed=False)[1]
    if (labels[:count] == labels[count:]).any():
        return None
    return np.where(labels[:count] < labels[count:], 1.0, -1.0)


def unimodular(matrix: sparse.sparray, names: Ints | None = None) -> str | None:
    """What makes a matrix totally unimodular, its rows multiplied by something; None if nothing is known to.

    Parameters
    ----------
    names
        Numbers of the columns in an order in which ones may be consecutive.
    """
    found = in_units(matrix)
    if found is None:
        return None
    units, order = _reduced(found[0], np.arange(matrix.shape[1]) if names is None else names)
    if not units.nnz:
        return "bounds"
    if signs_of_rows(units) is not None or signs_of_rows(units.T) is not None:
        return "network"
    return "intervals" if _are_intervals(units, order) else None


def _reduced(units: sparse.csr_array, names: Ints) -> tuple[sparse.csr_array, Ints]:
    """Without rows and columns of one entry, again and again, and without those that repeat others but for signs."""
    while True:
        before = units.shape
        rows = np.flatnonzero(np.diff(units.indptr) > 1)
        units = sparse.csr_array(units[rows, :])
        columns = np.flatnonzero(np.bincount(units.indices, minlength=units.shape[1]) > 1)
        units, names = sparse.csr_array(units[:, columns]), names[columns]
        units = sparse.csr_array(units[_different(units), :])
        columns = _different(sparse.csr_array(units.T))
        units, names = sparse.csr_array(units[:, columns]), names[columns]
        if units.shape == before:
            return units, names


def _different(units: sparse.csr_array) -> Ints:
    """The first of rows that are the same but for their sign."""
    units.sort_indices()
    seen: dict[bytes, int] = {}
    starts = units.indptr.tolist()
    for k, (first, last) in enumerate(itertools.pairwise(starts)):
        data = units.data[first:last]
        signs = data * data[0] if first < last else data
        seen.setdefault(units.indices[first:last].tobytes() + signs.astype(np.int8).tobytes(), k)
    return np.array(sorted(seen.values()), dtype=np.int64)


# --- intervals -------------------------------------------------------------------------------------------------------


def _are_intervals(units: sparse.csr_array, names: Ints) -> bool:
    """Whether entries are ones but for signs of rows and columns, and consecutive in each row or in each column."""
    height, width = units.shape
    entries = sparse.coo_array(units)
    if _signs(entries.row, entries.col + height, entries.data < 0.0, height + width) is None:
        return False
    ones = sparse.csr_array((np.ones(units.nnz), units.indices, units.indptr), shape=units.shape)
    across = sparse.csr_array(ones.T)
    # Rows where columns lie in the order of the model, one after the other, lie in that of their first columns.
    place = np.empty(width)
    place[np.argsort(names, kind="stable")] = np.arange(width)
    means = (ones @ place) / np.diff(ones.indptr)
    return (
        _consecutive(ones, place)
        or _consecutive(across, means)
        or _consecutive(ones, _spectral(ones))
        or _consecutive(across, _spectral(across))
    )


def _consecutive(ones: sparse.csr_array, values: Floats | None) -> bool:
    """Whether the ones of each row are consecutive once columns are sorted by some values."""
    if values is None:
        return False
    place = np.empty(len(values), dtype=np.int64)
    place[np.argsort(values, kind="stable")] = np.arange(len(values))
    where, starts = place[ones.indices], ones.indptr[:-1]
    span = np.maximum.reduceat(where, starts) - np.minimum.reduceat(where, starts) + 1
    return bool((span == np.diff(ones.indptr)).all())


def _spectral(ones: sparse.csr_array) -> Floats | None:
    """By which columns are sorted if ones are consecutive in some order, and no two orders differ by more than ends.

    Source: J. E. Atkins, E. G. Boman, B. Hendrickson, *A spectral algorithm for seriation and the consecutive ones
    problem*, SIAM Journal on Computing 28 (1998).
    """
    if ones.shape[1] > _SPECTRUM:
        return None
    alike = (ones.T @ ones).toarray()
    count, labels = connected_components(alike, directed=False)
    found = np.zeros(len(alike))
    for component in range(count):
        mine = np.flatnonzero(labels == component)
        near = alike[np.ix_(mine, mine)]
        if len(mine) > 2:
            vector = np.linalg.eigh(np.diag(near.sum(axis=1)) - near)[1][:, 1]
            found[mine] = 4.0 * component + vector
        else:
            found[mine] = 4.0 * component
    return found

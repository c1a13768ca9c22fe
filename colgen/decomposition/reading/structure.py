"""Recognition of totally unimodular matrices: networks and intervals.

A matrix is totally unimodular if all its square submatrices have determinant 0, 1 or -1.  A polyhedron of such rows
with integer sides and bounds has integer vertices (Hoffman and Kruskal, 1956).  Two sufficient conditions are tested:

* Each column has at most two entries, and after multiplying rows by 1 or -1 these have opposite signs: node-arc
  incidence (Heller and Tompkins, 1956).  The same condition on rows is tested too.
* Up to signs of rows and columns all entries are 1, and consecutive in each row, or column, in some order: intervals
  (Fulkerson and Gross, 1965).

Rows and columns with one entry, and duplicates, do not matter and are removed first.
"""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from colgen.decomposition.reading.compact_model import Floats, Ints

_SPECTRUM = 120
"""Maximum number of columns for which an order is computed by eigenvectors if the model's order fails."""


def in_units(matrix: sparse.sparray) -> tuple[sparse.csr_array, Floats] | None:
    """Return the rows divided by the size of their entries, and the sizes; None if sizes differ within a row."""
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
    """Return signs of rows under which the two entries of a column have opposite signs, or None.

    None also if a column has more than two entries.
    """
    columns = sparse.csc_array(units)
    counts = np.diff(columns.indptr)
    if (counts > 2).any():
        return None
    first = columns.indptr[:-1][counts == 2]
    one, other = columns.indices[first], columns.indices[first + 1]
    return _signs(one, other, columns.data[first] == columns.data[first + 1], columns.shape[0])


def _signs(one: Ints, other: Ints, unlike: NDArray[np.bool_], count: int) -> Floats | None:
    """Return ``count`` signs that differ in the pairs marked ``unlike`` and agree in the others; None if impossible."""
    # Each index is a node for either sign; implications connect nodes.
    far = np.where(unlike, count, 0)
    tails = np.concatenate([one, one + count])
    heads = np.concatenate([other + far, (other + far + count) % (2 * count)])
    graph = sparse.csr_array((np.ones(len(tails)), (tails, heads)), shape=(2 * count, 2 * count))
    labels = connected_components(graph, directed=False)[1]
    if (labels[:count] == labels[count:]).any():
        return None
    return np.where(labels[:count] < labels[count:], 1.0, -1.0)


def unimodular(matrix: sparse.sparray, names: Ints | None = None) -> str | None:
    """Return why a matrix with scaled rows is totally unimodular, or None if no condition holds.

    ``names`` are numbers of the columns in an order in which ones may be consecutive.
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
    """Return the matrix after repeatedly removing rows and columns with one entry, and duplicates up to sign."""
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
    """Return the first of each set of rows that are equal up to sign."""
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
    """Return whether entries are 1 up to signs, and consecutive in each row or in each column."""
    height, width = units.shape
    entries = sparse.coo_array(units)
    if _signs(entries.row, entries.col + height, entries.data < 0.0, height + width) is None:
        return False
    ones = sparse.csr_array((np.ones(units.nnz), units.indices, units.indptr), shape=units.shape)
    across = sparse.csr_array(ones.T)
    # If columns are consecutive in the model's order, rows sorted by mean place are consecutive in each column.
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
    """Return whether the ones of each row are consecutive after sorting columns by values."""
    if values is None:
        return False
    place = np.empty(len(values), dtype=np.int64)
    place[np.argsort(values, kind="stable")] = np.arange(len(values))
    where, starts = place[ones.indices], ones.indptr[:-1]
    span = np.maximum.reduceat(where, starts) - np.minimum.reduceat(where, starts) + 1
    return bool((span == np.diff(ones.indptr)).all())


def _spectral(ones: sparse.csr_array) -> Floats | None:
    """Return values that sort columns so that ones are consecutive, if an order exists that is unique up to reversal.

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

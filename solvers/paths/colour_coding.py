r"""Colour coding: the heaviest path with k vertices of different classes, found with a given probability.

    max  first(v_1) + Σ_i w(v_i, v_{i+1}) + last(v_k)      over v_1, ..., v_k of k different classes.

One iteration colours the classes at random with r ≥ k colours.  A dynamic program over (vertex, set of colours) finds
the heaviest *colourful* path, whose vertices have different colours, in O(2^r n²) time and O(2^r n) space.  The path is
optimal if the k classes of the optimal path got k different colours, which has probability p.  After t iterations the
best path is optimal with probability at least 1 - (1 - p)^t.

*Why classes are coloured, and not vertices.*  Let P be an optimal path.  Its k vertices have different classes, so P is
colourful with the same probability p in both cases.  If classes are coloured, every colourful path is feasible and none
is heavier than P.  The dynamic program then finds the optimum whenever P is colourful.  If vertices are coloured, a
colourful path may visit a class twice.  The iteration fails if such a path is heavier than P and colourful.  So the
probability is p - Pr(P and a heavier path with a repeated class are both colourful).  This is at most p, and less
whenever such a path with k different vertices exists.  (Keeping the visited classes in the state instead would make it
as large as the exact program's.)

*Why the colours are dealt out evenly.*  Let n_1, ..., n_r be the numbers of the m classes with each colour.  Each
choice of k classes is equally likely to be that of P.  So P is colourful with probability e_k(n_1, ..., n_r) / C(m, k),
with the elementary symmetric polynomial e_k.  It is Schur concave, so it is largest if the numbers differ by at most
one.  Independent colours are a mixture over all such numbers, with p_independent = r! / ((r - k)! r^k), and never
better.  With m ≤ r classes a single iteration is exact.

Sources: N. Alon, R. Yuster, U. Zwick, *Color-coding*, Journal of the ACM 42 (1995).  P. Deshpande, R. Barzilay, D. R.
Karger, *Randomized decoding for selection-and-ordering problems*, NAACL (2007).  A. W. Marshall, I. Olkin, B. C.
Arnold, *Inequalities: theory of majorization and its applications* (2011), section 3.F.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.arrays import ArrayError, as_float, as_integer
from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import folded, inner
from colgen.solvers.paths.walks import Graph, validate
from colgen.solvers.stopping import Expired, never

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Seeds = NDArray[np.uint64]

LARGEST_TABLE = 1 << 32
"""Maximum number of bytes of a table."""

_PORTION = 30_000_000
"""Elementary steps between two checks of the clock: a few hundredths of a second."""


class Coloured(NamedTuple):
    """The heaviest path of some iterations, empty if there is none, and the weight of each iteration's heaviest path.

    Paths are colourful.  An iteration without one has weight minus infinity.
    """

    weights: Floats
    path: Ints


def iterate(of: Graph, num_colours: int, seeds: Seeds, *, expired: Expired = never) -> Coloured:
    """Run one iteration of colour coding per seed.  Equal seeds give equal colours.

    Runs without the global interpreter lock, so threads can share the iterations.

    Parameters
    ----------
    num_colours : r, from k to 62, with a table of at most ``LARGEST_TABLE`` bytes (:func:`table_bytes`)
    expired : called every few hundredths of a second; True skips the remaining iterations

    Raises
    ------
    ArrayError
        If a number is out of range, or the table is too large.
    """
    of = validate(of)
    r = as_integer(num_colours, "num_colours", low=of.length, high=62)
    n = len(of.first)
    if table_bytes(r, n) > LARGEST_TABLE:
        raise ArrayError(
            f"num_colours: expected a table of at most {LARGEST_TABLE} bytes, {r} colours of {n} "
            f"vertices need {table_bytes(r, n)}"
        )
    num_classes = int(of.classes.max()) + 1 if n else 0
    seeds = np.ascontiguousarray(seeds, dtype=np.uint64)
    progress = _Progress(
        seeds,
        np.zeros(2, np.int64),
        np.full(len(seeds), -np.inf),
        np.full(1, -np.inf),
        np.full(of.length, -1, np.int64),
    )
    tables = _tables(n, r)
    while progress.at[0] < len(seeds):
        _iterate(of, num_classes, r, progress, tables, _PORTION)
        if expired():
            break
    return Coloured(progress.found[: progress.at[0]], progress.path[progress.path >= 0])


def complete(of: Graph, *, expired: Expired = never) -> tuple[float, Ints] | None:
    """Return the weight of the heaviest path and the path, from an iteration with a colour for each class.

    This is the exact dynamic program over all sets of classes, fast if there are few.  None if ``expired`` stopped it.
    """
    of = validate(of)
    present, classes = np.unique(of.classes, return_inverse=True)
    if len(present) < of.length:
        return -math.inf, np.empty(0, np.int64)
    found = iterate(of._replace(classes=classes), len(present), np.zeros(1, np.uint64), expired=expired)
    return (float(found.weights[0]), found.path) if len(found.weights) else None


def is_small(of: Graph, steps: float = 1e10, memory: int = 1 << 29) -> bool:
    """Return whether :func:`complete` needs at most ``steps`` elementary steps (2^m n²) and ``memory`` bytes."""
    m, n = len(np.unique(of.classes)), len(of.classes)
    return m <= 30 and 2.0**m * n * n <= steps and table_bytes(max(m, 1), n) <= memory


def table_bytes(num_colours: int, num_vertices: int) -> int:
    """Return the bytes of an iteration's table, with half of the vertices per set on average."""
    return 8 * ((num_vertices << (num_colours - 1)) + (1 << num_colours))


def success_probability(length: int, num_colours: int, num_classes: int | None = None) -> float:
    """Return the probability p that k given classes get k different colours.

    ``num_classes`` is m, with colours dealt out evenly.  None means independent colours, the limit of many classes.
    """
    k, r = as_integer(length, "length", low=1), as_integer(num_colours, "num_colours", low=1)
    if num_classes is None:
        return math.prod((r - i) / r for i in range(k))
    if as_integer(num_classes, "num_classes", low=0) < k:
        return 0.0
    each, more = divmod(num_classes, r)
    polynomial = [1] + [0] * k  # e_0, ..., e_k as exact integers
    for size in [each + 1] * more + [each] * (r - more):
        for degree in range(k, 0, -1):
            polynomial[degree] += size * polynomial[degree - 1]
    return polynomial[k] / math.comb(num_classes, k)


def best_num_colours(length: int, num_vertices: int, memory: int = 1 << 28) -> int:
    """Return the number r of colours in [k, 2k] with the least running time 2^r / p among tables that fit.

    The formula is the source's, with p of independent colours: 1 / p iterations, each in time proportional to 2^r.
    k colours are permitted even if their table does not fit.
    """
    k = length
    fitting = [r for r in range(k, 2 * k + 1) if r == k or table_bytes(r, num_vertices) <= memory]
    return min(fitting, key=lambda r: 2.0**r / success_probability(k, r))


def num_iterations(probability: float, failure: float) -> int:
    """Return the least number t of iterations with (1 - p)^t ≤ δ, the ``failure`` probability.

    p is above 0; δ is above 0 and at most 1.  The source uses (1 / p) ln(1 / δ), which is slightly larger.
    """
    if not 0.0 < as_float(probability, "probability") <= 1.0 + 1e-9:
        raise ArrayError(f"probability: expected a number above 0 and at most 1, got {probability}")
    if not 0.0 < as_float(failure, "failure") <= 1.0:
        raise ArrayError(f"failure: expected a number above 0 and at most 1, got {failure}")
    if probability >= 1.0:
        return 1
    wanted = math.log(failure) / math.log1p(-probability)
    return max(1, math.ceil(wanted * (1.0 - 1e-12)))


@njit(cache=True, no_cpython_wrapper=True)
def _mix(x):  # type: ignore[no-untyped-def]
    """Return a 32-bit hash, a bijection without patterns (Wellons' hash prospector).  Numbers do not overflow."""
    x = ((x ^ (x >> 16)) * 0x21F0AAAD) & 0xFFFFFFFF
    x = ((x ^ (x >> 15)) * 0x735A2D97) & 0xFFFFFFFF
    return x ^ (x >> 15)


@njit(cache=True, nogil=True)
def _deal(seed, num_classes, num_colours):  # type: ignore[no-untyped-def]
    """Return colours 0, 1, ..., r - 1, 0, 1, ... of the classes along a random permutation."""
    permutation = np.arange(num_classes)
    low = _mix(np.int64(seed & np.uint64(0xFFFFFFFF)))
    high = _mix(np.int64(seed >> np.uint64(32)))
    for i in range(num_classes - 1, 0, -1):  # Fisher and Yates
        low, high = (low + 0x9E3779B9) & 0xFFFFFFFF, (high + 0x85EBCA6B) & 0xFFFFFFFF
        j = (_mix(low) ^ _mix(high ^ 0x5BF03635)) % (i + 1)  # the bias is below m / 2^32
        permutation[i], permutation[j] = permutation[j], permutation[i]
    colours = np.empty(num_classes, np.int64)
    for i in range(num_classes):
        colours[permutation[i]] = i % num_colours
    return colours


class _Progress(NamedTuple):
    """Progress of the iterations.

    * ``seeds``: one per iteration.
    * ``at``: the current iteration and its next set of colours.
    * ``found``: weight of each iteration's heaviest colourful path.
    * ``best``, ``path``: weight and vertices of the heaviest path.
    """

    seeds: Seeds
    at: Ints
    found: Floats
    best: Floats
    path: Ints


class _Tables(NamedTuple):
    """State of an iteration between portions; its memory is reused.

    * ``order``, ``starts``: the vertices by colour, and the start of each colour.
    * ``weights``: arc weights in that order.
    * ``rows``, ``values``: start of the values of each set's vertices, in that order, and the values.
    * ``best_to``: the best weight to each vertex from one set.
    * ``runs``: the vertices without a colour of the set, as ranges.
    * ``popcount``: number of colours of each set.
    * ``top``: weight, set of previous colours and last vertex of the heaviest colourful path.
    """

    order: Ints
    starts: Ints
    weights: Floats
    rows: Ints
    values: Floats
    best_to: Floats
    runs: Ints
    popcount: NDArray[np.int8]
    top: Floats


def _tables(n: int, num_colours: int) -> _Tables:
    sets = 1 << num_colours
    return _Tables(
        np.empty(n, np.int64),
        np.empty(num_colours + 1, np.int64),
        np.empty((n, n)),
        np.empty(sets + 1, np.int64),
        np.empty(table_bytes(num_colours, n) // 8 + n + 1),
        np.empty(n),
        np.empty((num_colours + 1, 2), np.int64),
        _popcounts(num_colours),
        np.array([-np.inf, 0.0, -1.0]),
    )


@njit(cache=True, nogil=True)
def _popcounts(num_colours):  # type: ignore[no-untyped-def]
    popcount = np.zeros(1 << num_colours, np.int8)
    for s in range(1, 1 << num_colours):
        popcount[s] = popcount[s >> 1] + (s & 1)
    return popcount


@njit(cache=True, nogil=True)
def _iterate(of, num_classes, num_colours, progress, tables, steps):  # type: ignore[no-untyped-def]
    """Run iterations until the steps are used up."""
    seeds, at, found, best, path = progress
    popcount, top = tables.popcount, tables.top
    while at[0] < len(seeds) and steps > 0:
        if at[1] == 0:
            steps -= _begin(of, _deal(seeds[at[0]], num_classes, num_colours), num_colours, tables)
            at[1] = 1
        s = at[1]
        while s < 1 << num_colours and steps > 0:
            steps -= _extend(of, num_colours, tables, s) if 0 < popcount[s] < of.length else 1
            s += 1
        at[1] = s
        if s == 1 << num_colours:
            found[at[0]] = top[0]
            if top[0] > best[0]:
                best[0] = top[0]
                _trace(int(top[1]), int(top[2]), num_colours, tables, path)
            at[0] += 1
            at[1] = 0


@inner
def _begin(of: Graph, colours: Ints, num_colours: int, tables: _Tables) -> int:
    """Sort the graph by colours and initialise paths with one vertex.  Return the number of steps."""
    order, starts, weights, rows, values, _, _, popcount, top = tables
    n = len(order)
    _sort(colours, of.classes, num_colours, order, starts)
    for a in range(n):
        row, into = of.weights[order[a]], weights[a]
        for b in range(n):
            into[b] = row[order[b]]
    rows[0] = 0
    for s in range(1 << num_colours):
        size = 0
        if 0 < popcount[s] < of.length:
            for c in range(num_colours):
                if s >> c & 1:
                    size += starts[c + 1] - starts[c]
        rows[s + 1] = rows[s] + size
    values[: rows[-1]] = -np.inf
    top[0], top[1], top[2] = -np.inf, 0, -1
    if of.length > 1:
        for c in range(num_colours):
            for a in range(starts[c], starts[c + 1]):
                values[rows[1 << c] + a - starts[c]] = of.first[order[a]]
    else:
        for a in range(n):
            if of.first[order[a]] + of.last[order[a]] > top[0]:
                top[0], top[2] = of.first[order[a]] + of.last[order[a]], a
    return int(n * n + rows[-1] + (1 << num_colours))


@folded
def _extend(of: Graph, num_colours: int, tables: _Tables, s: int) -> int:
    """Extend the paths of a set of colours by one vertex.  Return the number of steps."""
    order, starts, weights, rows, values, best_to, runs, popcount, top = tables
    num_runs = _free_runs(s, num_colours, starts, runs)
    free = 0
    for q in range(num_runs):
        best_to[runs[q, 0] : runs[q, 1]] = -np.inf
        free += runs[q, 1] - runs[q, 0]
    place = rows[s]
    for c in range(num_colours):
        if not s >> c & 1:
            continue
        for a in range(starts[c], starts[c + 1]):
            reached = values[place]
            place += 1
            if reached == -np.inf:
                continue
            row = weights[a]
            for q in range(num_runs):
                for b in range(runs[q, 0], runs[q, 1]):
                    x = reached + row[b]
                    best_to[b] = x if x > best_to[b] else best_to[b]
    if popcount[s] == of.length - 1:
        for q in range(num_runs):
            for b in range(runs[q, 0], runs[q, 1]):
                if best_to[b] + of.last[order[b]] > top[0]:
                    top[0], top[1], top[2] = best_to[b] + of.last[order[b]], s, b
    else:
        for c in range(num_colours):
            if not s >> c & 1:
                into_row = rows[s | (1 << c)] + _before(s, c, starts)
                for b in range(starts[c], starts[c + 1]):
                    values[into_row + b - starts[c]] = best_to[b]
    return int((rows[s + 1] - rows[s]) * free + len(order))


@njit(cache=True, no_cpython_wrapper=True)
def _sort(colours, classes, num_colours, order, starts):  # type: ignore[no-untyped-def]
    """Sort the vertices by colour and write the start of each colour."""
    starts[:] = 0
    for v in range(len(classes)):
        starts[colours[classes[v]] + 1] += 1
    for c in range(num_colours):
        starts[c + 1] += starts[c]
    at = starts.copy()
    for v in range(len(classes)):
        c = colours[classes[v]]
        order[at[c]] = v
        at[c] += 1


@njit(cache=True, no_cpython_wrapper=True)
def _free_runs(s, num_colours, starts, runs):  # type: ignore[no-untyped-def]
    """Write the ranges of vertices without a colour of S.  Return their number."""
    count = 0
    for c in range(num_colours):
        if s >> c & 1:
            continue
        if count > 0 and runs[count - 1, 1] == starts[c]:
            runs[count - 1, 1] = starts[c + 1]
        else:
            runs[count, 0], runs[count, 1] = starts[c], starts[c + 1]
            count += 1
    return count


@njit(cache=True, no_cpython_wrapper=True)
def _before(s, c, starts):  # type: ignore[no-untyped-def]
    """Return the number of vertices with a colour of S below c."""
    count = 0
    for d in range(c):
        if s >> d & 1:
            count += starts[d + 1] - starts[d]
    return count


@njit(cache=True, no_cpython_wrapper=True)
def _trace(s, b, num_colours, tables, path):  # type: ignore[no-untyped-def]
    """Write the path that ends in sorted vertex b after the colours of S."""
    order, starts, weights, rows, values = tables[:5]
    position = len(path) - 1
    path[position] = order[b]
    while s:
        most, before, colour = -np.inf, -1, -1
        at = rows[s]
        for c in range(num_colours):
            if not s >> c & 1:
                continue
            for a in range(starts[c], starts[c + 1]):
                x = values[at] + weights[a, b]
                at += 1
                if x > most:
                    most, before, colour = x, a, c
        position -= 1
        path[position] = order[before]
        s ^= 1 << colour
        b = before

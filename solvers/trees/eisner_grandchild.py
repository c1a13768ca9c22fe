r"""Projective parsing with adjacent siblings and outermost grandchildren, O(n⁴) (Carreras, 2007).

An arc h → m scores arc[h, m]; with the sibling s next to m on the side of h, sib[h, m, s] (s = h: none); with the
modifier c of m that is farthest from m within the span of the arc, grand[h, m, c] (c = m: none); and with the modifier
c that is farthest from m beyond the arc, grand[h, m, c] once more (c = h: none).  So a complete item carries the
outermost modifier of its head:

    C[h, e, m] = I[h, m] + B[h, m, e]
    I[h, m]    = arc[h, m] + max_r A[h, m, r] + B[h, m, r]
    A[h, m, r] = max_s C[h, r, s] + sib[h, m, s]          the head's half, which ends at r
    B[h, m, e] = max_c C[m, e, c] + grand[h, m, c]        the modifier's half beyond the arc, which ends at e
    B[h, m, r] = max_c C[m, r ± 1, c] + grand[h, m, c]    the modifier's half within, beside the head's that ends at r

r lies on the head's side of m and e does not, so that both kinds of B fit into one array.  Of O(n³) items A and B each
has O(n) ways; all inner loops are contiguous.

Chart of 3 N³ + N² + 1 numbers: I, C by (h, e, m), A by (h, m, r), B by (h, m, e or r), and the goal max_m C[0, n, m].

Source: X. Carreras, *Experiments with a higher-order projective dependency parser*, EMNLP-CoNLL 2007.
"""

from __future__ import annotations

from numba import njit

from solvers.trees.eisner_first import NEG, Floats, Ints

_IMPOSSIBLE = 0.5 * NEG


@njit(cache=True, fastmath=True)
def _best_of(left: Floats, right: Floats, lowest: int, highest: int) -> float:
    """Max over k in lowest, ..., highest - 1 of left[k] + right[k]."""
    best = NEG
    for k in range(lowest, highest):
        value = left[k] + right[k]
        if value > best:
            best = value
    return best


@njit(cache=True, fastmath=True)
def inside_grandchild(
    arc: Floats, sib: Floats, grand: Floats, single_root: bool, chart: Floats, first: int, end: int
) -> float:
    """Fill the chart; the value of the best tree once all of it is full, below ``NEG / 2`` if there is none.

    Parameters
    ----------
    arc, sib, grand
        Shapes (N, N), by head and modifier; (N, N, N), by head, modifier and sibling; (N, N, N), by head, modifier and
        the modifier's modifier.
    chart
        At least 3 N³ + N² + 1 numbers, overwritten.
    first, end
        Widths of the spans that are filled in: first to end - 1, of 1 to N - 1.  All narrower ones have been.
    """
    size = len(arc)
    square, cube = size * size, size * size * size
    incomplete = chart[:square].reshape(size, size)
    complete = chart[square : square + cube].reshape(size, size, size)
    head_half = chart[square + cube : square + 2 * cube].reshape(size, size, size)
    half = chart[square + 2 * cube : square + 3 * cube].reshape(size, size, size)
    for i in range(size):
        complete[i, i, i] = 0.0
    for width in range(first, end):
        for i in range(size - width):
            j = i + width
            if arc[i, j] > _IMPOSSIBLE:
                a, b, s, g = head_half[i, j], half[i, j], sib[i, j], grand[i, j]
                last = j if i > 0 or not single_root else 1
                a[i] = s[i]
                for r in range(i + 1, last):
                    a[r] = _best_of(complete[i, r], s, i + 1, r + 1)
                for r in range(i, min(last, j - 1)):
                    b[r] = _best_of(complete[j, r + 1], g, r + 1, j)
                if last == j:
                    b[j - 1] = g[j]
                incomplete[i, j] = arc[i, j] + _best_of(a, b, i, last)
            else:
                incomplete[i, j] = NEG
            for m in range(i + 1, j + 1):
                if incomplete[i, m] > _IMPOSSIBLE:
                    b, g = half[i, m], grand[i, m]
                    b[j] = g[i] if m == j else _best_of(complete[m, j], g, m + 1, j + 1)
                    complete[i, j, m] = incomplete[i, m] + b[j]
                else:
                    complete[i, j, m] = NEG
            if i == 0:
                continue
            if arc[j, i] > _IMPOSSIBLE:
                a, b, s, g = head_half[j, i], half[j, i], sib[j, i], grand[j, i]
                a[j] = s[j]
                b[i + 1] = g[i]
                for r in range(i + 1, j):
                    a[r] = _best_of(complete[j, r], s, r, j)
                for r in range(i + 2, j + 1):
                    b[r] = _best_of(complete[i, r - 1], g, i + 1, r)
                incomplete[j, i] = arc[j, i] + _best_of(a, b, i + 1, j + 1)
            else:
                incomplete[j, i] = NEG
            for m in range(i, j):
                if incomplete[j, m] > _IMPOSSIBLE:
                    b, g = half[j, m], grand[j, m]
                    b[i] = g[j] if m == i else _best_of(complete[m, i], g, i, m)
                    complete[j, i, m] = incomplete[j, m] + b[i]
                else:
                    complete[j, i, m] = NEG
    best = NEG
    for m in range(1, size):
        if complete[0, size - 1, m] > best:
            best = complete[0, size - 1, m]
    chart[square + 3 * cube] = best
    return float(best)


@njit(cache=True, fastmath=True)
def _raise_by(outer: Floats, scores: Floats, base: float, lowest: int, highest: int) -> None:
    """outer[k] = max(outer[k], base + scores[k]) for k in lowest, ..., highest - 1."""
    for k in range(lowest, highest):
        value = base + scores[k]
        if value > outer[k]:
            outer[k] = value


@njit(cache=True, fastmath=True)
def outside_grandchild(
    arc: Floats,
    sib: Floats,
    grand: Floats,
    single_root: bool,
    chart: Floats,
    outside: Floats,
    best: Floats,
    first: int,
    end: int,
) -> None:
    """Write the value of the best tree with each arc from a filled chart, shape (N, N); ``NEG`` where there is none.

    ``outside``, as long as the chart, is overwritten: the value of the best tree around each C and each I.

    The widths end - 1 down to first of the spans are gone over; all wider ones have been.
    """
    size = len(arc)
    square, cube = size * size, size * size * size
    incomplete = chart[:square].reshape(size, size)
    complete = chart[square : square + cube].reshape(size, size, size)
    head_half = chart[square + cube : square + 2 * cube].reshape(size, size, size)
    half = chart[square + 2 * cube : square + 3 * cube].reshape(size, size, size)
    out_incomplete = outside[:square].reshape(size, size)
    out_complete = outside[square : square + cube].reshape(size, size, size)
    if end == size:
        outside[: square + cube] = NEG
        best[:] = NEG
        for m in range(1, size):
            if complete[0, size - 1, m] > _IMPOSSIBLE:
                out_complete[0, size - 1, m] = 0.0
    for width in range(end - 1, first - 1, -1):
        for i in range(size - width):
            for turn in range(2 if i > 0 else 1):
                h, e = (i, i + width) if turn == 0 else (i + width, i)
                lowest, highest = (h + 1, e + 1) if e > h else (e, h)
                for m in range(lowest, highest):  # C[h, e, m] = I[h, m] + B[h, m, e]
                    around = out_complete[h, e, m]
                    if around < _IMPOSSIBLE or incomplete[h, m] < _IMPOSSIBLE:
                        continue
                    value = around + half[h, m, e]
                    if value > out_incomplete[h, m]:
                        out_incomplete[h, m] = value
                    if m != e:
                        low, high = (m + 1, e + 1) if e > m else (e, m)
                        _raise_by(out_complete[m, e], grand[h, m], around + incomplete[h, m], low, high)
                m = e
                around = out_incomplete[h, m]
                if around < _IMPOSSIBLE or incomplete[h, m] < _IMPOSSIBLE:
                    continue
                best[h, m] = around + incomplete[h, m]
                around += arc[h, m]
                lowest, highest = (h, m) if m > h else (m + 1, h + 1)
                if h == 0 and single_root:
                    highest = 1
                step = 1 if m > h else -1
                for r in range(lowest, highest):  # I[h, m] = arc[h, m] + A[h, m, r] + B[h, m, r]
                    if r != h and half[h, m, r] > _IMPOSSIBLE:
                        low, high = (h + 1, r + 1) if m > h else (r, h)
                        _raise_by(out_complete[h, r], sib[h, m], around + half[h, m, r], low, high)
                    end = r + step
                    if end != m and head_half[h, m, r] > _IMPOSSIBLE:
                        low, high = (end, m) if m > h else (m + 1, end + 1)
                        _raise_by(out_complete[m, end], grand[h, m], around + head_half[h, m, r], low, high)


@njit(cache=True)
def expand_grandchild(
    item: int,
    arc: Floats,
    sib: Floats,
    grand: Floats,
    single_root: bool,
    score: Floats,
    first: Ints,
    second: Ints,
) -> tuple[int, int, int]:
    """The ways to build an item, as :func:`solvers.trees.eisner_first.expand_first` gives them."""
    size = len(arc)
    square, cube = size * size, size * size * size
    count = 0
    if item < square:
        h, m = item // size, item % size
        lowest, highest = (h, m) if m > h else (m + 1, h + 1)
        if h == 0 and single_root:
            highest = 1
        for r in range(lowest, highest):
            score[count] = arc[h, m]
            first[count] = square + cube + (h * size + m) * size + r
            second[count] = square + 2 * cube + (h * size + m) * size + r
            count += 1
        return count, h, m
    if item == square + 3 * cube:
        for m in range(1, size):
            score[count] = 0.0
            first[count] = square + (size - 1) * size + m
            second[count] = -1
            count += 1
        return count, -1, -1
    kind, place = (item - square) // cube, (item - square) % cube
    x, y, z = place // square, place // size % size, place % size
    if kind == 0:  # C[h, e, m]
        score[0] = 0.0
        first[0] = x * size + z
        second[0] = square + 2 * cube + (x * size + z) * size + y
        return 1, -1, -1
    h, m = x, y
    if kind == 1:  # A[h, m, r]
        if z == h:
            score[0], first[0], second[0] = sib[h, m, h], -1, -1
            return 1, -1, -1
        lowest, highest = (h + 1, z + 1) if m > h else (z, h)
        for s in range(lowest, highest):
            score[count] = sib[h, m, s]
            first[count] = square + (h * size + z) * size + s
            second[count] = -1
            count += 1
        return count, -1, -1
    within = h <= z < m if m > h else m < z <= h  # B[h, m, r] or B[h, m, e]
    end = z
    if within:
        end = z + 1 if m > h else z - 1
    if end == m:
        score[0], first[0], second[0] = grand[h, m, m if within else h], -1, -1
        return 1, -1, -1
    lowest, highest = (m + 1, end + 1) if end > m else (end, m)
    for c in range(lowest, highest):
        score[count] = grand[h, m, c]
        first[count] = square + (m * size + end) * size + c
        second[count] = -1
        count += 1
    return count, -1, -1

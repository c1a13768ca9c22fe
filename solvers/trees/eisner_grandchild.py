r"""Projective parsing with adjacent siblings and outermost grandchildren, O(n⁴) (Carreras, 2007).

An arc h → m has four scores:

    arc[h, m]
    sib[h, m, s]      with the sibling s next to m towards h (s = h: none)
    grand[h, m, c]    with the modifier c of m farthest from m within the span of the arc (c = m: none)
    grand[h, m, c]    with the modifier c of m farthest from m beyond the arc (c = h: none).

So a complete item stores the outermost modifier of its head:

    C[h, e, m] = I[h, m] + B[h, m, e]
    I[h, m]    = arc[h, m] + max_r A[h, m, r] + B[h, m, r]
    A[h, m, r] = max_s C[h, r, s] + sib[h, m, s]          the head's half, which ends at r
    B[h, m, e] = max_c C[m, e, c] + grand[h, m, c]        the modifier's half beyond the arc, which ends at e
    B[h, m, r] = max_c C[m, r ± 1, c] + grand[h, m, c]    the modifier's half within, next to the head's half.

r lies on the head's side of m and e does not, so both kinds of B fit into one array.  There are O(n³) items A and B,
each with O(n) ways to build it.  All inner loops are contiguous.

The chart has 3 N³ + N² + 1 numbers: I, C by (h, e, m), A by (h, m, r), B by (h, m, e or r), and the goal
max_m C[0, n, m].

Source: X. Carreras, *Experiments with a higher-order projective dependency parser*, EMNLP-CoNLL 2007.
"""

from __future__ import annotations

from colgen.solvers.kernels import inner, int64, quick
from colgen.solvers.trees.eisner_items import IMPOSSIBLE, NEG, Floats, Scores, Ways, best_sum, put, raise_by


@quick
def inside_grandchild(scores: Scores, chart: Floats, first: int, end: int) -> None:
    """Fill the chart for spans of widths first to end - 1, given all narrower ones."""
    arc, sib, grand, single_root = scores.arc, scores.sib, scores.grand, scores.single_root
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
            if arc[i, j] > IMPOSSIBLE:
                a, b, s, g = head_half[i, j], half[i, j], sib[i, j], grand[i, j]
                last = j if i > 0 or not single_root else 1
                a[i] = s[i]
                for r in range(i + 1, last):
                    a[r] = best_sum(complete[i, r], s, i + 1, r + 1)
                for r in range(i, min(last, j - 1)):
                    b[r] = best_sum(complete[j, r + 1], g, r + 1, j)
                if last == j:
                    b[j - 1] = g[j]
                incomplete[i, j] = arc[i, j] + best_sum(a, b, i, last)
            else:
                incomplete[i, j] = NEG
            for m in range(i + 1, j + 1):
                if incomplete[i, m] > IMPOSSIBLE:
                    b, g = half[i, m], grand[i, m]
                    b[j] = g[i] if m == j else best_sum(complete[m, j], g, m + 1, j + 1)
                    complete[i, j, m] = incomplete[i, m] + b[j]
                else:
                    complete[i, j, m] = NEG
            if i == 0:
                continue
            if arc[j, i] > IMPOSSIBLE:
                a, b, s, g = head_half[j, i], half[j, i], sib[j, i], grand[j, i]
                a[j] = s[j]
                b[i + 1] = g[i]
                for r in range(i + 1, j):
                    a[r] = best_sum(complete[j, r], s, r, j)
                for r in range(i + 2, j + 1):
                    b[r] = best_sum(complete[i, r - 1], g, i + 1, r)
                incomplete[j, i] = arc[j, i] + best_sum(a, b, i + 1, j + 1)
            else:
                incomplete[j, i] = NEG
            for m in range(i, j):
                if incomplete[j, m] > IMPOSSIBLE:
                    b, g = half[j, m], grand[j, m]
                    b[i] = g[j] if m == i else best_sum(complete[m, i], g, i, m)
                    complete[j, i, m] = incomplete[j, m] + b[i]
                else:
                    complete[j, i, m] = NEG
    best = NEG
    for m in range(1, size):
        if complete[0, size - 1, m] > best:
            best = complete[0, size - 1, m]
    chart[square + 3 * cube] = best


@quick
def outside_grandchild(scores: Scores, chart: Floats, outside: Floats, best: Floats, first: int, end: int) -> None:
    """Write the value of the best tree with each arc, shape (N, N), from a full chart; ``NEG`` if none exists.

    ``outside``, as long as the chart, receives the value of the best tree around each C and each I.  The call processes
    spans of widths end - 1 down to first.  Wider ones come before.
    """
    arc, sib, grand, single_root = scores.arc, scores.sib, scores.grand, scores.single_root
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
            if complete[0, size - 1, m] > IMPOSSIBLE:
                out_complete[0, size - 1, m] = 0.0
    for width in range(end - 1, first - 1, -1):
        for i in range(size - width):
            for turn in range(2 if i > 0 else 1):
                h, e = (i, i + width) if turn == 0 else (i + width, i)
                lowest, highest = (h + 1, e + 1) if e > h else (e, h)
                for m in range(lowest, highest):  # C[h, e, m] = I[h, m] + B[h, m, e]
                    around = out_complete[h, e, m]
                    if around < IMPOSSIBLE or incomplete[h, m] < IMPOSSIBLE:
                        continue
                    value = around + half[h, m, e]
                    if value > out_incomplete[h, m]:
                        out_incomplete[h, m] = value
                    if m != e:
                        low, high = (m + 1, e + 1) if e > m else (e, m)
                        raise_by(out_complete[m, e], grand[h, m], around + incomplete[h, m], low, high)
                m = e
                around = out_incomplete[h, m]
                if around < IMPOSSIBLE or incomplete[h, m] < IMPOSSIBLE:
                    continue
                best[h, m] = around + incomplete[h, m]
                around += arc[h, m]
                lowest, highest = (h, m) if m > h else (m + 1, h + 1)
                if h == 0 and single_root:
                    highest = 1
                step = 1 if m > h else -1
                for r in range(lowest, highest):  # I[h, m] = arc[h, m] + A[h, m, r] + B[h, m, r]
                    if r != h and half[h, m, r] > IMPOSSIBLE:
                        low, high = (h + 1, r + 1) if m > h else (r, h)
                        raise_by(out_complete[h, r], sib[h, m], around + half[h, m, r], low, high)
                    end = r + step
                    if end != m and head_half[h, m, r] > IMPOSSIBLE:
                        low, high = (end, m) if m > h else (m + 1, end + 1)
                        raise_by(out_complete[m, end], grand[h, m], around + head_half[h, m, r], low, high)


@inner
def expand_grandchild(item: int, scores: Scores, ways: Ways) -> tuple[int, int, int]:
    """List the ways to build an item, as :func:`colgen.solvers.trees.eisner_first.expand_first` does."""
    arc, sib, grand = scores.arc, scores.sib, scores.grand
    size = len(arc)
    square, cube = size * size, size * size * size
    count = 0
    if item < square:
        h, m = item // size, item % size
        lowest, highest = (h, m) if m > h else (m + 1, h + 1)
        if h == 0 and scores.single_root:
            highest = 1
        for r in range(lowest, highest):
            half = square + cube + (h * size + m) * size + r
            count = put(ways, count, arc[h, m], half, half + cube)
        return count, h, m
    if item == square + 3 * cube:
        for m in range(1, size):
            count = put(ways, count, 0.0, square + (size - 1) * size + m, int64(-1))
        return count, -1, -1
    kind, place = (item - square) // cube, (item - square) % cube
    x, y, z = place // square, place // size % size, place % size
    if kind == 0:  # C[h, e, m]
        return put(ways, count, 0.0, x * size + z, square + 2 * cube + (x * size + z) * size + y), -1, -1
    h, m = x, y
    if kind == 1:  # A[h, m, r]
        owner, end, none = h, z, sib[h, m, h]
        of_owner = sib[h, m]
    else:  # B[h, m, r] or B[h, m, e]
        within = h <= z < m if m > h else m < z <= h
        owner, end, none = m, z, grand[h, m, m if within else h]
        if within:
            end = z + 1 if m > h else z - 1
        of_owner = grand[h, m]
    if end == owner:
        return put(ways, count, none, int64(-1), int64(-1)), -1, -1
    lowest, highest = (owner + 1, end + 1) if end > owner else (end, owner)
    for k in range(lowest, highest):
        count = put(ways, count, of_owner[k], square + (owner * size + end) * size + k, int64(-1))
    return count, -1, -1

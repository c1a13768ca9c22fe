"""Columns of a program over a master's rows: asked about in batches, whoever made them."""

import numpy as np

from colgen import Columns, RowFamily
from colgen.master import listing
from colgen.master.listing import listed
from colgen.master.protocol import MasterStatus
from tests.master.programs import col, covering


class Lengths(RowFamily):
    """Each column's first amount; it remembers how many columns it was asked about at a time."""

    def __init__(self):
        super().__init__("length")
        self.asked = []

    def coefficients(self, columns, indices):
        self.asked.append(len(columns))
        return np.array([[float(column.structure[0]) for _ in indices] for column in columns])


def master_and_family():
    master, family = covering(), Lengths()
    master.add_rows([family.row(0, upper=50.0)])
    return master, family


def test_rows_are_asked_about_a_batch_at_a_time(monkeypatch):
    monkeypatch.setattr(listing, "_BATCH", 4)
    master, family = master_and_family()
    columns = [col((k + 1, 2), cost=float(k)) for k in range(10)]
    found = listed(master, columns, lambda: False)
    assert family.asked[-3:] == [4, 4, 2]
    for k, column in enumerate(columns):
        rows, values = master.entries(column)
        dense = np.zeros(master.num_rows)
        dense[rows] = values
        assert found.matrix[:, [k]].toarray()[:, 0].tolist() == dense.tolist()
    assert found.costs.tolist() == [column.cost for column in columns]


def test_a_batch_is_worth_its_columns(monkeypatch):
    monkeypatch.setattr(listing, "_BATCH", 3)
    master, _ = master_and_family()
    columns = [col((k + 1, 2), cost=float(k + 1)) for k in range(5)]
    entries = [master.entries(column) for column in columns]
    named = [[(row, value) for row, value in zip(*each, strict=True) if row < 2] for each in entries]
    rows, values = zip(*(pair for each in named for pair in each), strict=True)
    starts = np.cumsum([0, *map(len, named)])
    batch = Columns([column.cost for column in columns], starts, rows, values, [c.structure for c in columns])
    one, other = (master.solve_over(given, {}, 100.0, 60.0) for given in (columns, batch))
    assert one[0] is other[0] is MasterStatus.OPTIMAL
    assert one[1].objective == other[1].objective
    (mine, _), (theirs, _) = (found.columns[0] for _, found in (one, other))
    assert (mine.structure, mine.coefficients) == (theirs.structure, theirs.coefficients)


def test_it_ends_with_the_time(monkeypatch):
    monkeypatch.setattr(listing, "_BATCH", 2)
    master, _ = master_and_family()
    columns, looks = [col((k + 1, 2)) for k in range(10)], []

    def stopped():
        looks.append(True)
        return len(looks) > 2

    assert master.solve_over(columns, {}, 100.0, 60.0, stopped=stopped) == (MasterStatus.LIMIT, None)
    assert len(looks) == 3
    assert master.solve_over(columns, {}, 100.0, 0.0) == (MasterStatus.LIMIT, None)


def test_no_columns_are_a_program_too():
    master, _ = master_and_family()
    assert listed(master, [], lambda: False).matrix.shape == (master.num_rows, 0)

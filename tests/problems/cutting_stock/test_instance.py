import hashlib

import numpy as np
import pytest

from benchmarks.cutting_stock.bench import IRUP_HARD, NATURAL, NEAR_INTEGER, NON_IRUP
from colgen import InputError
from colgen.problems.cutting_stock.generators import bin_packing, critical, natural, near_integer, triplets, uniform
from colgen.problems.cutting_stock.instance import CuttingStockInstance, from_items
from colgen.problems.cutting_stock.reading import read, write


def fingerprint(instance):
    text = repr((instance.roll, instance.widths, instance.demands))
    return hashlib.sha256(text.encode()).hexdigest()[:12]


# --- data ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        ((10, (), ()), "no items"),
        ((10, (3, 4), (1,)), "has 1 demands, expected 2"),
        ((0, (1,), (1,)), "roll width is 0"),
        ((10, (11,), (1,)), "item 0 has width 11, expected 1 to 10"),
        ((10, (3, 0), (1, 1)), "item 1 has width 0"),
        ((10, (3,), (0,)), "item 0 has demand 0"),
        ((10.5, (3,), (1,)), "the roll width.* 10.5"),
        ((10, (2.5,), (1,)), "each of the widths"),
        ((10, (3,), (float("nan"),)), "each of the demands"),
        ((10, (3,), (float("inf"),)), "each of the demands"),
        ((10, ("three",), (1,)), "each of the widths"),
        ((10, (None,), (1,)), "each of the widths"),
    ],
)
def test_bad_data_is_refused(data, complaint):
    with pytest.raises(InputError, match=complaint):
        CuttingStockInstance(*data)


def test_numbers_of_other_types_become_integers():
    instance = CuttingStockInstance(np.int64(10), np.array([3.0, 4.0]), [np.int32(2), 1])
    assert instance == CuttingStockInstance(10, (3, 4), (2, 1))
    assert all(type(number) is int for number in (instance.roll, *instance.widths, *instance.demands))


def test_material_bound():
    assert CuttingStockInstance(10, (5,), (4,)).material_bound == 2
    assert CuttingStockInstance(10, (5,), (5,)).material_bound == 3


def test_pieces_of_one_width_are_one_item():
    assert from_items(10, [3, 5, 3]) == CuttingStockInstance(10, (5, 3), (1, 2))


# --- answers ---------------------------------------------------------------------------------------------------------

SMALL = CuttingStockInstance(10, (6, 4), (2, 3))
ANSWER = [(((0, 1), (1, 1)), 2), (((1, 2),), 1)]


def test_check_counts_the_rolls():
    assert SMALL.check(ANSWER) == SMALL.objective(ANSWER) == 3
    assert SMALL.check(iter(ANSWER)) == 3


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        (ANSWER[:1], "item 1 is cut 2 times.*3"),
        ([*ANSWER, (((0, 2),), 1)], "width 12.*10"),
        ([(((0, 1),), 1.5)], "is used 1.5 times"),
        ([(((0, 1),), -1)], "is used -1 times"),
        ([(((0, 0),), 1)], "0 pieces of item 0"),
        ([(((0, -1), (1, 3)), 1)], "-1 pieces of item 0"),
    ],
)
def test_check_refuses_infeasible_answers(answer, complaint):
    with pytest.raises(ValueError, match=complaint):
        SMALL.check(answer)


# --- files -----------------------------------------------------------------------------------------------------------


def test_read_widths_alone(tmp_path):
    path = tmp_path / "bins.txt"
    path.write_text("4\n10\n3\n5\n\n3\n  7\n")
    assert read(path) == CuttingStockInstance(10, (7, 5, 3), (1, 1, 2), "bins")


def test_read_widths_and_demands(tmp_path):
    path = tmp_path / "stock.txt"
    path.write_text("3\r\n100\r\n45\t97\r\n36 610\r\n45 3\r\n")
    assert read(str(path)) == CuttingStockInstance(100, (45, 36), (100, 610), "stock")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "number of items on the first line"),
        ("3\n", "number of items on the first line"),
        ("3 10\n4\n4\n4\n", "number of items on the first line"),
        ("2\n10 20\n4\n4\n", "number of items on the first line"),
        ("3\n10\n4\n4\n", "3 items.* 2 follow"),
        ("1\n10\n4\n4\n", "1 items.* 2 follow"),
        ("0\n10\n", "no items"),
        ("2\n10\n4\nfour\n", "line 4.*'four'"),
        ("2\n10\n4.5\n4\n", r"line 3.*'4\.5'"),
        ("2\n10\n\n4\n4 1 7\n", "line 5.*3 numbers"),
        ("2\n10\n4\n11\n", "line 4.*width is 11.*1 to 10"),
        ("2\n10\n0\n4\n", r"line 3: the width is 0"),
        ("2\n10\n4 0\n4\n", r"line 3: the demand is 0"),
        ("2\n10\n4 -1\n4\n", r"line 3: the demand is -1"),
    ],
)
def test_malformed_files_are_refused(tmp_path, text, complaint):
    path = tmp_path / "bad.txt"
    path.write_text(text)
    with pytest.raises(InputError, match=complaint) as caught:
        read(path)
    assert "bad.txt" in str(caught.value)


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(InputError, match=r"missing\.txt cannot be read"):
        read(tmp_path / "missing.txt")
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="not a text file"):
        read(tmp_path / "binary")


@pytest.mark.parametrize("instance", [uniform(12, 0), bin_packing(30, 1), triplets(5, 2), near_integer(3)])
def test_written_instances_are_read_back(tmp_path, instance):
    path = tmp_path / f"{instance.name}.txt"
    write(instance, path)
    assert read(path) == instance


# --- generators ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("instance", "expected"),
    [
        (uniform(50, 0), "6449cb83ca73"),
        (uniform(200, 4), "a186bd76963d"),
        (bin_packing(60, 1), "2fcacf19ce04"),
        (triplets(40, 0), "5094ed7dd2d3"),
        (natural(356), "ae0a67bfb694"),
        (critical(11, 304), "2518b05b7301"),
        (critical(9, 58), "07a3a34aa6c8"),
        (near_integer(0), "d5fbfb5800db"),
        (near_integer(13), "0cb28c84cde7"),
    ],
    ids=lambda value: value.name if isinstance(value, CuttingStockInstance) else value,
)
def test_generators_are_deterministic(instance, expected):
    assert fingerprint(instance) == expected


def test_uniform_draws_from_its_ranges():
    instance = uniform(40, 3, roll=500, widths=(50, 100), demands=(2, 4))
    assert len(set(instance.widths)) == instance.num_items == 40
    assert min(instance.widths) >= 50
    assert max(instance.widths) <= 100
    assert set(instance.demands) <= {2, 3, 4}


@pytest.mark.parametrize("seed", range(3))
def test_triplets_fill_their_rolls(seed):
    instance = triplets(20, seed)
    assert sum(instance.demands) == 60
    assert instance.material_bound == 20
    assert sum(w * d for w, d in zip(instance.widths, instance.demands, strict=True)) == 20 * instance.roll


def test_critical_instances_differ_from_natural_ones_in_the_last_piece():
    assert sum(critical(7, 100).demands) == sum(critical(7, 300).demands)
    assert critical(7, 100) != critical(7, 300)


def test_near_integer_instances_waste_nearly_nothing():
    for seed, _ in NEAR_INTEGER:
        instance = near_integer(seed)
        total = sum(w * d for w, d in zip(instance.widths, instance.demands, strict=True))
        assert (-total) % instance.roll <= 5


def test_known_optima_are_not_below_the_material():
    for seed, width, optimum in (*NON_IRUP, *IRUP_HARD):
        assert critical(seed, width).material_bound <= optimum
    for family, known in ((natural, NATURAL), (near_integer, NEAR_INTEGER)):
        for seed, optimum in known:
            assert family(seed).material_bound <= optimum


# --- unusual input ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        ([(((-1, 1), (0, 1)), 2), (((1, 3),), 1)], "item -1.*0 to 1"),
        ([(((2, 1),), 3)], "item 2"),
        ([(((0, 1.5),), 3)], "patterns of"),
        ([7], "patterns of"),
        ([(((0, 1), (1, 1)), float("nan"))], "is used nan times"),
    ],
)
def test_check_validates_indices_and_numbers(answer, complaint):
    with pytest.raises(ValueError, match=complaint):
        SMALL.check(answer)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (f"1\n{2**64}\n5\n", "line 2: expected numbers up to"),
        (f"1\n100\n{2**64}\n", "line 3: expected numbers up to"),
        ("1\n100\n50 1000000000000000000\n", "line 3: expected numbers up to"),
        ("1\n100\n50 1000000000\n", "sum to 1e\\+09 pieces"),
        ("1\n100\n" + "9" * 5000 + "\n", "line 3: expected integers"),
        ("1\n100\n5\x000\n", "line 3: expected text, found a NUL"),
        ("1\n100\nnan\n", "line 3: expected integers"),
        ("1\n100\n1e3\n", "line 3: expected integers"),
        ("{" * 10_000, "line 1: expected JSON"),
        ("2 " * 100_000, "expected the number of items"),
    ],
    ids=range(10),
)
def test_messages_about_malformed_files_are_one_line(tmp_path, text, complaint):
    path = tmp_path / "odd.txt"
    path.write_text(text)
    with pytest.raises(InputError, match=complaint) as caught:
        read(path)
    assert len(str(caught.value)) - len(str(path)) <= 300
    assert "\n" not in str(caught.value)


def test_a_name_with_a_nul_is_bad_input():
    with pytest.raises(InputError):
        read("a\0b")


def test_pieces_are_not_rounded():
    with pytest.raises(InputError, match=r"50\.5"):
        from_items(100, [50.5, 20])

"""Instance files: the checker's readers against the templates."""

import pytest

from colgen.certificate.checker_files import UnreadError
from colgen.certificate.checker_instances import compare, formulation_of
from colgen.certificate.checker_pricing import WrongError
from colgen.problems import assignment, colouring, cutting_stock, vehicle_routing
from colgen.problems.assignment import Assignment
from colgen.problems.colouring import Colouring
from colgen.problems.cutting_stock import CuttingStock, bin_packing, uniform
from colgen.problems.vehicle_routing import VehicleRouting

PACKING = {"kind": "cutting_stock", "roll": 10, "widths": [6, 5], "demands": [3, 2]}
TRIANGLE = {"kind": "colouring", "vertices": 4, "edges": [[0, 1], [0, 2], [1, 2]]}
TRIANGLE_TEXT = "p edge 4 3\ne 1 2\ne 2 3\ne 1 3\n"
TASKS = {"kind": "assignment", "costs": [[1, 2], [3, 4]], "sizes": [[5, 6], [7, 8]], "capacities": [9, 10]}
TASKS_TEXT = "2 2\n1 2\n3 4\n5 6\n7 8\n9 10\n"


def solomon(*rows, vehicles=9):
    titles = ["T", "VEHICLE", "NUMBER CAPACITY", f"{vehicles} 10", "CUSTOMER", "CUST NO.  XCOORD.  DUE DATE"]
    return "\n".join([*titles, *(f"{i} {row}" for i, row in enumerate(rows))]) + "\n"


def routes_of(tmp_path, text, **settings):
    path = tmp_path / "routes.txt"
    path.write_text(text)
    return VehicleRouting(vehicle_routing.read(path, **settings)).certifier().instance()


def refused(text, instance, message):
    with pytest.raises(WrongError, match=message):
        compare(text, instance)


@pytest.mark.parametrize("instance", [bin_packing(30, 1), uniform(5, 2)])
def test_cutting_stock(tmp_path, instance):
    path = tmp_path / "rolls.txt"
    cutting_stock.write(instance, path)
    stated = CuttingStock(instance).certifier()
    compare(path.read_text(), stated.instance())
    assert formulation_of(stated.instance()) == stated.formulation()


@pytest.mark.parametrize("seed", range(3))
def test_files_of_templates_are_read(tmp_path, seed):
    path = tmp_path / "file.txt"
    for module, problem, instance in (
        (assignment, Assignment, assignment.random(2, 5, seed)),
        (colouring, Colouring, colouring.random(7, seed)),
        (vehicle_routing, VehicleRouting, vehicle_routing.random(seed, customers=5)),
    ):
        module.write(instance, path)
        compare(path.read_text(), problem(instance).certifier().instance())


def test_orders_in_json():
    items = '[{"width": 6, "demand": 3}, {"width": 5.0, "demand": 2}]'
    compare(f'{{"name": "x", "roll": 10, "items": {items}}}', PACKING)
    refused(f'{{"roll": 11, "items": {items}}}', PACKING, "'roll'")
    refused('{"roll": 10, "items": [{"width": 6, "demand": 3, "cost": 1}]}', PACKING, "an item")
    refused('{"roll": 10, "roll": 10, "items": []}', PACKING, "twice")
    refused('{"roll": 1e999999999, "items": []}', PACKING, "few digits")
    with pytest.raises(UnreadError, match="only the fields name, roll and items"):
        compare(f'{{"roll": 10, "items": {items}, "conflicts": []}}', PACKING)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "ends before"),
        ("2\n", "ends before"),
        ("2\n10\n6 3\n5 1\n", "'demands'"),
        ("2\n10\n6 3\n5 2\nmore\n", "line 5"),
        ("2\n10\n6 3\n5 2 1\n", "line 4"),
        ("2\n10\n6 3\n5 nan\n", "line 4"),
        ("3\n10\n6 3\n5 1.5\n5 0.5\n", "line 4"),
        ("3\n10\n6 3\n5 2\n", "expected 3"),
        ("2\n11\n6 3\n5 2\n", "'roll'"),
    ],
)
def test_packings_that_differ_from_the_file(text, message):
    compare("2\n10\n6 3\n5 2\n", PACKING)
    refused(text, PACKING, message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("no graph\n", "line 1"),
        ("", "no line p edge"),
        ("c alone\n", "no line p edge"),
        ("p edge 0 0\n", "line 1"),
        (TRIANGLE_TEXT + "p edge 4 3\n", "line 5"),
        (TRIANGLE_TEXT + "e 1 5\n", "line 5"),
        (TRIANGLE_TEXT + "e 1 1\n", "line 5"),
        (TRIANGLE_TEXT + "e 1 2 3\n", "line 5"),
        (TRIANGLE_TEXT + "what is this\n", "line 5"),
        (TRIANGLE_TEXT.replace("e 1 3", "e 1 4"), "'edges'"),
        (TRIANGLE_TEXT.replace("4 3", "5 3"), "'vertices'"),
    ],
)
def test_graphs_that_differ_from_the_file(text, message):
    refused(text, TRIANGLE, message)


@pytest.mark.parametrize(
    "text",
    [
        TRIANGLE_TEXT,
        "\ufeff".strip("\ufeff") + "cNO BLANK\n" + TRIANGLE_TEXT.replace("\n", "\r\n") + "\x1a",
        TRIANGLE_TEXT.replace("4 3\n", "4 6\nn 1 7\nd 2\nv 1 2\n") + "e 2 1\ne 3 2\ne 3 1\n",
    ],
)
def test_graphs_as_publishers_write_them(text):
    assert compare(text, TRIANGLE) is None


def test_assignments_that_differ_from_the_file():
    compare(TASKS_TEXT, TASKS)
    refused(TASKS_TEXT.replace("9 10", "9 11"), TASKS, "'capacities'")
    refused(TASKS_TEXT + "1\n", TASKS, "as many numbers")
    refused(TASKS_TEXT + "x\n", TASKS, "line 7")
    refused("", TASKS, "as many numbers")


def test_fields_that_the_file_does_not_have():
    refused(TRIANGLE_TEXT, {**TRIANGLE, "conflicts": None}, "'conflicts'")
    refused(TRIANGLE_TEXT, {name: value for name, value in TRIANGLE.items() if name != "edges"}, "'edges'")


def test_all_customers_of_a_file_are_compared(tmp_path):
    rows = ["0 0 0 0 1000 0", "3 5 5 0 1000 0", "6 8 5 0 1000 0", "30 40 5 0 1000 0"]
    text = solomon(*rows)
    compare(text, routes_of(tmp_path, text))
    refused(text, routes_of(tmp_path, text, customers=2), "2 customers, its file 3")
    for changed, message in (
        (text.replace("30 40 5 0", "30 40 5 1"), "'windows'"),
        (text.replace("30 40 5 0 1000 0", "30 40 5 0 1000 1"), "'service'"),
        (text.replace("30 40 5", "30 40 4"), "'demands'"),
        (text.replace("30 40 5", "31 40 5"), "'distances'"),
        (text.replace("9 10", "9 11"), "'capacity'"),
        (text.replace("9 10", "2 10"), "'vehicles'"),
        (text.replace("3 30", "4 30"), "line 10"),
        (text + "MAXIMUM 240\n", "line 11"),
        (text.replace("CUSTOMER\n", "BACKHAULS\n"), "line 5"),
        (text.replace("30 40 5 0 1000 0", "30 40 5 0 1000 0 7"), "line 10"),
    ):
        refused(changed, routes_of(tmp_path, text), message)


def test_distances_may_be_integers(tmp_path):
    whole = solomon("0 0 0 0 1000 0", "3 4 5 0 1000 0", "6 8 5 0 1000 0")
    assert compare(whole, routes_of(tmp_path, whole)) is None
    rounded = solomon("0 0 0 0 1000 0", "3 5 5 0 1000 0")
    assert compare(rounded, routes_of(tmp_path, rounded)) is None
    assert "rounded" in compare(rounded, routes_of(tmp_path, rounded, distances="whole"))


@pytest.mark.parametrize(
    ("instance", "text"),
    [
        ({"kind": "mine"}, ""),
        ({"kind": "coreference"}, "\ufffd"),
        (PACKING, " 2\n u3_00\n 10 3 2\n6\n6\n2\n u3_01\n 10 3 2\n6\n6\n2\n"),
        (TASKS, "1\n" + TASKS_TEXT),
        (TRIANGLE, "\ufffd\0"),
        (TRIANGLE, TRIANGLE_TEXT.replace("4 3", "4 7")),
        ({"kind": "vehicle_routing"}, "NAME : x\nTYPE : CVRP\n"),
        ({"kind": "vehicle_routing", "ticks": 1}, solomon("0 0 0 0 9 0", "0.5 1 1 0 9 0")),
    ],
)
def test_formats_that_the_checker_does_not_read(instance, text):
    with pytest.raises(UnreadError):
        compare(text, instance)


def test_other_kinds_have_no_formulation():
    assert formulation_of({"kind": "mine"}) is None

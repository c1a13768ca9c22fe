import json
from dataclasses import replace

import pytest

from colgen import InputError
from colgen.cli.main import main as cli
from colgen.problems.cutting_stock import CuttingStockInstance, Stock, read, write

PLAIN = CuttingStockInstance(10, (6, 4), (2, 3), "plain")
ORDERS = [
    PLAIN,
    replace(PLAIN, stock=Stock((10, 6), (3.0, 1.25), (None, 4)), conflicts=((0, 1), (1, 1))),
    replace(PLAIN, patterns=2),
    replace(PLAIN, conflicts=((0, 0),)),
]


@pytest.mark.parametrize("order", ORDERS)
def test_written_instances_are_read_back(order, tmp_path):
    write(order, tmp_path / "plain.txt")
    assert read(tmp_path / "plain.txt") == order


def test_the_default_demand_is_one(tmp_path):
    path = tmp_path / "few.json"
    path.write_text('{"roll": 10, "items": [{"width": 3}]}', encoding="utf-8")
    assert read(path) == CuttingStockInstance(10, (3,), (1,), "few")


ITEMS = '"items": [{"width": 3, "demand": 2}]'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]", "the file: expected an object with name, roll, items"),
        ("{" + ITEMS + "}", "the file.*field 'roll' is missing"),
        ('{"roll": 9}', "items: expected a list, not nothing"),
        ('{"roll": 9, "items": 3}', "items: expected a list, not 3"),
        ('{"roll": 9, "items": [3]}', "item 0: expected an object with width, demand, not 3"),
        ('{"roll": 9, "items": [{"demand": 3}]}', "item 0.*field 'width' is missing"),
        ('{"roll": 9, "items": [{"width": 3, "depth": 3}]}', "item 0: unknown field 'depth'"),
        ('{"roll": 9, "rolls": 3, ' + ITEMS + "}", "the file: unknown field 'rolls'"),
        ('{"roll": 9, "items": [{"width": "3"}]}', "each of the widths.* '3'"),
        ('{"roll": 9, "items": []}', "no items"),
        ('{"roll": 9, "stock": [], ' + ITEMS + "}", "'roll' and 'stock'"),
        ('{"stock": [], ' + ITEMS + "}", "at least one width"),
        ('{"stock": [{"width": 9}], ' + ITEMS + "}", "roll 0.*field 'cost' is missing"),
        ('{"stock": [{"width": 9, "cost": null}], ' + ITEMS + "}", "each of the costs must be a number, not None"),
        ('{"stock": [{"width": "a", "cost": 1}], ' + ITEMS + "}", "each of the stock's widths"),
        ('{"roll": 9, "patterns": 0, ' + ITEMS + "}", "limit on patterns is 0"),
        ('{"roll": 9, "conflicts": [3], ' + ITEMS + "}", "expected pairs of items, not 3"),
        ('{"roll": 9, "conflicts": [[0, 1]], ' + ITEMS + "}", "items from 0 to 0"),
        ('{"roll": 9,, ' + ITEMS + "}", "line 1: expected JSON"),
    ],
)
def test_malformed_json_is_refused_with_the_file_name(text, message, tmp_path):
    path = tmp_path / "order.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message) as refused:
        read(path)
    assert str(path) in str(refused.value)


@pytest.mark.parametrize("order", ORDERS)
def test_the_command_line_solves_orders(order, tmp_path, capsys):
    path, out = tmp_path / "order.json", tmp_path / "answer.json"
    write(order, path)
    picture = tmp_path / "plan.png"
    assert cli(["solve", "cutting_stock", str(path), "--json", str(out), "--picture", str(picture), "--quiet"]) == 0
    assert picture.exists()
    content = json.loads(out.read_text(encoding="utf-8"))
    uses = [
        (tuple((piece["item"], piece["copies"]) for piece in entry["pieces"]), entry["rolls"], entry.get("kind", 0))
        for entry in content["answer"]
    ]
    answer = uses if order.stock is not None else [use[:2] for use in uses]
    assert order.check(answer) == content["objective"] == content["dual_bound"]
    output = capsys.readouterr().out
    if order.stock is not None:
        assert all(entry["roll"] == order.stock.widths[entry["kind"]] for entry in content["answer"])
        assert "10: " in output or "6: " in output
    widths = order.rolls.widths
    for (pattern, _, kind), entry in zip(uses, content["answer"], strict=True):
        used = sum(order.widths[item] * copies for item, copies in pattern)
        assert used + entry["waste"] == widths[kind]


SEVERAL = " 2\n u6_00\n 10 6 3\n6\n5\n5\n4\n4\n3\n t3_00\n 100.0 3 1\n 47.4\n 27.6\n 25.25\n"


@pytest.mark.parametrize("end", ["", "\x1a"])
def test_a_problem_of_a_file_of_several(end, tmp_path):
    (tmp_path / "binpack.txt").write_text(SEVERAL + end)
    first = read(tmp_path / "binpack.txt")
    assert first == CuttingStockInstance(10, (6, 5, 4, 3), (1, 2, 2, 1), "u6_00")
    assert first.reading == "problem 1 of 2, u6_00 (--option problem=K for another)"
    second = read(tmp_path / "binpack.txt", problem=2)
    assert second == CuttingStockInstance(10_000, (4740, 2760, 2525), (1, 1, 1), "t3_00")
    assert second.reading.endswith("; sizes in parts of 0.01")


@pytest.mark.parametrize(
    ("text", "problem", "message"),
    [
        (SEVERAL, 3, "expected a problem from 1 to 2, not 3"),
        (SEVERAL.replace(" 2\n", " 3\n", 1), 1, "3 problems, but 2 follow"),
        (SEVERAL.replace("10 6 3", "10 5 3"), 1, "line 9: expected the name of a problem"),
        (SEVERAL.replace(" 25.25\n", ""), 1, "3 items, but 2 follow"),
        (SEVERAL.replace("47.4", "147.4"), 1, "line 12: the size is 147.4, expected at most 100.0"),
        (SEVERAL.replace("47.4", "4e1"), 1, "line 12: expected a positive number, not '4e1'"),
        (SEVERAL.replace("\n6\n5", "\n0\n5"), 1, "line 4: expected a positive number, not '0'"),
        ("1\n10\n4\n", 2, "expected problem 1, not 2"),
    ],
)
def test_problems_that_a_file_does_not_hold(text, problem, message, tmp_path):
    (tmp_path / "binpack.txt").write_text(text)
    with pytest.raises(InputError, match=message):
        read(tmp_path / "binpack.txt", problem=problem)

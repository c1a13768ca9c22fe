"""Files: Solomon's text, TSPLIB's, answers."""

import pytest

from colgen import InputError
from problems.vehicle_routing import Instance, random, read, read_solution, write, write_solution

SOLOMON = """\
R000

VEHICLE
NUMBER     CAPACITY
  3         200

CUSTOMER
CUST NO.   XCOORD.   YCOORD.    DEMAND   READY TIME   DUE DATE   SERVICE TIME

    0          0       0           0       0         230           0
    1          1       1          10       5         171          10
    2          3       4           7      50          60          10
"""

TSPLIB = """\
NAME : A-n3-k2
COMMENT : (Somebody, No of trucks: 2, Optimal value: 10)
TYPE : CVRP
DIMENSION : 3
EDGE_WEIGHT_TYPE : EUC_2D
CAPACITY : 100
NODE_COORD_SECTION
 1 0 0
 2 1 1
 3 3 4
DEMAND_SECTION
1 0
2 60
3 50
DEPOT_SECTION
 1
 -1
EOF
"""

EXPLICIT = """\
NAME : small
TYPE : CVRP
DIMENSION : 3
CAPACITY : 5
EDGE_WEIGHT_TYPE : EXPLICIT
EDGE_WEIGHT_FORMAT : LOWER_ROW
EDGE_WEIGHT_SECTION
7 8
9
DEMAND_SECTION
1 0
2 3
3 3
DEPOT_SECTION
1
-1
"""


def of(tmp_path, text):
    path = tmp_path / "instance.txt"
    path.write_text(text)
    return path


def test_solomon(tmp_path):
    instance = read(of(tmp_path, SOLOMON))
    assert (instance.name, instance.vehicles, instance.capacity, instance.demands) == ("R000", 3, 200, (0, 10, 7))
    assert instance.distances[0] == (0.0, 1.4, 5.0)
    assert instance.windows == ((0.0, 230.0), (5.0, 171.0), (50.0, 60.0))
    assert instance.service == (0.0, 10.0, 10.0)
    assert read(of(tmp_path, SOLOMON), convention="whole").distances[0] == (0.0, 1.0, 5.0)
    assert read(of(tmp_path, SOLOMON), customers=1).name == "R000.1"


def test_tsplib(tmp_path):
    instance = read(of(tmp_path, TSPLIB))
    assert (instance.name, instance.vehicles, instance.capacity, instance.demands) == ("A-n3-k2", 2, 100, (0, 60, 50))
    assert instance.distances[0] == (0.0, 1.0, 5.0)
    assert instance.windows is None
    assert read(of(tmp_path, TSPLIB), convention="truncated").distances[0] == (0.0, 1.4, 5.0)


def test_the_number_of_vehicles_is_looked_for_in_the_comment_and_the_name(tmp_path):
    assert read(of(tmp_path, TSPLIB.replace("trucks", "lorries").replace("-k2", "-k3"))).vehicles == 3
    assert read(of(tmp_path, TSPLIB.replace("trucks", "lorries").replace("-k2", ""))).vehicles is None


def test_explicit_distances(tmp_path):
    assert read(of(tmp_path, EXPLICIT)).distances == ((0.0, 7.0, 8.0), (7.0, 0.0, 9.0), (8.0, 9.0, 0.0))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ("hello\nworld\n", "expected Solomon's text"),
        (SOLOMON.replace("  2          3       4", "  2       east       4"), "line 12: expected the 7 numbers"),
        (SOLOMON.replace("  2          3       4", "  7          3       4"), "line 12: expected location 2, not 7"),
        (SOLOMON.replace("171          10", "171"), "line 11: .*not 6 numbers"),
        (SOLOMON.replace("          10       5", "        10.5       5"), "demands must be a whole number"),
        (SOLOMON.replace("50          60", "50          40"), "the time window of location 2"),
        (TSPLIB.replace("CVRP", "TSP"), "line 3: expected TYPE : CVRP, not TSP"),
        (TSPLIB.replace("DIMENSION : 3", "DIMENSION : 4"), r"4 lines \(DIMENSION\) in NODE_COORD_SECTION, not 3"),
        (TSPLIB.replace("CAPACITY : 100", "CAPACITY : many"), "line 6: expected CAPACITY : a whole number"),
        (TSPLIB.replace("CAPACITY : 100\n", ""), "expected a line CAPACITY"),
        (TSPLIB.replace("2 60", "2 -x"), "line 13: expected 2 numbers"),
        (TSPLIB.replace("2 60", "2 600"), "the demand of customer 1"),
        (TSPLIB.replace(" 1\n -1", " 2\n -1"), "expected the depot 1"),
        (TSPLIB.replace(" 2 1 1", " 2 nan 1"), "the coordinates of location 1 must be numbers"),
        (TSPLIB.replace(" 2 1 1", " 2 1e308 1"), "the coordinates of location 1 must be numbers"),
        (SOLOMON.replace("1          1       1", "1        inf       1"), "the coordinates of location 1"),
        (TSPLIB.replace("EUC_2D", "GEO"), "expected EDGE_WEIGHT_TYPE EUC_2D"),
        (TSPLIB.replace("CAPACITY : 100", "CAPACITY : 100\nDISTANCE : 200"), "limited by DISTANCE"),
        (EXPLICIT.replace("7 8", "7"), r"3 distances \(LOWER_ROW\), not 2"),
        (EXPLICIT.replace("LOWER_ROW", "FUNCTION"), "EDGE_WEIGHT_FORMAT FUNCTION"),
    ],
)
def test_malformed_files_are_one_sentence(tmp_path, text, message):
    with pytest.raises(InputError, match=message) as error:
        read(of(tmp_path, text))
    assert str(error.value).startswith(str(tmp_path))


@pytest.mark.parametrize(
    "instance",
    [
        random(1, customers=5),
        random(1, customers=5, windows=False, convention="whole"),
        random(1, customers=5, windows=False, convention="exact"),
        Instance(((0.0, 1.5, 2.0), (3.0, 0.0, 1.0), (2.0, 1.0, 0.0)), (0, 1, 2), 2, vehicles=2, name="asymmetric"),
    ],
    ids=lambda instance: instance.name,
)
def test_what_is_written_is_read_again(tmp_path, instance):
    write(instance, tmp_path / "written.txt")
    again = read(tmp_path / "written.txt")
    for field in ("distances", "demands", "capacity", "windows", "service", "places", "most"):
        assert getattr(again, field) == getattr(instance, field), field


def test_distances_that_solomons_text_cannot_hold_are_refused(tmp_path):
    with pytest.raises(InputError, match="truncated to one decimal"):
        write(random(1, customers=5, convention="exact"), tmp_path / "written.txt")


def test_answers_are_written_and_read(tmp_path):
    instance = random(2, customers=4, windows=False)
    routes = [(1, 3), (2,), (4,)]
    write_solution(instance, routes, tmp_path / "routes.sol")
    assert (tmp_path / "routes.sol").read_text().splitlines()[0] == "Route #1: 1 3"
    assert read_solution(tmp_path / "routes.sol") == routes
    (tmp_path / "routes.sol").write_text("Tour 1: 1 2\n")
    with pytest.raises(InputError, match="line 1: expected 'Route"):
        read_solution(tmp_path / "routes.sol")

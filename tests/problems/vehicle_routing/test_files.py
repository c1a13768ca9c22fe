"""Files: Solomon's text, TSPLIB's, and answers."""

import pytest

from colgen import InputError
from colgen.problems.vehicle_routing import RoutingInstance, random, read, read_solution, write, write_solution

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
    assert read(of(tmp_path, SOLOMON), distances="whole").distances[0] == (0.0, 1.0, 5.0)
    assert read(of(tmp_path, SOLOMON), customers=1).name == "R000.1"


def test_tsplib(tmp_path):
    instance = read(of(tmp_path, TSPLIB))
    assert (instance.name, instance.vehicles, instance.capacity, instance.demands) == (
        "A-n3-k2",
        None,
        100,
        (0, 60, 50),
    )
    assert instance.distances[0] == (0.0, 1.0, 5.0)
    assert instance.windows is None
    assert read(of(tmp_path, TSPLIB), distances="truncated").distances[0] == (0.0, 1.4, 5.0)


@pytest.mark.parametrize(
    ("vehicles", "text", "most", "reading"),
    [
        ("file", TSPLIB, None, "any number of vehicles (the file states no number, the 2 in its name is not taken"),
        ("file", TSPLIB.replace("A-n3-k2", "plain"), None, "any number of vehicles (the file states no number);"),
        ("file", TSPLIB + "VEHICLES : 4\n", 4, "at most 4 vehicles (as the file states)"),
        ("name", TSPLIB + "VEHICLES : 4\n", 2, "at most 2 vehicles (the number in the name A-n3-k2)"),
        (
            "name",
            TSPLIB.replace("A-n3-k2", "X-n3-k2"),
            None,
            "any number of vehicles (the 2 in the name X-n3-k2 is the",
        ),
        (1, TSPLIB, 1, "at most 1 vehicle (vehicles=1)"),
        (3, TSPLIB + "VEHICLES : 4\n", 3, "at most 3 vehicles (vehicles=3, the file states 4)"),
        ("file", SOLOMON, 3, "at most 3 vehicles (as the file states); truncated distances"),
        (2, SOLOMON, 2, "at most 2 vehicles (vehicles=2, the file states 3); truncated distances"),
    ],
)
def test_the_vehicle_limit_comes_from_the_file_the_name_or_the_caller(tmp_path, vehicles, text, most, reading):
    instance = read(of(tmp_path, text.replace("EOF\n", "")), vehicles=vehicles)
    assert instance.vehicles == most
    assert instance.reading.startswith(reading)


@pytest.mark.parametrize("name", ["A-n3", "tai3-k2", "A-n3-k2-hard"])
def test_only_numbers_in_names_of_known_sets_are_limits(tmp_path, name):
    path = of(tmp_path, TSPLIB.replace("A-n3-k2", name))
    assert read(path).vehicles is None
    with pytest.raises(InputError, match="vehicles=name: expected a name as of the sets A, B, E, F, M, P and X"):
        read(path, vehicles="name")


TIMES = """\
TIME_WINDOW_SECTION
1 0 1000
2 100 110
3 20 25
SERVICE_TIME_SECTION
1 0
2 50
3 50.5
"""


def test_time_windows_and_service_times_of_tsplib(tmp_path):
    for kind in ("TYPE : CVRP\n", "TYPE : CVRPTW\n", "TYPE : vrptw\n", ""):
        text = TSPLIB.replace("TYPE : CVRP\n", kind).replace("DEPOT_SECTION", TIMES + "DEPOT_SECTION")
        instance = read(of(tmp_path, text))
        assert instance.windows == ((0.0, 1000.0), (100.0, 110.0), (20.0, 25.0))
        assert instance.service == (0.0, 50.0, 50.5)
        assert instance.distances[0] == (0.0, 1.0, 5.0)
    alone = TIMES[: TIMES.index("SERVICE")]
    instance = read(of(tmp_path, TSPLIB.replace("DEMAND", "SERVICE_TIME : 7\n" + alone + "DEMAND")))
    assert instance.service == (0.0, 7.0, 7.0)
    assert read(of(tmp_path, TSPLIB.replace("DEMAND", alone + "DEMAND"))).service == (0.0, 0.0, 0.0)


UNUSED = (
    *("PRIZE_SECTION", "BACKHAUL_SECTION", "LINEHAUL_SECTION", "RELEASE_TIME_SECTION", "PICKUP_AND_DELIVERY_SECTION"),
    *("MUTUALLY_EXCLUSIVE_GROUP_SECTION", "VEHICLES_DEPOT_SECTION", "VEHICLES_ALLOWED_CLIENTS_SECTION"),
    *("CAPACITY_SECTION", "VEHICLES_MAX_DISTANCE_SECTION", "FIXED_EDGES_SECTION", "PROFIT_SECTION", "FOO_2_SECTION"),
)


@pytest.mark.parametrize("word", UNUSED)
def test_unsupported_sections_raise(tmp_path, word):
    for written in (word, word.lower(), f"{word} :"):
        text = TSPLIB.replace("DEPOT_SECTION", f"{written}\n1 0\n2 5\n3 5\nDEPOT_SECTION")
        with pytest.raises(InputError, match=f"line 15: {word} is not supported"):
            read(of(tmp_path, text))


@pytest.mark.parametrize(
    "word", ["DISTANCE", "VEHICLES_MAX_DURATION", "SALESMEN", "SCALE", "DEMAND_DIMENSION", "Depots"]
)
def test_unsupported_fields_raise(tmp_path, word):
    with pytest.raises(InputError, match=f"line 7: {word.upper()} is not supported"):
        read(of(tmp_path, TSPLIB.replace("NODE_COORD", f"{word} : 2\nNODE_COORD")))


@pytest.mark.parametrize(
    ("kind", "coordinates", "distance"),
    [
        ("CEIL_2D", "1 1", 2.0),
        ("FLOOR_2D", "1 1", 1.0),
        ("MAN_2D", "1.2 2.4", 4.0),
        ("MAX_2D", "1.2 2.4", 2.0),
        ("EUC_3D", "1 2 2", 3.0),
        ("MAN_3D", "1 2 3", 6.0),
        ("MAX_3D", "1 2 3.5", 4.0),
        ("ATT", "10 10", 5.0),  # the root of 20 is 4.47, rounded 4
        ("GEO", "0 10.30", 1169.0),  # 10.5 degrees of the equator
        ("euc_2d", "3 4", 5.0),
    ],
)
def test_distances_as_tsplib_defines_them(tmp_path, kind, coordinates, distance):
    flat = " 0" * len(coordinates.split())
    text = TSPLIB.replace("EUC_2D", kind).replace(" 2 1 1", f"2 {coordinates}")
    instance = read(of(tmp_path, text.replace(" 1 0 0", "1" + flat).replace(" 3 3 4", "3" + flat)))
    assert instance.distances[0][1] == instance.distances[1][0] == distance


@pytest.mark.parametrize(
    ("shape", "numbers"),
    [
        ("FULL_MATRIX", "0 7 8 7 0 9 8 9 0"),
        ("LOWER_ROW", "7 8 9"),
        ("LOWER_DIAG_ROW", "0 7 0 8 9 0"),
        ("UPPER_ROW", "7 8 9"),
        ("UPPER_DIAG_ROW", "0 7 8 0 9 0"),
        ("LOWER_COL", "7 8 9"),
        ("LOWER_DIAG_COL", "0 7 8 0 9 0"),
        ("UPPER_COL", "7 8 9"),
        ("UPPER_DIAG_COL", "0 7 0 8 9 0"),
    ],
)
def test_formats_of_explicit_distances(tmp_path, shape, numbers):
    instance = read(of(tmp_path, EXPLICIT.replace("LOWER_ROW", shape).replace("7 8\n9", numbers)))
    assert instance.distances == ((0.0, 7.0, 8.0), (7.0, 0.0, 9.0), (8.0, 9.0, 0.0))


def test_another_depot_keys_in_lower_case_and_locations_from_zero(tmp_path):
    asymmetric = EXPLICIT.replace("LOWER_ROW", "FULL_MATRIX").replace("7 8\n9", "0 2 100\n7 0 50\n4 9 0")
    last = asymmetric.replace("1 0\n2 3\n3 3", "1 2\n2 3\n3 0").replace("DEPOT_SECTION\n1", "DEPOT_SECTION\n3")
    instance = read(of(tmp_path, last.replace("CVRP", "ACVRP").lower()))
    assert instance.distances == ((0.0, 4.0, 9.0), (100.0, 0.0, 2.0), (50.0, 7.0, 0.0))
    assert instance.demands == (0, 2, 3)
    assert "location 3 of the file is the depot" in instance.reading
    zero = last.replace("1 2\n2 3\n3 0", "0 2\n1 3\n2 0").replace("DEPOT_SECTION\n3", "DEPOT_SECTION\n2")
    again = read(of(tmp_path, zero))
    assert (again.distances, again.demands) == (instance.distances, instance.demands)


def test_the_end_of_a_file_as_dos_writes_it(tmp_path):
    assert read(of(tmp_path, TSPLIB.replace("\n", "\r\n") + "\x1a")).demands == (0, 60, 50)


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
        (SOLOMON.replace("          10       5", "        10.5       5"), "demands must be an integer"),
        (SOLOMON.replace("50          60", "50          40"), "the time window of location 2"),
        (TSPLIB.replace("CVRP", "TSP"), r"line 3: expected TYPE : CVRP \(or .*\), not TSP"),
        (TSPLIB.replace("DIMENSION : 3", "DIMENSION : 4"), r"4 lines \(DIMENSION\) in NODE_COORD_SECTION, not 3"),
        (TSPLIB.replace("CAPACITY : 100", "CAPACITY : many"), "line 6: expected CAPACITY : a positive integer"),
        (TSPLIB.replace("CAPACITY : 100\n", ""), "expected a line CAPACITY"),
        (TSPLIB.replace("2 60", "2 -x"), "line 13: expected 2 numbers"),
        (TSPLIB.replace("2 60", "2 600"), "the demand of customer 1"),
        (TSPLIB.replace(" 1\n -1", " 2\n -1"), "the demand of the depot must be 0, not 60"),
        (TSPLIB.replace(" 1\n -1", " 1\n 2\n -1"), "expected one depot"),
        (TSPLIB.replace(" 1\n -1", " 4\n -1"), "expected one depot, a location from 1 to 3"),
        (TSPLIB.replace(" 1\n -1", " 20.5 30\n -1"), "expected one depot"),
        (TSPLIB.replace("DEPOT_SECTION\n 1\n -1\n", ""), "expected one depot"),
        (TSPLIB + "PRIZE_SECTION\n", "line 19: expected nothing after EOF"),
        (TSPLIB.replace("EOF", "DEMAND_SECTION\n1 0\n"), "expected DEMAND_SECTION once"),
        (TSPLIB.replace("CAPACITY : 100", "CAPACITY : 100\nCAPACITY : 50"), "expected CAPACITY once"),
        (TSPLIB.replace("CVRP", "CVRPTW"), "expected a TIME_WINDOW_SECTION in a file of TYPE : CVRPTW"),
        (TSPLIB.replace("CAPACITY", "SERVICE_TIME : 5\nCAPACITY"), "SERVICE_TIME has no effect without"),
        (TSPLIB.replace("EOF", TIMES.replace("20 25", "20 5")), "the time window of location 2 is 20 to 5"),
        (TSPLIB.replace("EOF", TIMES.replace("1 0\n", "1 9\n")), "expected the service time 0 at the depot, not 9"),
        (TSPLIB.replace("EOF", TIMES + "SERVICE_TIME : 1\n"), "SERVICE_TIME or SERVICE_TIME_SECTION, not both"),
        (TSPLIB.replace("EOF", TIMES.replace("3 20 25\n", "")), "expected 3 lines .* in TIME_WINDOW_SECTION, not 2"),
        (TSPLIB.replace("EOF", TIMES.replace("25", "2x")), "expected 3 numbers, the first 3, not '3 20 2x'"),
        (TSPLIB.replace("EUC_2D", "EXACT_2D"), "expected EDGE_WEIGHT_TYPE EUC_2D"),
        (EXPLICIT.replace("7 8", "7 8 -"), "expected distances, not '7 8 -'"),
        (EXPLICIT.replace("EXPLICIT", "EUC_2D"), "expected EDGE_WEIGHT_TYPE EXPLICIT with EDGE_WEIGHT_SECTION"),
        (TSPLIB.replace(" 2 1 1", " 2 nan 1"), "the coordinates of location 1 must be numbers"),
        (TSPLIB.replace(" 2 1 1", " 2 1e308 1"), "the coordinates of location 1 must be numbers"),
        (SOLOMON.replace("1          1       1", "1        inf       1"), "the coordinates of location 1"),
        (TSPLIB.replace("EUC_2D", "XRAY1"), "expected EDGE_WEIGHT_TYPE EUC_2D"),
        (TSPLIB.replace("CAPACITY : 100", "CAPACITY : 100\nDISTANCE : 200"), "line 7: DISTANCE is not supported"),
        (EXPLICIT.replace("7 8", "7"), r"3 distances \(LOWER_ROW\), not 2"),
        (EXPLICIT.replace("LOWER_ROW", "FUNCTION"), "EDGE_WEIGHT_FORMAT FUNCTION"),
    ],
)
def test_malformed_files_raise(tmp_path, text, message):
    with pytest.raises(InputError, match=message) as error:
        read(of(tmp_path, text))
    assert str(error.value).startswith(str(tmp_path))


@pytest.mark.parametrize(
    "instance",
    [
        random(1, customers=5),
        random(1, customers=5, windows=False, convention="whole"),
        random(1, customers=5, windows=False, convention="exact"),
        RoutingInstance(
            ((0.0, 1.5, 2.0), (3.0, 0.0, 1.0), (2.0, 1.0, 0.0)), (0, 1, 2), 2, vehicles=2, name="asymmetric"
        ),
    ],
    ids=lambda instance: instance.name,
)
def test_written_instances_are_read_back(tmp_path, instance):
    write(instance, tmp_path / "written.txt")
    again = read(tmp_path / "written.txt")
    for field in ("distances", "demands", "capacity", "windows", "service", "places", "most"):
        assert getattr(again, field) == getattr(instance, field), field


def test_distances_that_solomons_text_cannot_hold_raise(tmp_path):
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

"""The page of a log: the rounds that it receives, and requests that are refused."""

import json
import math
import threading
import urllib.error
import urllib.request

import pytest

from colgen import Method, solve
from colgen.core.errors import InputError
from colgen.reporting.live_log import LogFile, tree_of
from colgen.reporting.live_page import make_server, page, rounds_from
from tests.assignment import assignment
from tests.toys import CuttingStock


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "<run & all>.csv"
    result = solve(CuttingStock(), progress=LogFile(path))
    return path, result


@pytest.fixture
def server(log):
    with make_server(log[0]) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()
        thread.join(10.0)


def fetched(address):
    with urllib.request.urlopen(address, timeout=10.0) as answer:
        return answer.headers["Content-Type"], answer.read().decode()


def test_the_page_is_self_contained_and_escapes_the_name(server):
    kind, content = fetched(server)
    assert kind.startswith("text/html")
    assert "&lt;run &amp; all&gt;.csv" in content
    assert "<run & all>" not in content
    assert "https://" not in content
    assert content.count("http://") == content.count("http://www.w3.org/2000/svg")


def test_only_new_rounds_are_sent(server, log):
    path, result = log
    everything = json.loads(fetched(f"{server}rounds?from=0")[1])
    assert everything["count"] == len(result.iterations) == len(everything["rounds"])
    last = everything["rounds"][-1]
    assert last["objective"] == pytest.approx(result.iterations[-1].objective)
    assert last["global_bound"] == pytest.approx(result.dual_bound)
    rest = json.loads(fetched(f"{server}rounds?from=2")[1])
    assert rest["rounds"] == everything["rounds"][2:]
    for strange in ("-1", "x", "9" * 30, ""):
        assert json.loads(fetched(f"{server}rounds?from={strange}")[1]) == everything
    with path.open("a") as file:
        file.write("12,0")  # an incomplete line
    assert json.loads(fetched(f"{server}rounds?from=0")[1]) == everything


def test_all_rounds_of_a_new_log_are_sent(log):
    path, result = log
    assert rounds_from(path, len(result.iterations))["rounds"] == []
    assert rounds_from(path, 1000)["from"] == 0
    assert len(rounds_from(path, 1000)["rounds"]) == len(result.iterations)


def test_infinite_numbers_are_null(log):
    told = rounds_from(log[0], 0)["rounds"]
    assert told[0]["incumbent"] is None
    assert all(value is None or math.isfinite(value) for line in told for value in line.values())


def test_the_page_has_the_tree_and_how_the_run_ended(server, log, tmp_path):
    path, result = log
    sent = rounds_from(path, 0)
    assert sent["nodes"] == len(result.nodes) == 1
    assert sent["state"][0] == "finished: proved optimal"
    assert sent["end"]["gap"] == 0.0
    assert fetched(f"{server}tree") == ("text/html; charset=utf-8", "<p>1 node</p>")
    branched = solve(assignment(4, 9, 1), method=Method(heuristics=()), progress=LogFile(path))
    tree = fetched(f"{server}tree")[1]
    assert tree.count("data-n=") == 2 * len(branched.nodes) - 1 > 1
    tree_of(path).unlink()
    sent = json.loads(fetched(f"{server}rounds")[1])
    assert (sent["nodes"], sent["end"]) == (0, {})
    assert sent["state"][0].startswith(f"round {len(branched.iterations) - 1}, ")
    assert sent["state"][1].startswith("best answer ")


def test_an_invalid_log_is_reported_on_the_page(server, log):
    log[0].write_text("a,b\n1,2\n")
    assert "expected a log" in json.loads(fetched(f"{server}rounds")[1])["fault"]


def test_other_addresses_are_not_found(server):
    with pytest.raises(urllib.error.HTTPError, match="404"):
        fetched(f"{server}../../etc/passwd")


def test_a_port_in_use_is_refused(log):
    with make_server(log[0]) as server:
        port = server.server_address[1]
        with pytest.raises(InputError, match=f"port {port}: "):
            make_server(log[0], port)


def test_the_page_of_an_empty_name_is_a_page():
    assert page("").startswith("<!doctype html>")

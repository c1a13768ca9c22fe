"""`colgen watch`: a running solve."""

import dataclasses
import math
from http.server import ThreadingHTTPServer

from colgen import solve
from colgen.cli.watch import picture
from colgen.reporting.live_log import LogFile, tree_of
from tests.cli.stub import run
from tests.toys import CuttingStock


def test_a_log_is_printed_once_without_a_terminal(capsys, tmp_path):
    path = tmp_path / "run.csv"
    result = solve(CuttingStock(), progress=LogFile(path))
    code, out, err = run(capsys, "watch", path)
    assert (code, err) == (0, "")
    assert out.startswith("finished: proved optimal\nobjective 453, dual bound 453, gap 0%\n")
    assert len(out.splitlines()) == 5 + len(result.iterations)
    assert max(map(len, out.splitlines())) <= 80
    assert run(capsys, "watch", path, "--once")[1] == out
    tree_of(path).unlink()  # as while it runs
    assert run(capsys, "watch", path)[1].startswith(f"round {len(result.iterations) - 1}, 1 node, ")


def test_missing_and_invalid_logs_are_refused(capsys, tmp_path):
    assert run(capsys, "watch", tmp_path / "none.csv")[0] == 2
    path = tmp_path / "empty.csv"
    path.write_text("")
    assert run(capsys, "watch", path)[1] == "no round yet\n"


def test_long_runs_and_large_numbers_fit_eighty_characters():
    (first, *_) = solve(CuttingStock()).iterations
    large = dataclasses.replace(first, phase=2, objective=1e12, incumbent=1e12)
    rounds = [dataclasses.replace(large, number=k, node=k, global_bound=1e12 - 1e11 / k) for k in range(1, 2000)]
    shown = picture([dataclasses.replace(first, incumbent=math.inf, global_bound=-math.inf), *rounds])
    assert max(map(len, shown.splitlines())) <= 80
    bars = shown.splitlines()[2].split()[1]
    assert len(bars) == 64
    assert bars[0] > bars[-1]


def test_the_page_is_served_at_its_address(capsys, tmp_path, monkeypatch):
    path = tmp_path / "run.csv"
    solve(CuttingStock(), progress=LogFile(path))
    served = []
    monkeypatch.setattr(ThreadingHTTPServer, "serve_forever", lambda self: served.append(self.server_address))
    code, out, _ = run(capsys, "watch", path, "--browser")
    ((host, port),) = served
    assert (code, host) == (0, "127.0.0.1")
    assert out == f"http://127.0.0.1:{port}/ until Ctrl-C\n"


def test_invalid_ports_are_refused(capsys, tmp_path):
    path = tmp_path / "run.csv"
    solve(CuttingStock(), progress=LogFile(path))
    assert "needs --browser" in run(capsys, "watch", path, "--port", "8000")[2]
    for port in ("0", "65536", "x", "-1"):
        code, _, err = run(capsys, "watch", path, "--browser", "--port", port)
        assert code == 2
        assert "expected a port" in err or "expected one argument" in err
    path.write_text("a,b\n1,2\n")
    assert run(capsys, "watch", path, "--browser")[0] == 2

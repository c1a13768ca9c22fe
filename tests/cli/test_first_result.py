"""The first result of a demo, while kernels are compiled."""

import subprocess
import sys

from colgen.cli import first_result
from tests.cli.stub import run


def test_the_first_time_one_instance_is_shown_without_kernels(capsys, install, monkeypatch):
    monkeypatch.setattr(first_result, "nothing_is_compiled", lambda: True)
    code = "print('an interpreted row')"
    monkeypatch.setattr(first_result.sys, "executable", "python-of-a-test")
    started = []

    def start(command, **more):
        started.append((command, more["env"]["NUMBA_DISABLE_JIT"]))
        return process([sys_executable, "-c", code], **more)

    process, sys_executable = subprocess.Popen, getattr(sys, "_base_executable", sys.executable)
    monkeypatch.setattr(first_result.subprocess, "Popen", start)
    status, out, _ = run(capsys, "demo")
    assert status == 0
    assert out.index("an interpreted row") < out.index("three [small] tasks")
    assert started == [(["python-of-a-test", "-W", "ignore", "-m", "colgen.cli.first_result"], "1")]
    code = "import sys; print('half a row'); sys.exit(1)"
    status, out, _ = run(capsys, "demo")
    assert status == 0
    assert "half a row" not in out
    assert "three [small] tasks" in out


def test_what_numba_has_kept_is_found_where_it_is(monkeypatch, tmp_path):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    assert first_result.nothing_is_compiled()
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "kernel.nbi").touch()
    assert not first_result.nothing_is_compiled()

"""Limits and signals: large rounds stop between slices, and interrupts are reported as such."""

import math
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from colgen import Termination, TimeLimit, solve
from colgen.core.budget import Budget, OutOfBudget
from colgen.master.statement import restricted_master
from colgen.problems.grandparent_parsing import GrandparentParsing, parse, random, write
from colgen.problems.grandparent_parsing.pricing import SLICE
from tests.amounts import BUSY

LIMIT = 0.2


def test_a_spent_budget_stops_column_creation_and_master_growth():
    problem = GrandparentParsing(random(20, 1), start="tree")
    assert problem.warm_start(Budget()).answers
    master = restricted_master(problem.master())
    (oracle,) = problem.part_oracles
    triples = np.argwhere(np.ones((21, 21, 21)))
    g, p, c = triples.T
    triples = triples[(p > 0) & (c > 0) & (g != p) & (g != c) & (p != c)][: 2 * SLICE]
    columns = oracle.make_columns(triples)
    problem._budget.deadline = -math.inf
    with pytest.raises(OutOfBudget):
        oracle.make_columns(triples, problem._budget)
    with pytest.raises(OutOfBudget):
        master.add(columns)
    assert master.num_columns - len(problem.rows().costs) == SLICE


@pytest.mark.parametrize("settings", [{"start": "tree"}, {"siblings": True}, {"connectivity": "flow"}])
def test_a_limit_holds_in_a_round_with_many_parts(settings):
    instance = random(60, 1, siblings=True)

    def seconds():
        started = time.monotonic()
        result = solve(GrandparentParsing(instance, **{"siblings": False, **settings}), stop=TimeLimit(LIMIT))
        assert result.termination is Termination.TIME_LIMIT
        assert result.answer is not None
        assert result.objective <= result.dual_bound
        assert result.dual_bound < math.inf or not result.iterations  # no round was completed
        return time.monotonic() - started

    seconds()  # compiles
    assert seconds() < LIMIT + BUSY


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_parse_reports_an_interrupt():
    instance = random(120, 1, siblings=True)
    parse(random(20, 1, siblings=True), stop=TimeLimit(60.0))  # compiles
    timer = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    started = time.monotonic()
    found = parse(instance, stop=TimeLimit(30.0))
    timer.join()
    assert found.termination is Termination.INTERRUPTED
    assert found.heads is not None
    assert found.score <= found.bound < math.inf
    assert time.monotonic() - started < BUSY


PROGRAM = """
import os, signal, sys, threading, time
import colgen.problems.grandparent_parsing.command  # slow imports before the time is measured
from colgen.cli.main import main
signal.signal(signal.SIGINT, signal.default_int_handler)  # background shells disable it
sent = time.monotonic() + 2.0
threading.Timer(2.0, os.kill, (os.getpid(), signal.SIGINT)).start()
code = main()
print("seconds after the signal:", time.monotonic() - sent)
sys.exit(code)
"""


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_a_signal_ends_the_command_with_the_tree(tmp_path):
    write(random(60, 1, siblings=True), tmp_path / "long.npz")
    command = [sys.executable, "-c", PROGRAM, "solve", "grandparent_parsing", str(tmp_path / "long.npz")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    out, _, took = done.stdout.rpartition("seconds after the signal: ")
    assert done.returncode == 130
    assert len([line for line in out.splitlines() if len(line.split()) == 2 and line.split()[0].isdigit()]) == 60
    assert float(took) < BUSY

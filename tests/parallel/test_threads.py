"""Threads: results do not depend on which thread computed them."""

import threading
import time

import pytest

from colgen.core.workers import SERIAL
from colgen.parallel.threads import Threads


@pytest.mark.parametrize("count", [1, 2, 3, 8])
def test_results_come_in_the_order_of_the_pieces(count):
    def work(piece):
        time.sleep(0.002 * (7 - piece % 8))
        return piece * piece

    with Threads(count) as threads:
        for number in (0, 1, 2, 20):
            assert threads.each(work, range(number)) == SERIAL.each(lambda piece: piece * piece, range(number))


def test_pieces_run_in_parallel_and_the_caller_runs_one():
    meeting = threading.Barrier(3, timeout=20)

    def work(piece):
        meeting.wait()
        return threading.get_ident()

    with Threads(3) as threads:
        found = threads.each(work, range(3))
    assert len(set(found)) == 3
    assert threading.get_ident() in found


@pytest.mark.parametrize("count", [1, 2, 5])
def test_the_error_of_the_first_failing_piece_is_raised(count):
    def work(piece):
        time.sleep(0.01 if piece == 3 else 0.0)
        if piece >= 3:
            raise ValueError(f"piece {piece}")
        return piece

    with Threads(count) as threads, pytest.raises(ValueError, match="piece 3"):
        threads.each(work, range(20))


def test_nested_pieces_run_in_the_thread_of_their_piece():
    with Threads(2) as threads:

        def work(piece):
            return threads.each(lambda part: (part, threading.get_ident()), range(4))

        for found in threads.each(work, range(4)):
            assert [part for part, _ in found] == [0, 1, 2, 3]
            assert len({thread for _, thread in found}) == 1


def test_an_interrupt_cancels_pending_pieces():
    done = []

    def work(piece):
        time.sleep(0.002)
        if piece == 2 and threading.current_thread() is threading.main_thread():
            raise KeyboardInterrupt
        done.append(piece)
        time.sleep(0.01)

    with Threads(1) as threads, pytest.raises(KeyboardInterrupt):
        threads.each(work, range(100))
    assert len(done) < 10

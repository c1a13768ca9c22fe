"""Local processes: if one ends, only its own piece is lost."""

import os
import time

from colgen.parallel.clusters import Processes
from colgen.parallel.streams import Stream


def work(piece):
    if piece == 3:
        os._exit(9)  # as if the system had ended it
    if piece == 5:
        time.sleep(60)
    return piece, os.getpid()


def test_a_piece_that_ends_its_process_is_reported_and_others_finish():
    cluster = Processes(2)
    try:
        found = list(Stream(cluster, work, retries=1, patience=5.0).over(range(8)))
    finally:
        cluster.close()
    assert "lost 2 times" in found[3].fault
    assert "5 s" in found[5].fault
    assert [done.outcome[0] for done in found if done.number not in (3, 5)] == [0, 1, 2, 4, 6, 7]
    assert all(done.outcome[1] != os.getpid() for done in found if done.outcome)

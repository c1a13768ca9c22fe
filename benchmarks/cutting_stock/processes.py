"""Work in a process of its own, which is ended when its time is over."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any


def within(cap: float, work: Callable[..., Any], *arguments: Any) -> tuple[Any, float]:
    """What a function returns (None if it needs longer) and its seconds, the start of the process left out.

    HiGHS looks at its clock too seldom on large models, by minutes, so the process is ended from outside.

    Parameters
    ----------
    work
        A function of a module, with arguments and a result that can be sent to another process.
    """
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_work_and_send, args=(theirs, work, arguments), daemon=True)
    process.start()
    theirs.close()
    try:
        ours.recv()  # it is ready
        started = time.perf_counter()
        if not ours.poll(cap):
            return None, cap
        result = ours.recv()
        return result, min(time.perf_counter() - started, cap)
    except EOFError:  # it has ended without an answer: out of memory, say
        return None, cap
    finally:
        process.kill()
        process.join()


def _work_and_send(pipe: Connection, work: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    pipe.send("ready")
    pipe.send(work(*arguments))

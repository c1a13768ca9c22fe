"""Calls with a hard time limit."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, TypeVar

T = TypeVar("T")


def bounded(seconds: float, function: Callable[..., T], *arguments: Any, **keywords: Any) -> tuple[T | None, float]:
    """Call a function in a process of its own, which is killed when its time is up.

    HiGHS may exceed its own time limit by minutes on large models. The start of the process does not count. The
    function, its arguments and its result are pickled. Scripts must call this below ``if __name__ == "__main__":``,
    because the new process imports them. Exceptions of the function are raised.

    Returns
    -------
    result, seconds
        The returned value, or None if time ran out, and the time taken, at most ``seconds``.
    """
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_call, args=(theirs, function, arguments, keywords), daemon=True)
    process.start()
    theirs.close()
    try:
        ours.recv()  # the process is ready
        started = time.perf_counter()
        if not ours.poll(seconds):
            return None, seconds
        error, result = ours.recv()
        taken = min(time.perf_counter() - started, seconds)
    except EOFError:
        process.join()
        raise RuntimeError(
            f"{function.__name__} ended its process without a result, exit code {process.exitcode}"
        ) from None
    finally:
        process.kill()
        process.join()
    if error is not None:
        raise error
    return result, taken


def _call(pipe: Connection, function: Callable[..., Any], arguments: tuple[Any, ...], keywords: dict[str, Any]) -> None:
    pipe.send("ready")
    try:
        result = function(*arguments, **keywords)
    except Exception as error:
        pipe.send((error, None))
    else:
        pipe.send((None, result))

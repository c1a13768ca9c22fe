"""A call that is given so many seconds and no more, whatever it does with them."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, TypeVar

T = TypeVar("T")


def bounded(seconds: float, function: Callable[..., T], *arguments: Any, **keywords: Any) -> tuple[T | None, float]:
    """Call a function in a process of its own, which is ended from outside when its time is up.

    HiGHS looks at its clock too seldom on large models, by minutes.  Starting the process does not count.  A script
    calls this below ``if __name__ == "__main__":``, for the new process imports the script.

    Parameters
    ----------
    function
        Of a module, as it is imported anew there; with its arguments and its result it must pass through ``pickle``.

    Returns
    -------
    result, seconds
        What the function returned, None if it was not ready in time; and what it took, ``seconds`` at most.

    Raises
    ------
    Exception
        What the function raised.
    RuntimeError
        If the process ended without a word.
    """
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_call, args=(theirs, function, arguments, keywords), daemon=True)
    process.start()
    theirs.close()
    try:
        ours.recv()  # it is ready
        started = time.perf_counter()
        if not ours.poll(seconds):
            return None, seconds
        error, result = ours.recv()
        taken = min(time.perf_counter() - started, seconds)
    except EOFError:
        process.join()
        raise RuntimeError(f"{function.__name__} ended its process, exit code {process.exitcode}") from None
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

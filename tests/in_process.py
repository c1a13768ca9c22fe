"""Replacement for calls in separate processes, each of which would take seconds to import the project."""

import pickle
import time


def bounded(seconds, function, *arguments, **keywords):
    """Return the function's result and seconds; arguments and result pass through ``pickle``."""
    function, arguments, keywords = pickle.loads(pickle.dumps((function, arguments, keywords)))
    started = time.perf_counter()
    result = pickle.loads(pickle.dumps(function(*arguments, **keywords)))
    return result, min(time.perf_counter() - started, seconds)

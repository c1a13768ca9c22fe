"""What stands for a call in a process of its own, which has to import the whole project: seconds each."""

import pickle
import time


def bounded(seconds, function, *arguments, **keywords):
    """The function's result and its seconds; everything passes through ``pickle``, as on the way to a process."""
    function, arguments, keywords = pickle.loads(pickle.dumps((function, arguments, keywords)))
    started = time.perf_counter()
    result = pickle.loads(pickle.dumps(function(*arguments, **keywords)))
    return result, min(time.perf_counter() - started, seconds)

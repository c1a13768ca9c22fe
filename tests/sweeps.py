"""Sweeps over seeds: a spread of them in the fast tests, all of them in `make test-all`."""

from tests.amounts import THOROUGH

FAST = 24
"""Seeds of a sweep that the fast tests run."""

MOST = 48
"""Cases of a test that tries seeds in many ways each."""


def seeds(count, fast=FAST):
    """The seeds 0 to count - 1, of which the fast tests take ``fast``, evenly spread.

    What is drawn from a seed often goes through its cases in order (``seed % 3``, ``seed // 3 % 4``): the fast ones are
    spread with a step that is no whole number, so that they meet all of them.
    """
    if THOROUGH or fast >= count:
        return list(range(count))
    return sorted({round(k * count / fast) for k in range(fast)})


def thinned(ways, most=MOST):
    """Which cases of a sweep to leave out: at most about ``most`` stay, and at least two of each way.

    Parameters
    ----------
    ways
        Of each case: in which way its seed is tried.

    Returns
    -------
    list
        A truth value a case.  The seeds that stay differ from way to way, so that together they are as many as before.
    """
    if THOROUGH or len(ways) <= most:
        return [False] * len(ways)
    places = {}
    for place, way in enumerate(ways):
        places.setdefault(way, []).append(place)
    each = max(2, most // len(places))
    kept = set()
    for number, own in enumerate(places.values()):
        if each >= len(own):
            kept.update(own)
        else:
            first = number * len(own) // (each * len(places))
            kept.update(own[(first + k * len(own) // each) % len(own)] for k in range(each))
    return [place not in kept for place in range(len(ways))]

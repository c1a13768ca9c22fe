"""Sweeps over seeds: some of them in the fast tests, all of them in `make test-all`."""

from tests.amounts import THOROUGH

FAST = 24
"""Seeds of a sweep in the fast tests."""

MOST = 48
"""Cases of a test with seeds and other parameters in the fast tests."""


def seeds(count, fast=FAST):
    """Return the seeds 0 to count - 1, or ``fast`` of them, evenly spread, in the fast tests.

    Tests often derive cases from a seed by remainders (``seed % 3``, ``seed // 3 % 4``).  The step is fractional, so
    that the fast seeds meet all cases.
    """
    if THOROUGH or fast >= count:
        return list(range(count))
    return sorted({round(k * count / fast) for k in range(fast)})


def thin(ways, most=MOST):
    """Return which cases of a sweep to omit: about ``most`` remain, and at least two per way.

    Parameters
    ----------
    ways
        Other parameters of each case.

    Returns
    -------
    list
        One bool per case.  The remaining seeds differ between ways, so that together they cover all seeds.
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

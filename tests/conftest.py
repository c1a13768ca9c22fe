"""Examples of hypothesis and cases of sweeps: few in the fast tests, as many as a test asks for in others.

Workers keep to one core.
"""

import gc
import os
import signal

if "PYTEST_XDIST_WORKER" in os.environ:  # before numpy is imported, whose libraries would each take all cores
    for library in ("OMP", "OPENBLAS", "MKL"):
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")

from hypothesis import HealthCheck, settings

from tests.amounts import examples
from tests.sweeps import thinned

# derandomize: the same examples in every run, so that a red test stays red until it is mended.
settings.register_profile(
    "fast",
    max_examples=examples(12, 60),
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
settings.load_profile("fast")

# Whatever is started in the background of a shell inherits a SIGINT that is ignored: tests that send one need it heard.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(config, items):
    """Thin the sweeps that try seeds in many ways each: all ways, fewer seeds of each."""
    families: dict = {}
    for item in items:
        parameters = getattr(getattr(item, "callspec", None), "params", {})
        if "seed" in parameters:
            way = tuple(id(value) for name, value in parameters.items() if name != "seed")  # the very objects of a list
            families.setdefault((item.path, item.cls, item.originalname), []).append((item, way))
    left_out = [
        item
        for family in families.values()
        for (item, _), out in zip(family, thinned([way for _, way in family]), strict=True)
        if out
    ]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        gone = set(left_out)
        items[:] = [item for item in items if item not in gone]


def pytest_collection_finish(session):
    gc.freeze()  # ten thousand tests and all libraries stay: who collects need not look at them again

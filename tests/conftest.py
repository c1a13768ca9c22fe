"""Configuration of pytest: few hypothesis examples and sweep cases in fast tests, all of them otherwise.

Each worker uses one core.
"""

import gc
import os
import signal

if "PYTEST_XDIST_WORKER" in os.environ:  # before importing numpy, whose libraries use all cores by default
    for library in ("OMP", "OPENBLAS", "MKL"):
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")

from hypothesis import HealthCheck, settings

from tests.amounts import examples
from tests.sweeps import thin

os.environ.pop("COLUMNS", None)  # pytest-xdist sets it in its workers, and messages would be wrapped

# derandomize: the same examples in every run, so that a failing test keeps failing until it is fixed.
settings.register_profile(
    "fast",
    max_examples=examples(12, 60),
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
settings.load_profile("fast")

# Background processes of a shell inherit an ignored SIGINT, but tests that send one need a handler.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(config, items):
    """Thin sweeps over seeds and other parameters: keep all parameters, with fewer seeds each."""
    families: dict = {}
    for item in items:
        parameters = getattr(getattr(item, "callspec", None), "params", {})
        if "seed" in parameters:
            way = tuple(id(value) for name, value in parameters.items() if name != "seed")  # objects of a list
            families.setdefault((item.path, item.cls, item.originalname), []).append((item, way))
    left_out = [
        item
        for family in families.values()
        for (item, _), out in zip(family, thin([way for _, way in family]), strict=True)
        if out
    ]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        deselected = set(left_out)
        items[:] = [item for item in items if item not in deselected]


def pytest_collection_finish(session):
    gc.freeze()  # exclude ten thousand tests and all libraries from later collections

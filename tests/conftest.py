"""Examples of hypothesis: few in the fast tests, as many as a test asks for in others; workers keep to one core."""

import os
import signal

if "PYTEST_XDIST_WORKER" in os.environ:  # before numpy is imported, whose libraries would each take all cores
    for library in ("OMP", "OPENBLAS", "MKL"):
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")

from hypothesis import HealthCheck, settings

from tests.amounts import examples

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

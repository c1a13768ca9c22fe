"""A strategy for tiny instances."""

from hypothesis import strategies as st

from colgen.problems.coreference.instance import CoreferenceInstance
from tests.twins.coreference import symmetric


@st.composite
def instances(draw, least=1, most=6):
    """Tiny instances; small integer scores give ties and fractional relaxations."""
    n = draw(st.integers(least, most))
    score = draw(st.sampled_from([st.integers(-2, 2), st.floats(-1, 1).map(lambda s: round(s, 3))]))
    count = n * (n - 1) // 2
    return CoreferenceInstance(symmetric(n, draw(st.lists(score, min_size=count, max_size=count))))

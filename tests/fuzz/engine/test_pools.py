"""Programs and ways to solve them, in files."""

import json

from tests.fuzz.engine import shrinking
from tests.fuzz.engine.pools import Case
from tests.fuzz.engine.programs import cases


def test_cases_are_correct_and_can_be_stored():
    for case, _ in cases(4, 15):
        assert shrinking.is_correct(case)
        assert Case.from_dict(json.loads(json.dumps(case.to_dict()))) == case

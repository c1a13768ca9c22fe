"""Programs and ways to solve them, in files."""

import json

from tests.fuzz.engine import shrinking
from tests.fuzz.engine.pools import Case
from tests.fuzz.engine.programs import cases


def test_every_case_is_a_correct_problem_and_survives_a_file():
    for case, _ in cases(4, 15):
        assert shrinking.is_correct(case)
        assert Case.from_dict(json.loads(json.dumps(case.to_dict()))) == case

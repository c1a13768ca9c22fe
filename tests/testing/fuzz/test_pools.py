"""Programs and ways to solve them, in files."""

import json

from colgen.testing.fuzz import shrinking
from colgen.testing.fuzz.pools import Case
from tests.testing.fuzz.programs import cases


def test_every_case_is_a_correct_problem_and_survives_a_file():
    for case, _ in cases(4, 15):
        assert shrinking.is_correct(case)
        assert Case.from_dict(json.loads(json.dumps(case.to_dict()))) == case

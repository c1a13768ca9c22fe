"""Options of templates on the command line."""

import pytest

from colgen.errors import InputError
from colgen.template import check_options, whole_number

KNOWN = {"epochs": "passes over the data", "task": "what is learned"}


def test_unknown_options_are_refused_and_the_known_ones_listed():
    check_options({}, KNOWN)
    check_options({"task": "x"}, KNOWN)
    with pytest.raises(InputError, match="no option 'speed'; there are epochs: passes over the data; task: what is"):
        check_options({"task": "x", "speed": "1"}, KNOWN)


def test_whole_numbers_are_one_or_more():
    assert whole_number({}, "epochs", 5) == 5
    assert whole_number({"epochs": "7"}, "epochs", 5) == 7
    for text in ("0", "-1", "1.5", "", "two", "²"):
        with pytest.raises(InputError, match="option epochs: expected a whole number, one or more"):
            whole_number({"epochs": text}, "epochs", 5)

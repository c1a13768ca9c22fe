"""Options of templates: their values, and what is refused."""

import pytest

from colgen.cli.option import Number, Option, option_values
from colgen.core.errors import InputError

KNOWN = {
    "epochs": Option("passes over the data", number=Number.WHOLE),
    "task": Option("what is learned"),
    "bias": Option("added to scores", ("tuned",), Number.ANY),
    "strength": Option("of the penalty", number=Number.NOT_NEGATIVE),
    "step": Option("the longest", number=Number.POSITIVE),
    "roots": Option("how many", {"one": True, "any": False}),
}


def test_texts_are_converted_to_values():
    assert option_values({}, KNOWN) == {}
    texts = {"epochs": "7", "task": "x=y", "bias": "-0.5", "strength": "0", "step": "1e-3", "roots": "any"}
    values = {"epochs": 7, "task": "x=y", "bias": -0.5, "strength": 0.0, "step": 1e-3, "roots": False}
    assert option_values(texts, KNOWN) == values
    assert option_values({"bias": "tuned"}, KNOWN) == {"bias": "tuned"}


def test_unknown_options_are_refused_with_a_list_of_options():
    with pytest.raises(InputError, match="no option 'speed'; there are epochs: passes over the data; task: what is"):
        option_values({"task": "x", "speed": "1"}, KNOWN)
    with pytest.raises(InputError, match="there is no option 'epoch'; did you mean 'epochs'"):
        option_values({"epoch": "1"}, KNOWN)


@pytest.mark.parametrize(
    ("name", "texts", "expected"),
    [
        ("epochs", ("0", "-1", "1.5", "", "two", "²", "9" * 19), "an integer ≥ 1"),
        ("bias", ("much", "nan", "inf"), "tuned or a number"),
        ("strength", ("-1e-9", "inf", "x"), "a number ≥ 0"),
        ("step", ("0", "-1", "nan"), "a positive number"),
        ("roots", ("two", ""), "one or any"),
    ],
)
def test_other_values_are_refused(name, texts, expected):
    for text in texts:
        with pytest.raises(InputError, match=f"option {name}: expected {expected}, not "):
            option_values({name: text}, KNOWN)

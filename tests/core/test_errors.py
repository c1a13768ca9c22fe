"""Named diagnostics: each describes one mistake, and has the best result so far."""

import inspect

import pytest

from colgen import ColgenError, InputError
from colgen.core import errors

NAMES = [name for name, kind in vars(errors).items() if inspect.isclass(kind) and issubclass(kind, ColgenError)]


@pytest.mark.parametrize("name", NAMES)
def test_all_diagnostics_share_a_base_and_have_docstrings(name):
    error = getattr(errors, name)
    assert issubclass(error, ColgenError)
    assert inspect.getdoc(error)
    assert name == "ColgenError" or name.endswith("Error")


def test_a_diagnostic_has_no_result_before_a_run_sets_it():
    error = InputError("seconds is -1, expected a positive number")
    assert error.result is None
    error.result = "the best so far"
    assert InputError("another").result is None


def test_bad_input_is_also_a_value_error():
    with pytest.raises(ValueError, match="expected"):
        raise InputError("expected a number")

"""False certificates are refused, and the true ones that they are made of are not."""

import json
from collections import Counter

import pytest

from colgen.certificate.checker import check
from colgen.certificate.checker_pricing import WrongError
from tests.fuzz.forgeries import forgeries
from tests.fuzz.handmade import CERTIFICATES

FORGED = forgeries()


def accepts(lines):
    try:
        return check(lines).checked
    except WrongError:
        return False


@pytest.mark.parametrize("name", CERTIFICATES)
def test_what_forgeries_are_made_of_is_true(name):
    assert accepts(map(json.dumps, CERTIFICATES[name]))


def test_all_forgeries_are_refused():
    assert not [str(each) for each in FORGED if accepts(each.lines)]


def test_there_are_many_kinds_of_each_instance():
    count = Counter(each.kind.partition(",")[0] for each in FORGED)
    assert len(FORGED) == len({(each.kind, each.what) for each in FORGED}) > 100
    assert min(count.values()) >= 20

"""The checker rejects false certificates and accepts the correct ones that they are made from."""

import json
from collections import Counter

import pytest

from colgen.certificate.checker import check
from colgen.certificate.checker_pricing import WrongError
from tests.fuzz.forgeries import make_forgeries
from tests.fuzz.handmade import CERTIFICATES

FORGED = make_forgeries()


def accepts(lines):
    try:
        return check(lines).checked
    except WrongError:
        return False


@pytest.mark.parametrize("name", CERTIFICATES)
def test_correct_certificates_are_accepted(name):
    assert accepts(map(json.dumps, CERTIFICATES[name]))


def test_all_forgeries_are_rejected():
    assert not [str(each) for each in FORGED if accepts(each.lines)]


def test_there_are_many_kinds_of_each_instance():
    count = Counter(each.kind.partition(",")[0] for each in FORGED)
    assert len(FORGED) == len({(each.kind, each.what) for each in FORGED}) > 100
    assert min(count.values()) >= 20

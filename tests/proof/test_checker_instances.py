"""Files as the checker reads them, against those who wrote them."""

import pytest

from colgen.proof.checker_instances import formulation_of, instance_in
from colgen.proof.checker_pricing import WrongError
from problems.cutting_stock import CuttingStock, bin_packing, uniform, write


@pytest.mark.parametrize("instance", [bin_packing(30, 1), uniform(5, 2)])
def test_cutting_stock(tmp_path, instance):
    path = tmp_path / "rolls.txt"
    write(instance, path)
    stated = CuttingStock(instance).certifier()
    read = instance_in(path.read_text(), {"kind": "cutting_stock"})
    assert {**read, "name": instance.name} == stated.instance()
    assert formulation_of(read) == stated.formulation()


def test_of_other_kinds_nothing_is_known():
    assert formulation_of({"kind": "mine"}) is None
    with pytest.raises(WrongError, match="reads no files"):
        instance_in("", {"kind": "mine"})

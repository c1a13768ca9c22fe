"""The choice of a decomposition."""

import pytest

from colgen import InputError, decompose
from colgen.decomposition.networked import NetworkModel
from tests.networks.programs import routing


def test_a_model_with_path_blocks_is_a_network_model():
    model, _ = routing(0)
    assert isinstance(decompose(model), NetworkModel)
    with pytest.raises(InputError, match="expected 'dantzig-wolfe', as the model has path blocks"):
        decompose(model, method="benders")

"""More tests of this picture are in tests/decomposition/test_detection.py."""

import pytest

from colgen.decomposition.detection import find_blocks
from tests.decomposition import models


def test_a_figure_without_a_path_is_returned():
    pytest.importorskip("matplotlib")
    figure = find_blocks(models.assignment(0, 4, 12)).draw()
    assert figure.axes[0].get_title() == "4 blocks, 12 linking rows"

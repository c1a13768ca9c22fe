"""Files of networks with commodities."""

import gzip

import numpy as np
import pytest

from colgen import InputError
from colgen.networks.files import read_commodities

COMMALAB = "3\n2\n1\n1 2 4.5 7\n2 3 1 -1\n1 3 2.5\n"
NET = """<NUMBER OF NODES> 3
<END OF METADATA>
~ init_node term_node capacity length free_flow_time b ;
 1 2 7 9.0 4.5 0.15 ;
 2 3 8 9.0 1 0.15 ;
"""
TRIPS = """<NUMBER OF ZONES> 3
<END OF METADATA>

Origin 1
 2 : 4.0 ;  3 :  5.0;
Origin  2
 3 : 0 ; 1 : 1e1 ;
"""


@pytest.mark.parametrize("write", [lambda text: text.encode(), lambda text: gzip.compress(text.encode())])
def test_a_file_of_commalab(tmp_path, write):
    (tmp_path / "net").write_bytes(write(COMMALAB))
    found = read_commodities(tmp_path / "net")
    assert (found.tails.tolist(), found.heads.tolist()) == ([1, 2], [2, 3])
    assert (found.costs.tolist(), found.capacities.tolist()) == ([4.5, 1.0], [7.0, np.inf])
    assert (found.origins.tolist(), found.destinations.tolist(), found.demands.tolist()) == ([1], [3], [2.5])


def test_files_of_tntp(tmp_path):
    (tmp_path / "net").write_text(NET)
    (tmp_path / "trips").write_text(TRIPS)
    found = read_commodities(tmp_path / "net", tmp_path / "trips", divisor=2.0)
    assert (found.costs.tolist(), found.capacities.tolist()) == ([4.5, 1.0], [7.0, 8.0])
    commodities = zip(found.origins.tolist(), found.destinations.tolist(), found.demands.tolist(), strict=True)
    assert list(commodities) == [(1, 2, 2.0), (1, 3, 2.5), (2, 1, 5.0)]


@pytest.mark.parametrize("text", ["", "3 2", "3 2 1 1 2 4 7", "a b c"])
def test_other_files_are_refused(tmp_path, text):
    (tmp_path / "net").write_text(text)
    with pytest.raises(InputError, match="expected the numbers of vertices"):
        read_commodities(tmp_path / "net")
    with pytest.raises(InputError, match="END OF METADATA"):
        read_commodities(tmp_path / "net", tmp_path / "net")

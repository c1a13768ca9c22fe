"""Proofs that a graph needs a number of colours, where stable sets prove less."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.graphs.contraction import needs_more
from colgen.solvers.graphs.frontier_colouring import is_colourable
from colgen.solvers.graphs.mycielskian import mycielskian_bound
from colgen.solvers.stopping import Expired

CLIQUES = 200
"""Cliques from which the search for Mycielskians starts."""


def fewest_colours_proved(adjacency: NDArray[np.bool_], clique: NDArray[np.int64], known: int, expired: Expired) -> int:
    """Return a number of colours that the graph needs: by Mycielskians, a search, or a dynamic program.

    Parameters
    ----------
    clique
        A large clique.
    known
        The number of colours of a colouring.
    """
    if len(clique) >= known or needs_more(adjacency, clique, known - 1, expired=expired):
        return known
    if not expired() and is_colourable(adjacency, known - 1, expired=expired) is False:
        return known
    return max(mycielskian_bound(adjacency, known, cliques=CLIQUES, expired=expired)[0], len(clique))

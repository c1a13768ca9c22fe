"""Whether a decomposition can pay: where its bound is no better than that of the compact model's relaxation."""

from __future__ import annotations

from collections.abc import Sequence

from colgen.decomposition.subproblem import Subproblem
from colgen.decomposition.unimodular import is_unimodular


def is_hull(sub: Subproblem) -> bool:
    """Whether the rows of a block are known to describe the convex hull of its points already.

    They do where nothing must be whole, and where vertices are whole because of what the matrix is, as
    :mod:`colgen.decomposition.structure` says.  A block of which nothing of the kind is known may still be one.
    """
    return not sub.integer.any() or is_unimodular(sub)


def remarks(subs: Sequence[Subproblem]) -> tuple[str, ...]:
    """Why a decomposition cannot pay, a sentence each; nothing where it may."""
    said = []
    blocks = sum(sub.count for sub in subs)
    if blocks == 1:
        said.append("This decomposition cannot pay: of one block the pricing problem is the model less what links it.")
    if all(map(is_hull, subs)):
        said.append(
            "This decomposition cannot pay by its bound: the rows of every block describe the hull of its points "
            "already, so that it is no better than the linear relaxation's."
        )
    return tuple(said)

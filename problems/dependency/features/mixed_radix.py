"""How features are numbered: templates of conjunctions, and the key of a template's codes with a relation.

A feature is (template, code, ..., code, relation); keys number all features that there could be, in mixed radix, so
that no two share a key.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.arrays import as_indices, as_integer, as_integers
from colgen.solvers.kernel_cache import njit

Ints = NDArray[np.int64]
Shorts = NDArray[np.int32]


class Radix(NamedTuple):
    """How features of some templates are numbered.

    Attributes
    ----------
    templates
        Conjunction of each token, shape (templates, tokens).
    offsets
        First key of each template, shape (templates,).
    strides
        What one unit of each token's code is worth in the key, shape (templates, tokens); the relation is worth itself.
    sizes
        How many codes each token's conjunction has, shape (templates, tokens).
    relations
        How many relations there are.
    """

    templates: Ints
    offsets: Ints
    strides: Ints
    sizes: Ints
    relations: int


def radix_of(templates: Sequence[Sequence[int]] | Ints, sizes: Ints, relations: int) -> Radix:
    """Number the features of templates.

    Parameters
    ----------
    templates
        Conjunctions, as many for each template.
    sizes
        How many codes each conjunction has, by conjunction.

    Raises
    ------
    OverflowError
        If the keys do not fit into 63 bits.
    """
    sizes = as_integers(sizes, "sizes", shape=("conjunctions",), low=1)
    table = as_indices(templates, "templates", upper=len(sizes), shape=("templates", "tokens"))
    relations = as_integer(relations, "relations", low=1)
    strides, offsets = np.empty_like(table), np.empty(len(table), dtype=np.int64)
    offset = 0  # Python's whole numbers do not overflow
    for t, template in enumerate(table.tolist()):
        offsets[t] = offset
        stride = relations
        for position in range(len(template) - 1, -1, -1):
            strides[t, position] = stride
            stride *= int(sizes[template[position]])
        offset += stride
        if offset >= 2**63:
            raise OverflowError("too many attribute values: the keys of the templates do not fit into 63 bits")
    return Radix(table, offsets, strides, np.asarray(sizes, dtype=np.int64)[table], relations)


@njit(cache=True)
def keys_of(radix: Radix, codes: Shorts, columns: Ints, relation: Ints) -> Ints:
    """The keys of all features that tuples have; some may occur more than once.

    Parameters
    ----------
    codes
        Shape (conjunctions, columns).
    columns
        The tuples: columns of ``codes``, shape (tuples, tokens).
    relation
        Shape (tuples,).
    """
    keys = np.empty(len(columns) * len(radix.templates), np.int64)
    count = 0
    for row in range(len(columns)):
        for t in range(len(radix.templates)):
            key = radix.offsets[t] + relation[row]
            known = True
            for k in range(columns.shape[1]):
                code = codes[radix.templates[t, k], columns[row, k]]
                known = known and code >= 0
                key += code * radix.strides[t, k]
            if known:
                keys[count] = key
                count += 1
    return keys[:count]

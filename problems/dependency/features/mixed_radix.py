"""Numbering of features: unique keys of a template's codes with a relation, in mixed radix.

A feature is (template, code, ..., code, relation); every possible feature has its own key.
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
    """Numbering of the features of some templates.

    Attributes
    ----------
    templates
        Conjunction of each token, shape (templates, tokens).
    offsets
        First key of each template, shape (templates,).
    strides
        Factor of each token's code in the key, shape (templates, tokens); the relation's factor is 1.
    sizes
        Number of codes of each token's conjunction, shape (templates, tokens).
    """

    templates: Ints
    offsets: Ints
    strides: Ints
    sizes: Ints
    relations: int


def radix_of(templates: Sequence[Sequence[int]] | Ints, sizes: Ints, relations: int) -> Radix:
    """Return the numbering of features.

    All templates have equally many conjunctions; ``sizes`` is the number of codes of each conjunction.  Raises
    OverflowError if the keys do not fit into 63 bits.
    """
    sizes = as_integers(sizes, "sizes", shape=("conjunctions",), low=1)
    table = as_indices(templates, "templates", upper=len(sizes), shape=("templates", "tokens"))
    relations = as_integer(relations, "relations", low=1)
    strides, offsets = np.empty_like(table), np.empty(len(table), dtype=np.int64)
    offset = 0  # Python integers do not overflow
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
    """Return the keys of all features of tuples; some may occur more than once.

    ``codes`` has shape (conjunctions, columns), ``columns`` shape (tuples, tokens), ``relation`` shape (tuples,).
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

"""Sentences and dependency trees: tokens with tags and heads, and checks of trees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from colgen import InputError

Heads = tuple[int, ...]
"""The head of each token, tokens numbered from 1; 0 is the artificial root."""


@dataclass(frozen=True)
class Sentence:
    """The tokens of a sentence in order; token i is at position i - 1 of each tuple.

    Parameters
    ----------
    forms
        The words; none is empty.
    lemmas, coarse, fine
        One entry per token, ``"_"`` if unknown; an empty tuple means all unknown.
    morphology
        ``{feature: value}`` of each token.
    heads, relations
        Head of each token (numbered from 1, 0 for the root) and relation to it; None if not annotated.
    lines
        Lines of the file it was read from, including comments and multiword tokens; used for writing only.

    Raises
    ------
    InputError
        If there is no token, a form is empty, lengths differ, heads form no tree, or heads are missing but not
        relations.
    """

    forms: tuple[str, ...]
    lemmas: tuple[str, ...] = ()
    coarse: tuple[str, ...] = ()
    fine: tuple[str, ...] = ()
    morphology: tuple[Mapping[str, str], ...] = ()
    heads: Heads | None = None
    relations: tuple[str, ...] | None = None
    lines: tuple[str, ...] = field(default=(), repr=False, compare=False)

    def __post_init__(self) -> None:
        length = len(self.forms)
        if not length:
            raise InputError("the sentence has no tokens: expected at least one")
        if not all(self.forms):
            raise InputError(f"token {self.forms.index('') + 1} has an empty form: expected at least one character")
        for name in ("lemmas", "coarse", "fine"):
            if not getattr(self, name):
                object.__setattr__(self, name, ("_",) * length)
        if not self.morphology:
            object.__setattr__(self, "morphology", ({},) * length)
        for name in ("lemmas", "coarse", "fine", "morphology"):
            if len(getattr(self, name)) != length:
                raise InputError(f"expected {name} for {length} tokens, got {len(getattr(self, name))}")
        if self.heads is not None:
            check_tree(self.heads, length)
        if self.relations is not None:
            if self.heads is None:
                raise InputError("the sentence has relations but no heads: expected heads too")
            if len(self.relations) != length:
                raise InputError(f"expected relations for {length} tokens, got {len(self.relations)}")

    def __len__(self) -> int:
        return len(self.forms)

    def with_heads(self, heads: Sequence[int], relations: Sequence[str] | None = None) -> Sentence:
        named = None if relations is None else tuple(relations)
        return replace(self, heads=tuple(int(head) for head in heads), relations=named)

    @property
    def num_roots(self) -> int:
        """Number of tokens attached to the root; 0 without heads."""
        return 0 if self.heads is None else self.heads.count(0)

    @property
    def is_projective(self) -> bool:
        """Whether the sentence has heads and its tree is projective."""
        return self.heads is not None and is_projective(self.heads)


def check_tree(heads: Sequence[int], length: int | None = None, *, single_root: bool = False) -> None:
    """Raise :class:`InputError` unless heads form a tree over the tokens 1, 2, ... with root 0.

    ``length`` is the required number of tokens, if any; ``single_root`` requires exactly one token attached to the
    root.
    """
    n = len(heads)
    if length is not None and n != length:
        raise InputError(f"expected heads for {length} tokens, got {n}")
    for token, head in enumerate(heads, 1):
        if not 0 <= head <= n:
            raise InputError(f"token {token}: expected a head from 0 to {n}, not {head}")
    cycle = find_cycle(heads)
    if cycle:
        raise InputError(f"the heads of tokens {', '.join(map(str, cycle))} form a cycle")
    roots = [token for token, head in enumerate(heads, 1) if head == 0]
    if single_root and len(roots) != 1:
        raise InputError(f"expected one token whose head is 0, got {len(roots)}: {', '.join(map(str, roots))}")


def find_cycle(heads: Sequence[int]) -> list[int]:
    """Return the tokens of a cycle in the order of their heads, starting from the smallest; empty for a tree."""
    cycle = cycle_of_arcs(dict(enumerate(heads, 1)))
    first = cycle.index(min(cycle)) if cycle else 0
    return cycle[first:] + cycle[:first]


def cycle_of_arcs(tails: Mapping[int, int]) -> list[int]:
    """Return a cycle in a graph with one arc into each vertex but 0, each member followed by its tail; or []."""
    done = {0}
    for start in tails:
        path: dict[int, None] = {}
        vertex = start
        while vertex not in done:
            if vertex in path:
                vertices = list(path)
                return vertices[vertices.index(vertex) :]
            path[vertex] = None
            vertex = tails[vertex]
        done.update(path)
    return []


def is_projective(heads: Sequence[int]) -> bool:
    """Return whether a tree is projective: no two arcs cross, including those from the root.

    Equivalently, every token between a head and its modifier descends from that head.  Takes time O(n²) at most.
    """
    arcs = [(min(head, token), max(head, token)) for token, head in enumerate(heads, 1)]
    # Arcs sorted by left end, longer first: an open arc that ends inside the next one crosses it.
    open_ends: list[int] = []
    for left, right in sorted(arcs, key=lambda arc: (arc[0], -arc[1])):
        while open_ends and open_ends[-1] <= left:
            open_ends.pop()
        if open_ends and open_ends[-1] < right:
            return False
        open_ends.append(right)
    return True

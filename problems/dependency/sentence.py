"""Sentences and dependency trees: tokens with their tags, heads, and what makes heads a tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from colgen import InputError

Heads = tuple[int, ...]
"""The head of each token, tokens counted from 1; 0 is the artificial root."""


@dataclass(frozen=True)
class Sentence:
    """The tokens of a sentence in order; token i of the text is at position i - 1 of each tuple.

    Parameters
    ----------
    forms
        The words; none is empty.
    lemmas, coarse, fine
        One a token, ``"_"`` where unknown; an empty tuple stands for all unknown.
    morphology
        Of each token, ``{feature: value}``.
    heads
        Of each token: the number of its head, counted from 1, 0 for the root; None where nobody has parsed it.
    relations
        Of each token, what it is to its head; None where nobody has said.
    lines
        The lines of the file that it was read from, comments and multiword tokens included; only the writers look.

    Raises
    ------
    InputError
        If there is no token, a form is empty, the tuples differ in length, the heads are not a tree, or there are
        relations without heads.
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
            raise InputError("a sentence has one token or more, this one has none")
        if not all(self.forms):
            raise InputError(f"token {self.forms.index('') + 1}: expected a form of one character or more")
        for name in ("lemmas", "coarse", "fine"):
            if not getattr(self, name):
                object.__setattr__(self, name, ("_",) * length)
        if not self.morphology:
            object.__setattr__(self, "morphology", ({},) * length)
        for name in ("lemmas", "coarse", "fine", "morphology"):
            if len(getattr(self, name)) != length:
                raise InputError(f"expected {name} for {length} tokens, there are {len(getattr(self, name))}")
        if self.heads is not None:
            check_tree(self.heads, length)
        if self.relations is not None:
            if self.heads is None:
                raise InputError("relations are those of tokens to their heads, and the heads are missing")
            if len(self.relations) != length:
                raise InputError(f"expected relations for {length} tokens, there are {len(self.relations)}")

    def __len__(self) -> int:
        """The number of tokens, the root not counted."""
        return len(self.forms)

    def with_heads(self, heads: Sequence[int], relations: Sequence[str] | None = None) -> Sentence:
        """The sentence with these heads and relations."""
        told = None if relations is None else tuple(relations)
        return replace(self, heads=tuple(int(head) for head in heads), relations=told)

    @property
    def num_roots(self) -> int:
        """How many tokens hang from the root; 0 where nobody has parsed the sentence."""
        return 0 if self.heads is None else self.heads.count(0)

    @property
    def is_projective(self) -> bool:
        """Whether the sentence has heads and its tree is projective."""
        return self.heads is not None and is_projective(self.heads)


def check_tree(heads: Sequence[int], length: int | None = None, *, single_root: bool = False) -> None:
    """Check that heads are a tree over the tokens 1, 2, ... with the root 0.

    Parameters
    ----------
    length
        How many tokens there must be, if that is known.
    single_root
        Demand that exactly one token hangs from the root.

    Raises
    ------
    InputError
        Naming the first token at fault.
    """
    n = len(heads)
    if length is not None and n != length:
        raise InputError(f"expected heads for {length} tokens, there are {n}")
    for token, head in enumerate(heads, 1):
        if not 0 <= head <= n:
            raise InputError(f"token {token}: expected a head from 0 to {n}, not {head}")
    cycle = find_cycle(heads)
    if cycle:
        raise InputError(f"the heads of tokens {', '.join(map(str, cycle))} form a cycle")
    roots = [token for token, head in enumerate(heads, 1) if head == 0]
    if single_root and len(roots) != 1:
        raise InputError(f"expected one token whose head is 0, there are {len(roots)}: {', '.join(map(str, roots))}")


def find_cycle(heads: Sequence[int]) -> list[int]:
    """Tokens of a cycle in the order of their heads, from its smallest token on; empty if the heads are a tree."""
    cycle = cycle_of_arcs(dict(enumerate(heads, 1)))
    first = cycle.index(min(cycle)) if cycle else 0
    return cycle[first:] + cycle[:first]


def cycle_of_arcs(tails: Mapping[int, int]) -> list[int]:
    """The members of a cycle of one arc into each vertex but 0, each followed by its tail; empty if there is none."""
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
    """Whether every token between a head and its modifier descends from that head: no two arcs cross, the root's too.

    Takes time O(n²) at most; heads must be a tree.
    """
    arcs = [(min(head, token), max(head, token)) for token, head in enumerate(heads, 1)]
    # Arcs by their left ends, the longer first: an open arc that ends inside the next one crosses it.
    open_ends: list[int] = []
    for left, right in sorted(arcs, key=lambda arc: (arc[0], -arc[1])):
        while open_ends and open_ends[-1] <= left:
            open_ends.pop()
        if open_ends and open_ends[-1] < right:
            return False
        open_ends.append(right)
    return True

"""Sentences on the command line of the parsers: the options of their trees, CoNLL lines, plain data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from colgen.cli.option import Number, Option
from colgen.cli.template import Material, Texts
from colgen.problems.dependency.conll import conll_lines, parse_conll, read_conll
from colgen.problems.dependency.sentence import Sentence

SENTENCE = Option("number of the sentence to solve, counted from 1; all of them by default", number=Number.WHOLE)


@dataclass(frozen=True)
class Tree:
    """A tree that a parser has found.

    Attributes
    ----------
    sentence
        With the heads and relations of the tree.
    is_optimal
        Whether it is proved that no tree after it in a list scores more.
    """

    sentence: Sentence
    score: float
    is_optimal: bool = True


class Sentences(Texts[Sentence]):
    """The sentences of a text in CoNLL-U or CoNLL-X, scored by a trained model, and which trees are wanted of them.

    Attributes
    ----------
    best
        How many trees.
    projective, single_root
        Whether they must be projective, and have one root; None: as the model states.
    """

    unit = "sentence"
    options: ClassVar[Mapping[str, Option]] = {
        "sentence": SENTENCE,
        "best": Option("how many trees, best first; 1 by default", number=Number.WHOLE),
        "projective": Option(
            "yes: the best of the projective trees; no: the best of all trees; by default what the model says",
            {"yes": True, "no": False},
        ),
        "roots": Option(
            "one: one word hangs from the root; any: as many as is best; by default what the model says",
            {"one": True, "any": False},
        ),
    }

    @property
    def best(self) -> int:
        return int(self.values.get("best", 1))

    @property
    def projective(self) -> bool | None:
        return self.values.get("projective")

    @property
    def single_root(self) -> bool | None:
        return self.values.get("roots")

    def read(self, material: Material) -> Iterable[Sentence]:
        """Return the sentences of a file, once all of it has been read; those of the standard input as they come."""
        if material.path is not None:
            return read_conll(material.path, skip=material.skip)
        return parse_conll(material.lines(), name=material.name, skip=material.skip)


def tree_lines(sentence: Sentence, trees: Sequence[Tree], *, listed: bool = False) -> list[str]:
    """Return a sentence with its trees, one below the other; without heads if there is none.

    Parameters
    ----------
    listed
        State the score of each tree in a comment, and whether it is proved.
    """
    lines = [] if trees else [*conll_lines(replace(sentence, heads=None, relations=None)), ""]
    for number, tree in enumerate(trees, 1):
        if listed:
            unproved = "" if tree.is_optimal else ", not proved"
            lines.append(f"# tree {number} of {len(trees)}, score {tree.score:.6g}{unproved}")
        lines += [*conll_lines(tree.sentence), ""]
    return lines


def tree_data(trees: Sequence[Tree], *, listed: bool = False) -> Any:
    """Return trees as plain data for JSON: a list of them if ``listed``, else the one that there is, or None."""
    data = [heads_data(tree.sentence.forms, tree.sentence.heads or (), tree.sentence.relations) for tree in trees]
    return data or None if listed else data[0] if data else None


def heads_data(
    words: Sequence[str | None], heads: Sequence[int], relations: Sequence[str] | None = None
) -> list[dict[str, int | str | None]]:
    """Return a tree as plain data for JSON."""
    data: list[dict[str, int | str | None]] = [
        {"number": number, "word": word, "head": head}
        for number, (word, head) in enumerate(zip(words, heads, strict=True), 1)
    ]
    for token, relation in zip(data, relations or (), strict=bool(relations)):
        token["relation"] = relation
    return data

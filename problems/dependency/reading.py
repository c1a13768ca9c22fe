"""Sentences on the parsers' command line: options of trees, CoNLL lines and JSON data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from colgen.cli.option import Number, Option
from colgen.cli.template import Material, Texts
from colgen.problems.dependency.conll import conll_lines, parse_conll, read_conll
from colgen.problems.dependency.sentence import Sentence

SENTENCE = Option("number of the sentence to solve, starting from 1; all by default", number=Number.WHOLE)


@dataclass(frozen=True)
class Tree:
    """A tree found by a parser; ``is_optimal`` if it is proved that no later tree in a list scores more."""

    sentence: Sentence
    score: float
    is_optimal: bool = True


class Sentences(Texts[Sentence]):
    """Sentences of a text in CoNLL-U or CoNLL-X, scored by a trained model, with options for their trees.

    ``best`` is the number of trees; ``projective`` and ``single_root`` are None to follow the model.
    """

    unit = "sentence"
    options: ClassVar[Mapping[str, Option]] = {
        "sentence": SENTENCE,
        "best": Option("number of trees, best first; 1 by default", number=Number.WHOLE),
        "projective": Option(
            "yes: the best projective tree; no: the best of all trees; by default as in the model",
            {"yes": True, "no": False},
        ),
        "roots": Option(
            "one: one word is attached to the root; any: any number; by default as in the model",
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
        """Return all sentences of a file, or yield those of the standard input as they arrive."""
        if material.path is not None:
            return read_conll(material.path, skip=material.skip)
        return parse_conll(material.lines(), name=material.name, skip=material.skip)


def tree_lines(sentence: Sentence, trees: Sequence[Tree], *, listed: bool = False) -> list[str]:
    """Return a sentence with each of its trees as lines; without heads if there is no tree.

    ``listed``: add a comment to each tree with its score and whether it is proved.
    """
    lines = [] if trees else [*conll_lines(replace(sentence, heads=None, relations=None)), ""]
    for number, tree in enumerate(trees, 1):
        if listed:
            unproved = "" if tree.is_optimal else ", not proved"
            lines.append(f"# tree {number} of {len(trees)}, score {tree.score:.6g}{unproved}")
        lines += [*conll_lines(tree.sentence), ""]
    return lines


def tree_data(trees: Sequence[Tree], *, listed: bool = False) -> Any:
    """Return trees as JSON data: a list if ``listed``, else the first tree or None."""
    data = [heads_data(tree.sentence.forms, tree.sentence.heads or (), tree.sentence.relations) for tree in trees]
    return data or None if listed else data[0] if data else None


def heads_data(
    words: Sequence[str | None], heads: Sequence[int], relations: Sequence[str] | None = None
) -> list[dict[str, int | str | None]]:
    """Return a tree as JSON data."""
    data: list[dict[str, int | str | None]] = [
        {"number": number, "word": word, "head": head}
        for number, (word, head) in enumerate(zip(words, heads, strict=True), 1)
    ]
    for token, relation in zip(data, relations or (), strict=bool(relations)):
        token["relation"] = relation
    return data

"""What the parsers' commands read and write: sentences from a file or the standard input, trees as plain data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from colgen import InputError
from colgen.cli.template import Material, whole_number
from colgen.problems.dependency.conll import parse_conll, read_conll
from colgen.problems.dependency.sentence import Sentence

SENTENCE = "number of the sentence to solve, counted from 1; all of them by default"
"""The option that chooses one of the sentences."""

TREES = {
    "best": "how many trees, best first; 1 by default",
    "projective": "yes: the best of the projective trees; no: the best of all trees; by default what the model says",
    "roots": "one: one word hangs from the root; any: as many as is best; by default what the model says",
}
"""The options that say which trees are wanted."""


@dataclass(frozen=True)
class WantedTrees:
    """Which trees the command line asks for.

    Attributes
    ----------
    best
        How many.
    projective, single_root
        Whether they must be projective, and have one root; None: what the model says.
    """

    best: int = 1
    projective: bool | None = None
    single_root: bool | None = None

    @staticmethod
    def of(options: Mapping[str, str]) -> WantedTrees:
        """What the options of ``TREES`` say.

        Raises
        ------
        InputError
            If one has an impossible value.
        """
        return WantedTrees(
            whole_number(options, "best", 1),
            _either(options, "projective", "yes", "no"),
            _either(options, "roots", "one", "any"),
        )


def _either(options: Mapping[str, str], name: str, true: str, false: str) -> bool | None:
    value = options.get(name)
    if value not in (None, true, false):
        raise InputError(f"option {name}: expected {true} or {false}, not {value!r}")
    return None if value is None else value == true


def read_sentences(material: Material) -> Iterable[Sentence]:
    """A file's sentences, once all of it has been read; those of the standard input as they come."""
    if material.path is not None:
        return read_conll(material.path, skip=material.skip)
    return parse_conll(material.lines(), name=material.name, skip=material.skip)


def choose_sentence(material: Material, options: Mapping[str, str]) -> Sentence:
    """The sentence whose number the option ``sentence`` says.

    Raises
    ------
    InputError
        If there is no such sentence, or the material is something else.
    """
    number = whole_number(options, "sentence", 1)
    sentences = list(read_sentences(material))
    if number > len(sentences):
        raise InputError(
            f"option sentence: {material.name} has {len(sentences)} sentences, there is no number {number}"
        )
    return sentences[number - 1]


def heads_data(
    words: Sequence[str | None], heads: Sequence[int], relations: Sequence[str] | None = None
) -> list[dict[str, int | str | None]]:
    """A tree as plain data for JSON."""
    data: list[dict[str, int | str | None]] = [
        {"number": number, "word": word, "head": head}
        for number, (word, head) in enumerate(zip(words, heads, strict=True), 1)
    ]
    for token, relation in zip(data, relations or (), strict=bool(relations)):
        token["relation"] = relation
    return data

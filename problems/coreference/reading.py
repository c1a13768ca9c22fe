"""What the command line reads: score matrices, and texts with a trained model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from colgen import InputError
from colgen.template import check_options
from problems.coreference.conll import Document, read_conll
from problems.coreference.instance import Instance, read_matrix
from problems.coreference.learning import KINDS, Scorer

OPTIONS = {
    "scores": "probability (p - 1/2, the default) or log_odds",
    "bias": "a number added to all scores, or 'tuned'; 0 by default",
    "document": "name of the document, of a file that holds several",
    "mentions": "the document is cut at its first so many mentions",
}


def read_instance(path: Path) -> Instance:
    """Read a score matrix, ``.npy`` or ``.npz``.

    Raises
    ------
    InputError
        If the file is something else; of a text it says how to get a model.
    """
    if path.suffix in (".npy", ".npz"):
        return read_matrix(path)
    with path.open("rb"):  # a file that is not there is the first thing to say
        raise InputError(
            f"{path}: a text needs a trained model, `colgen train coreference --data DIR --model FILE` makes one "
            f"and --model FILE takes it; a score matrix ends in .npy or .npz"
        )


def score_instance(path: Path, model: Path, options: Mapping[str, str]) -> Instance:
    """The instance of a document in a CoNLL file, scored by a trained model.

    Parameters
    ----------
    options
        See ``OPTIONS``.

    Raises
    ------
    InputError
        If a file is something else, or an option is unknown or has an impossible value.
    """
    check_options(options, OPTIONS)
    kind = options.get("scores", KINDS[0])
    if kind not in KINDS:
        raise InputError(f"option scores: expected {' or '.join(KINDS)}, not {kind!r}")
    scorer = Scorer.load(model)
    bias = scorer.bias[kind] if options.get("bias") == "tuned" else _number("bias", options.get("bias", "0"))
    document = choose_document(path, read_conll(path), options.get("document"))
    if "mentions" in options:
        count = options["mentions"]
        if not (count.isascii() and count.isdigit() and int(count)):
            raise InputError(f"option mentions: expected a whole number, one or more, not {count!r}")
        document = document.truncated(int(count))
    return scorer.instance(document, kind, bias=bias)


def choose_document(path: Path, documents: Sequence[Document], name: str | None) -> Document:
    """The document of that name; a file with one document needs none."""
    if name is None and len(documents) == 1:
        return documents[0]
    names = _names(documents)
    if name in names:
        return documents[names.index(name)]
    asked = (
        f"{path} holds {len(documents)} documents: say option document=NAME"
        if name is None
        else (f"{path}: there is no document {name!r}")
    )
    raise InputError(f"{asked}; there are {', '.join(names)}")


def _names(documents: Sequence[Document]) -> list[str]:
    """Names of the documents; where several have one name, with their part."""
    names = [document.name for document in documents]
    return [d.name if names.count(d.name) == 1 else f"{d.name};{d.part}" for d in documents]


def _number(option: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(f"option {option}: expected a number, or 'tuned', not {text!r}") from None

"""What the command line reads: score matrices, and texts with a trained model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from colgen import InputError
from colgen.cli.template import Material, check_options, whole_number
from colgen.core.array_files import arrays_in
from colgen.core.files import check_readable
from colgen.problems.coreference.conll import parse_conll, read_conll
from colgen.problems.coreference.document import Document
from colgen.problems.coreference.instance import CoreferenceInstance, read_matrix
from colgen.problems.coreference.learning import KINDS, MentionScorer

OPTIONS = {
    "scores": "probability (p - 1/2, the default) or log_odds",
    "bias": "a number added to all scores, or 'tuned'; 0 by default",
    "document": "name of the document to solve, of a file that holds several; all of them by default",
    "mentions": "the document is cut at its first so many mentions",
}


def read_instance(path: Path) -> CoreferenceInstance:
    """Read a score matrix, ``.npy`` or ``.npz``.

    Raises
    ------
    InputError
        If the file is something else; of a text it says how to get a model.
    """
    if path.suffix in (".npy", ".npz"):
        return read_matrix(path)
    check_readable(path)  # a file that is not there is the first thing to say
    raise InputError(
        f"{path}: a text needs a trained model, `colgen train coreference --data DIR --model FILE` makes one "
        f"and --model FILE takes it; a score matrix ends in .npy or .npz"
    )


def is_model(path: Path) -> bool:
    """Whether a file is a trained model, of any version."""
    return "about" in arrays_in(path)


def score_instance(material: Material, model: Path, options: Mapping[str, str]) -> CoreferenceInstance:
    """The instance of a document in the CoNLL columns, scored by a trained model.

    Parameters
    ----------
    options
        See ``OPTIONS``.

    Raises
    ------
    InputError
        If a file is something else, or an option is unknown or has an impossible value.
    """
    score = scorer_of(model, options)
    return score(choose_document(material.name, read_documents(material), options.get("document")))


def scorer_of(model: Path, options: Mapping[str, str]) -> Callable[[Document], CoreferenceInstance]:
    """What scores documents as a trained model and options say."""
    check_options(options, OPTIONS)
    kind = options.get("scores", KINDS[0])
    if kind not in KINDS:
        raise InputError(f"option scores: expected {' or '.join(KINDS)}, not {kind!r}")
    most = whole_number(options, "mentions", 1) if "mentions" in options else None
    scorer = MentionScorer.load(model)
    bias = scorer.bias[kind] if options.get("bias") == "tuned" else _number("bias", options.get("bias", "0"))

    def score(document: Document) -> CoreferenceInstance:
        return scorer.instance(document if most is None else document.truncated(most), kind, bias=bias)

    return score


def read_documents(material: Material) -> list[Document]:
    """All documents of a file or of the standard input."""
    if material.path is not None:
        return read_conll(material.path, skip=material.skip)
    documents = list(parse_conll(material.text.split("\n"), name=material.name, skip=material.skip))
    if not documents:
        raise InputError(f"{material.name}: expected a line '#begin document (NAME); part NUMBER', there is none")
    return documents


def choose_document(source: str, documents: Sequence[Document], name: str | None) -> Document:
    """The document of that name; where there is one document, it needs none."""
    if name is None and len(documents) == 1:
        return documents[0]
    names = _names(documents)
    if name in names:
        return documents[names.index(name)]
    asked = (
        f"{source} holds {len(documents)} documents: say option document=NAME"
        if name is None
        else f"{source}: there is no document {name!r}"
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

"""UDPipe 1, with its own defaults, learns from the same sentences as the pipeline.

Source: M. Straka, J. Straková, *Tokenizing, POS tagging, lemmatizing and parsing UD 2.0 with UDPipe*, CoNLL 2017 shared
task (2017).  Its Python package is ``ufal.udpipe``.
"""

from __future__ import annotations

import importlib.util
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from colgen import InputError
from colgen.core.errors import ColgenError
from colgen.problems.dependency.conll import conll_lines, parse_conll
from colgen.problems.dependency.sentence import Sentence


def is_installed() -> bool:
    """Whether UDPipe's package is there."""
    return importlib.util.find_spec("ufal") is not None and importlib.util.find_spec("ufal.udpipe") is not None


class UDPipe:
    """A model of UDPipe.

    Parameters
    ----------
    learn, tune
        Annotated sentences; what is tuned on decides when UDPipe stops, as its manual advises.

    Raises
    ------
    ColgenError
        If UDPipe says that it could not learn.
    """

    def __init__(self, learn: Sequence[Sentence], tune: Sequence[Sentence]) -> None:
        import ufal.udpipe as udpipe

        error, default = udpipe.ProcessingError(), udpipe.Trainer.DEFAULT
        told = _sentences(learn), _sentences(tune)
        model = udpipe.Trainer.train("morphodita_parsito", *told, default, default, default, error)
        if error.occurred():
            raise ColgenError(f"UDPipe: {error.message}")
        with tempfile.TemporaryDirectory() as folder:  # models are loaded from files alone
            path = Path(folder) / "model"
            path.write_bytes(model)
            self._model = udpipe.Model.load(str(path))
        self._pipeline = udpipe.Pipeline(self._model, "tokenize", default, default, "conllu")

    def conllu(self, paragraphs: Sequence[str]) -> str:
        """The analysis of raw text."""
        import ufal.udpipe as udpipe

        error = udpipe.ProcessingError()
        found = self._pipeline.process("\n\n".join(paragraphs), error)
        if error.occurred():
            raise ColgenError(f"UDPipe: {error.message}")
        return str(found)


def _sentences(sentences: Sequence[Sentence]) -> Any:
    """Sentences as UDPipe's own."""
    import ufal.udpipe as udpipe

    reader, error = udpipe.InputFormat.newConlluInputFormat(), udpipe.ProcessingError()
    reader.setText("".join("\n".join(conll_lines(sentence)) + "\n\n" for sentence in sentences))
    read, sentence = udpipe.Sentences(), udpipe.Sentence()
    while reader.nextSentence(sentence, error):
        read.push_back(sentence)
        sentence = udpipe.Sentence()
    if error.occurred():
        raise InputError(f"UDPipe: {error.message}")
    return read


def read_back(conllu: str) -> list[Sentence]:
    """The sentences of an analysis."""
    return list(parse_conll(conllu.split("\n"), name="UDPipe"))

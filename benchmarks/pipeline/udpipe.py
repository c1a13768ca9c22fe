"""Train and run UDPipe 1 with its defaults.

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
    """Return whether UDPipe's package is installed."""
    return importlib.util.find_spec("ufal") is not None and importlib.util.find_spec("ufal.udpipe") is not None


class UDPipe:
    """A UDPipe model, trained on ``learn``; its accuracy on ``tune`` decides when it stops, as its manual recommends.

    Raise ColgenError if UDPipe reports an error.
    """

    def __init__(self, learn: Sequence[Sentence], tune: Sequence[Sentence]) -> None:
        import ufal.udpipe as udpipe

        error, default = udpipe.ProcessingError(), udpipe.Trainer.DEFAULT
        data = _convert(learn), _convert(tune)
        model = udpipe.Trainer.train("morphodita_parsito", *data, default, default, default, error)
        if error.occurred():
            raise ColgenError(f"UDPipe: {error.message}")
        with tempfile.TemporaryDirectory() as folder:  # UDPipe loads models only from files
            path = Path(folder) / "model"
            path.write_bytes(model)
            self._model = udpipe.Model.load(str(path))
        self._pipeline = udpipe.Pipeline(self._model, "tokenize", default, default, "conllu")

    def conllu(self, paragraphs: Sequence[str]) -> str:
        """Analyse raw text and return CoNLL-U."""
        import ufal.udpipe as udpipe

        error = udpipe.ProcessingError()
        output = self._pipeline.process("\n\n".join(paragraphs), error)
        if error.occurred():
            raise ColgenError(f"UDPipe: {error.message}")
        return str(output)


def _convert(sentences: Sequence[Sentence]) -> Any:
    """Convert sentences into UDPipe's type."""
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


def parse_output(conllu: str) -> list[Sentence]:
    """Return the sentences of an analysis."""
    return list(parse_conll(conllu.split("\n"), name="UDPipe"))

"""The command line for paths of k vertices and for titles."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from functools import cache, partial
from math import perm
from pathlib import Path as FilePath
from typing import Any, ClassVar

import numpy as np

from colgen.cli.demonstration import Complete, demonstrations
from colgen.cli.option import Number, Option
from colgen.cli.template import Material, Template, Texts
from colgen.problems.title_path.baseline import exhaustive
from colgen.problems.title_path.drawing import draw_path
from colgen.problems.title_path.files import read, write
from colgen.problems.title_path.instance import Path, PathInstance, random
from colgen.problems.title_path.language import estimate
from colgen.problems.title_path.learning import NUM_AUXILIARY, TitleModel, title_graph
from colgen.problems.title_path.paragraphs import PARAGRAPHS
from colgen.problems.title_path.sections import Section, docstrings, read_file
from colgen.problems.title_path.selection import count_stems, features, find_stems
from colgen.problems.title_path.template import TitlePath
from colgen.problems.title_path.text import ARTICLES, PREPOSITIONS, sentences
from colgen.problems.title_path.training import train_from_folder


def _title(instance: PathInstance, path: Path) -> str:
    return " ".join(map(str, instance.words(path)))


def _lines(instance: PathInstance, path: Path) -> list[str]:
    lines = [_title(instance, path), ""]
    steps = [float(instance.first[path[0]])]
    steps += [float(instance.weights[u, v]) for u, v in itertools.pairwise(path)]
    width = max(len(str(instance.labels[v])) for v in path)
    for v, weight in zip(path, steps, strict=True):
        lines.append(f"  {instance.labels[v]!s:{width}}  {weight:10.4f}")
    lines.append(f"  {'(end)':{width}}  {float(instance.last[path[-1]]):10.4f}")
    return lines


def _data(instance: PathInstance, path: Path) -> dict[str, Any]:
    return {
        "words": [str(word) for word in instance.words(path)],
        "path": [{"vertex": v, "label": str(instance.labels[v]), "class": str(instance.classes[v])} for v in path],
    }


class Sections(Texts[Section]):
    """The sections of a text, for whose titles a trained model scores words."""

    unit = "section"
    saved = TitleModel
    solves_single = True
    options: ClassVar[Mapping[str, Option]] = {
        "length": Option(
            "content words of the title; by default those of the section's own title, or the model's median",
            number=Number.WHOLE,
        ),
        "section": Option(
            "number of the section in a file of JSON lines, counted from 1; all of them by default",
            number=Number.WHOLE,
        ),
    }

    def __init__(self, model: FilePath, values: Mapping[str, Any]) -> None:
        super().__init__(model, values)
        self._trained = TitleModel.load(model)

    def read(self, material: Material) -> list[Section]:
        """Return the sections of a file of JSON lines; any other text is one section without a title."""
        if material.path is not None and material.path.suffix == ".jsonl":
            return read_file(material.path)
        return [Section("", material.text, "text" if material.path is None else material.path.stem)]

    def instance(self, text: Section) -> PathInstance:
        """Return the graph of a section."""
        length = self.values.get("length")
        if length is None and text.title:
            length = text.num_content_words or None
        return self._trained.instance(text.text, length, text.name)

    def lines(self, instance: PathInstance, answer: Path | None) -> list[str]:
        """Return the title of a section."""
        return [""] if answer is None else [_title(instance, answer)]


# --- demo: titles of the project's own docstrings, because other packages vary between installations -----------------

_SECTIONS = 40
"""Number of docstrings from which scores are estimated."""

_TF_IDF = 7
"""Column of tf-idf in the features."""


def docstring_graph(package: str, num_words: int, length: int) -> PathInstance:
    """Return the graph of the docstring in a package whose number of content words is closest to ``num_words``."""
    sections = _sections(package)
    chosen = min(sections, key=lambda one: abs(len(find_stems(one.text).words) - num_words))
    return tf_idf_graph(chosen, sections, length)


def tf_idf_graph(section: Section, sections: Sequence[Section], length: int) -> PathInstance:
    """Return the graph of a text whose words are scored by the log of their tf-idf, relative to the largest.

    It needs neither a corpus nor the extra ``learning``. Document frequencies and bigrams are estimated from
    ``sections``.
    """
    stems, x = features(section.text, count_stems(sections))
    share = np.log(np.maximum(x[:, _TF_IDF], 1e-3))[list(stems.stem_of_word)]
    parts = [[word.lower() for word in part] for one in sections for part in sentences(one.text)]
    present = {word for part in parts for word in part}
    auxiliary = sorted((ARTICLES | PREPOSITIONS) & present)[:NUM_AUXILIARY]
    classes = tuple(stems.stems[k] for k in stems.stem_of_word)
    return title_graph(stems.words, share, classes, estimate(parts), auxiliary, length, section.name)


@cache
def _sections(package: str) -> list[Section]:
    return docstrings((package,), most=_SECTIONS)


def _complete(instance: PathInstance) -> Complete:
    return exhaustive(instance).objective, True


DEMO = demonstrations(
    *(partial(tf_idf_graph, paragraph, PARAGRAPHS, 3) for paragraph in PARAGRAPHS),
    small=lambda: random(5, 2, 0),
    problem=TitlePath,
    brute_force="all paths",
    complete=_complete,
    possible=lambda instance: perm(instance.num_vertices, instance.length),
    used=lambda problem, result: len(result.iterations),  # the master chooses one walk per round
    named=lambda instance, path: f"{instance.name}: {_title(instance, path)}",
)

TEMPLATE = Template(
    name="title_path",
    title="Selection and ordering: the best path of k vertices, no two of one class; titles of texts",
    source="Deshpande, Barzilay and Karger (2007)",
    problem=TitlePath,
    read=read,
    suffixes=(".json",),
    example=lambda path: write(random(8, 4, 0), path),
    lines=_lines,
    data=_data,
    draw=lambda instance, path: draw_path(instance, path, title=_title(instance, path)),
    texts=Sections,
    train=train_from_folder,
    demo=DEMO,
    compiling=5.0,
)

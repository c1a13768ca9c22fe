"""What the command line reads: graphs, and texts with a trained model."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from colgen import InputError
from colgen.cli.template import Material, check_options, whole_number
from colgen.core.array_files import arrays_in
from colgen.core.files import check_readable
from colgen.problems.title_path.files import read
from colgen.problems.title_path.instance import PathInstance
from colgen.problems.title_path.learning import TitleModel
from colgen.problems.title_path.sections import Section, read_file

OPTIONS = {
    "length": "content words of the title; by default those of the section's own title, or the model's median",
    "section": "number of the section to solve, of a file of JSON lines, counted from 1; all of them by default",
}


def read_instance(path: Path) -> PathInstance:
    """Read a graph in JSON.

    Raises
    ------
    InputError
        If the file is something else; of a text it says how to get a model.
    """
    if path.suffix == ".json":
        return read(path)
    check_readable(path)  # a file that is not there is the first thing to say
    raise InputError(
        f"{path}: a text needs a trained model, `colgen train title_path --data DIR --model FILE` makes one and "
        f"--model FILE takes it; a graph ends in .json"
    )


def is_model(path: Path) -> bool:
    """Whether a file is a trained model, of any version."""
    return "about" in arrays_in(path)


def score_instance(material: Material, model: Path, options: Mapping[str, str]) -> PathInstance:
    """The graph of a text, or of a section in a file of JSON lines, scored by a trained model; options see ``OPTIONS``.

    Raises
    ------
    InputError
        If a file is something else, or an option is unknown or has an impossible value.
    """
    check_options(options, OPTIONS)
    number, trained = whole_number(options, "section", 1), TitleModel.load(model)
    sections = read_sections(material)
    if number > len(sections):
        raise InputError(f"option section: {material.name} has {len(sections)} sections, there is no number {number}")
    return section_instance(trained, sections[number - 1], options)


def read_sections(material: Material) -> list[Section]:
    """The sections of a file of JSON lines; any other text is one section, without a title."""
    if material.path is not None and material.path.suffix == ".jsonl":
        return read_file(material.path)
    return [Section("", material.text, "text" if material.path is None else material.path.stem)]


def section_instance(model: TitleModel, section: Section, options: Mapping[str, str]) -> PathInstance:
    """The graph of a section; the length of its title as the options say, or as its own title has it."""
    length = whole_number(options, "length", 1) if "length" in options else None
    if length is None and section.title:
        length = section.num_content_words or None
    return model.instance(section.text, length, section.name)

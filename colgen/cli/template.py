"""Templates for the command line, found by the entry-point group ``colgen.templates``."""

from __future__ import annotations

import ast
import contextlib
import inspect
import re
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeVar

from colgen.cli.option import Option, option_values
from colgen.core.errors import ColgenError, InputError
from colgen.core.files import check_readable
from colgen.core.lazy_imports import import_name
from colgen.core.signals import raising_signals
from colgen.core.text import meant, plural

if TYPE_CHECKING:  # the list of templates does not need the engine, which takes most of a second to import
    from colgen.core.result import Result, Termination
    from colgen.core.stop import StopRule
    from colgen.learning.models import SavedModel
    from colgen.problem import Problem

GROUP = "colgen.templates"


@dataclass(frozen=True)
class Figure:
    """One measured figure: a line of a benchmark's table, an object of its JSON.

    Attributes
    ----------
    n
        Number of measurements of which the value is the median, mean or sum.
    note
        What was measured, in a few words; not part of the JSON.
    """

    name: str
    value: float
    unit: str
    n: int
    note: str = ""


@dataclass(frozen=True)
class DemoLine:
    """One line of ``colgen demo``: an instance solved by brute force and by column generation.

    ``columns_used`` were generated, and ``columns_possible`` are in the complete formulation. ``brute_force_seconds``
    is None if brute force was not run, and ``dual_bound`` if column generation proved its objective.
    ``brute_force_proved`` states whether brute force proved its objective optimal, or only found it before a limit.
    ``unit`` is that of the objective: ``"rolls"``.
    """

    instance: str
    objective: float
    brute_force_objective: float | None
    proof: str
    columns_used: int
    columns_possible: int
    brute_force: str
    brute_force_seconds: float | None
    seconds: float
    dual_bound: float | None = None
    brute_force_proved: bool = True
    unit: str = ""


@dataclass(frozen=True)
class TrainOptions:
    """The arguments of ``colgen train``.

    Attributes
    ----------
    data
        Folder of annotated data; with single files, the folder of ``train``.
    model
        File for the trained model.
    train, dev
        Single files to learn from and to tune on, if given.
    options
        Values of ``--option`` by name, as the template declares them.
    seed
        Seed of all random numbers.
    quick
        Whether to learn from little data, for a trial run.
    say
        Called with lines that report progress.
    skip
        Called with a message for each malformed document, which is then skipped. None: such a document is an error.
    """

    data: Path
    model: Path
    seed: int = 0
    quick: bool = False
    say: Callable[[str], None] = print
    train: Path | None = None
    dev: Path | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    skip: Callable[[str], None] | None = None

    @property
    def state(self) -> Path:
        """The file from which an interrupted training continues."""
        return self.model.with_name(f"{self.model.name}.training")


class Saves(Protocol):
    """An object that can be written to a file."""

    def save(self, path: Path) -> object:
        """Write the object."""
        ...


@dataclass(frozen=True)
class TrainedModel:
    """A trained model; ``measure`` computes its quality and is called after the model was written."""

    model: Saves
    measure: Callable[[], Iterable[Figure]]


@dataclass(frozen=True)
class Material:
    """Raw text for a trained model: a file, or standard input (``path`` None).

    ``skip`` is called with a message for each malformed document, which is skipped; None: that is an error.
    """

    path: Path | None = None
    skip: Callable[[str], None] | None = None

    @property
    def name(self) -> str:
        """Name for messages."""
        return "the standard input" if self.path is None else str(self.path)

    @property
    def is_typed(self) -> bool:
        """Whether the text is typed on a terminal, so that each line needs an answer at once."""
        return self.path is None and sys.stdin.isatty()

    def lines(self) -> Iterator[str]:
        """Yield lines without line ends, as they arrive; raise InputError with the number of a line not in UTF-8."""
        if self.path is None:
            yield from self._decoded(getattr(sys.stdin, "buffer", sys.stdin))
        else:
            check_readable(self.path)
            with self.path.open("rb") as file:
                yield from self._decoded(file)

    def _decoded(self, lines: Iterable[bytes | str]) -> Iterator[str]:
        source, number = iter(lines), 0
        while True:
            with raising_signals():
                line = next(source, None)
            if line is None:
                return
            number += 1
            if isinstance(line, bytes):
                try:
                    line = line.decode("utf-8-sig" if number == 1 else "utf-8")
                except UnicodeDecodeError:
                    raise InputError(f"{self.name}, line {number}: expected a text in UTF-8") from None
            yield line.rstrip("\r\n")

    @cached_property
    def text(self) -> str:
        """The complete text, cached because standard input can be read only once."""
        return "\n".join(self.lines())


@dataclass(frozen=True)
class Solved:
    """The outcome of one of several instances.

    ``lines`` are written at once; ``data`` is the answer as plain data for JSON, or None. ``termination`` OPTIMAL means
    that the answer is proved optimal. ``objective`` and ``dual_bound`` are infinite if there is none; ``bound_source``
    is that of :class:`~colgen.core.result.Result`.

    ``scope`` states which answers were considered (see :class:`Template`). ``given`` states which earlier decisions the
    problem takes as given, such as the tags of a tagger. Both are words that can follow "proved optimal". ``file`` is
    the file of the instance, if there are several.
    """

    lines: Sequence[str]
    data: Any
    termination: Termination
    objective: float
    dual_bound: float
    scope: str = ""
    file: str = ""
    given: str = ""
    bound_source: str = field(default_factory=lambda: import_name("core.result", "OWN"))

    @classmethod
    def of(cls, result: Result, lines: Sequence[str], data: Any, *, scope: str, file: str = "") -> Solved:
        """Return the outcome of a run."""
        values = (result.termination, result.objective, result.dual_bound)
        return cls(lines, data, *values, scope, file, bound_source=result.bound_source)


Text = TypeVar("Text")


class Texts(ABC, Generic[Text]):
    """A trained model that makes instances from texts, for ``colgen solve NAME FILE --model MODEL``.

    Subclasses implement :meth:`read`, :meth:`instance` and :meth:`lines`; the constructor reads the model's file.

    Attributes
    ----------
    unit
        What a text consists of, such as "sentence". The option of this name selects one, which is then solved alone.
    options
        Options of the constructor, by name.
    saved
        Class of the trained model.
    solves_single
        Whether a text with one unit is solved alone without the option.
    """

    unit: ClassVar[str]
    options: ClassVar[Mapping[str, Option]]
    saved: ClassVar[type[SavedModel]]
    solves_single: ClassVar[bool] = False

    def __init__(self, model: Path, values: Mapping[str, Any]) -> None:
        self.model = model
        self.values = values

    @classmethod
    def is_model(cls, path: Path) -> bool:
        """Whether a file is a trained model; ``colgen solve NAME MODEL`` then reads standard input."""
        return cls.saved.is_model(path)

    @abstractmethod
    def read(self, material: Material) -> Iterable[Text]:
        """Return the units of a text; those of standard input as they arrive."""

    @abstractmethod
    def instance(self, text: Text) -> Any:
        """Return the instance of a unit."""

    @abstractmethod
    def lines(self, instance: Any, answer: Any) -> Sequence[str]:
        """Return the lines of one of several units, given its answer or None."""

    def choose(self, texts: Iterable[Text], source: str) -> Text | None:
        """Return the unit to solve alone, or None to solve all; raise InputError if it does not exist."""
        number, count = self.values.get(self.unit), 0
        if number is None:
            single = list(texts) if self.solves_single else []
            return single[0] if len(single) == 1 else None
        for count, text in enumerate(texts, 1):
            if count == number:
                return text
        raise InputError(f"option {self.unit}: {source} has {plural(count, self.unit)}, there is no number {number}")

    def solve(self, template: Template, texts: Iterable[Text], stop: Sequence[StopRule]) -> Iterator[Solved]:
        """Solve the units in order, each with its own stop rules."""
        for text in texts:
            instance = self.instance(text)
            result = import_name("solving", "solve")(template.problem(instance), stop=stop)
            answer = template.answer(instance, result)
            data = None if result.answer is None else template.data(instance, answer)
            yield Solved.of(result, self.lines(instance, answer), data, scope=template.scope(instance))


@dataclass(frozen=True)
class Template:
    """A problem template for the command line.

    Attributes
    ----------
    name, title, source
        Its name, what it solves, and its source, such as a publication.
    problem
        Makes the problem of an instance for ``solve``, with the values of options that are ``of_problem`` as keywords.
    read, options
        Reads an instance from a file, with the value of each other option as a keyword. Raises
        :class:`~colgen.core.errors.InputError` with file and line if it is malformed. Its docstring describes the file.
    suffixes
        Endings of names of such files, if they matter.
    example
        Writes a small instance to a file.
    reading
        How an ambiguous file was read, in a few words; empty if there is only one way.
    answer
        Returns what is printed, written and drawn; by default ``result.answer``.
    lines, data
        Return the answer as lines and as plain data for JSON, given the instance and the answer (not None).
    draw
        Returns the answer as a matplotlib figure, given the same.
    write
        Writes the answer to a file, given the answer and the path; None: the format of answers is JSON alone.
    scope
        Which answers of an instance were considered, if not all, in words that can follow "proved optimal": "among ten
        candidate heads per word".
    texts
        Makes instances from texts by a trained model; None if the template uses no model.
    train, train_options
        For ``colgen train NAME``: returns a model, which the command writes.
    train_files
        Whether training accepts single files (``--train``, ``--dev``) as well as a folder.
    skips
        Whether malformed documents can be skipped (``--skip-bad``).
    variants
        For ``colgen ablation NAME --vary PART``: by part, further methods by name. Each maps a problem to a variant,
        for example with cuts that the template omits.
    demo
        For ``colgen demo``: functions, each of which solves a small instance by brute force and by column generation.
    compiling
        Approximate seconds to compile the kernels of its demo, once per installation; 0 without kernels. ``colgen
        demo`` runs templates in this order.
    """

    name: str
    title: str
    source: str
    problem: Callable[..., Problem]
    read: Callable[..., Any]
    lines: Callable[[Any, Any], Sequence[str]]
    data: Callable[[Any, Any], Any]
    draw: Callable[[Any, Any], Any] | None = None
    write: Callable[[Any, Path], object] | None = None
    options: Mapping[str, Option] = field(default_factory=dict)
    suffixes: Sequence[str] = ()
    example: Callable[[Path], object] | None = None
    reading: Callable[[Any], str] = lambda instance: ""
    answer: Callable[[Any, Result], Any] = lambda instance, result: result.answer
    scope: Callable[[Any], str] = lambda instance: ""
    texts: type[Texts[Any]] | None = None
    train: Callable[[TrainOptions], TrainedModel] | None = None
    train_options: Mapping[str, Option] = field(default_factory=dict)
    train_files: bool = False
    skips: bool = False
    variants: Mapping[str, Mapping[str, Callable[[Any], Problem]]] = field(default_factory=dict)
    demo: Sequence[Callable[[], DemoLine]] = ()
    compiling: float = 0.0

    def instance(self, path: Path, options: Mapping[str, str] | None = None) -> Any:
        """Read an instance from a file with the given options; raise InputError if either is not valid."""
        values = self._values(options, of_problem=False)
        if self.texts is not None and path.suffix not in self.suffixes:
            check_readable(path)  # a missing file is reported first
            raise InputError(
                f"{path}: a text needs a trained model: `colgen train {self.name} --data DIR --model FILE` makes one, "
                f"--model FILE uses it; names of files of scores end in {' or '.join(self.suffixes)}"
            )
        return self.read(path, **values)

    def problem_of(self, instance: Any, options: Mapping[str, str] | None = None) -> Problem:
        """Return the problem of an instance that was read with the same options; raise InputError as above."""
        return self.problem(instance, **self._values(options, of_problem=True))

    def _values(self, options: Mapping[str, str] | None, of_problem: bool) -> dict[str, Any]:
        """Return the values of the options for the problem, or of those for reading; all of them are checked."""
        values = option_values(options or {}, self.options)
        return {name: value for name, value in values.items() if self.options[name].of_problem is of_problem}

    @property
    def suffix(self) -> str:
        """Ending of the name of an example's file."""
        return self.suffixes[0] if self.suffixes else ""

    @property
    def form(self) -> str:
        """Description of an instance's file: the docstring of ``read`` up to the first heading, without markup.

        Each paragraph is one line.
        """
        text = (inspect.getdoc(self.read) or "").split("\n\nParameters\n", 1)[0].split("\n\nRaises\n", 1)[0]
        return _WITHIN.sub(" ", _ROLE.sub(r"\1", text).replace("``", "").strip().removeprefix("Read "))


_ROLE = re.compile(r":\w+:`~?([^`]+)`")
_WITHIN = re.compile(r"(?<!\n)\n(?=\S)")
"""A line break within a paragraph."""


def template_names() -> list[str]:
    """Return the names of the installed templates, without importing them."""
    return sorted(point.name for point in entry_points(group=GROUP))


def check_names(names: Iterable[str]) -> None:
    """Raise InputError for a name that is not an installed template's."""
    known = template_names()
    for name in names:
        if name not in known:
            hint = meant(name, known) or f"; installed are: {', '.join(known) or 'none'}"
            raise InputError(f"there is no template {name!r}{hint}")


def load_template(name: str) -> Template:
    """Return the template of this name."""
    check_names([name])
    (point, *_) = entry_points(group=GROUP, name=name)
    try:
        template = point.load()
    except Exception as error:  # importing another package may raise anything
        raise ColgenError(
            f"the template {name!r} ({point.value}) could not be loaded: {type(error).__name__}: {error}"
        ) from error
    if not isinstance(template, Template):
        raise ColgenError(f"the entry point {point.value!r} of group {GROUP!r} is not a colgen.cli.template.Template")
    return template


def title_of(name: str) -> str:
    """Return what a template solves; its module is imported only if it does not state the title literally."""
    for point in entry_points(group=GROUP, name=name):
        package, *path = point.module.split(".")
        spec = find_spec(package)
        folders = (spec and spec.submodule_search_locations) or ()
        for file in [Path(folder, *path).with_suffix(".py") for folder in folders]:
            with contextlib.suppress(OSError, SyntaxError, ValueError):
                title = _stated_title(ast.parse(file.read_bytes()), point.attr)
                if title is not None:
                    return title
    return load_template(name).title


def _stated_title(module: ast.Module, template: str) -> str | None:
    """Return the title in ``template = Template(title="...")``, as the keyword of any call; None if there is none."""
    for made in module.body:
        if not (isinstance(made, ast.Assign) and isinstance(made.value, ast.Call)):
            continue
        if template in [target.id for target in made.targets if isinstance(target, ast.Name)]:
            words = {each.arg: each.value for each in made.value.keywords}
            title = words.get("title")
            return title.value if isinstance(title, ast.Constant) and isinstance(title.value, str) else None
    return None

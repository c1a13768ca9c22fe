"""A small stub template for tests of commands."""

import dataclasses
from pathlib import Path

from benchmarks.harness import BenchOptions
from colgen import InputError, Termination
from colgen.cli import main as cli
from colgen.cli.option import Option, option_values
from colgen.cli.template import DemoLine, Figure, Material, Solved, Template, Texts, TrainedModel, TrainOptions
from tests.assignment import Assignment, assignment


def read(path: Path) -> Assignment:
    """A file of ``machines tasks seed``."""
    words = path.read_text(encoding="utf-8").split()
    if len(words) != 3 or not all(word.isdigit() for word in words):
        raise InputError(f"{path}, line 1: expected three integers: machines, tasks, seed")
    problem = assignment(*map(int, words))
    if words[2] == "9":
        problem.capacities[:] = 3  # no task fits
    return problem


def lines(instance: Assignment, answer: list) -> list[str]:
    return [f"machine {machine}: tasks {list(tasks)}" for (machine, tasks), _ in answer]


def data(instance: Assignment, answer: list) -> list:
    return [{"machine": machine, "tasks": list(tasks)} for (machine, tasks), _ in answer]


def picture(instance: Assignment, answer: list):
    from matplotlib.figure import Figure

    return Figure()


def demo(brute_force: float | None = 12.0, objective: float = 12.0, **more):
    line = DemoLine(
        "three [small] tasks",
        objective,
        brute_force,
        "Proved optimal.",
        7,
        1234,
        "all of them",
        0.5,
        0.01234,
        unit="sets",
    )
    return lambda: dataclasses.replace(line, **more)


def engine(options: BenchOptions) -> list[Figure]:
    options.say("measuring")
    quick = 1.0 if options.quick else 2.0
    return [
        Figure("rounds", 1234567.0, "1/s", 3, "more is better"),
        Figure("time", 0.0123456, "s", 5),
        Figure("quick", quick, "", 1),
        Figure("none", float("inf"), "s", 0),
    ]


class Nothing:
    """A model that stores its options."""

    def __init__(self, options: TrainOptions) -> None:
        self.text = f"{options.data.name} {options.seed} {options.quick}"

    def save(self, path: Path) -> None:
        path.write_text(self.text, encoding="utf-8")


def train(options: TrainOptions) -> TrainedModel:
    """Learns nothing."""
    options.say("learning")
    return TrainedModel(Nothing(options), lambda: [Figure("accuracy", 0.75, "", 4, "of four")])


class Whole(Texts[str]):
    """A text ``machines tasks``, one unit; the model holds the seed."""

    unit = "text"
    options = {"tasks": Option("how many")}  # noqa: RUF012
    solves_single = True

    @classmethod
    def is_model(cls, path: Path) -> bool:
        return False

    def read(self, material: Material):
        return [material.text]

    def instance(self, text: str) -> Assignment:
        machines, tasks = text.split()
        seed = int(self.model.read_text(encoding="utf-8"))
        return assignment(int(machines), int(self.values.get("tasks", tasks)), seed)

    def lines(self, instance: Assignment, answer: list | None) -> list[str]:
        return lines(instance, answer or [])


class Words(Whole):
    """Each line is an instance: the name of its outcome, ``broken``, ``huge`` or ``ctrl-c``."""

    @classmethod
    def is_model(cls, path: Path) -> bool:
        return path.suffix == ".model"

    def read(self, material: Material):
        if material.path is not None and len(material.path.read_text(encoding="utf-8").splitlines()) == 1:
            return [material.text]
        return material.lines()

    def choose(self, texts, source: str):
        return texts[0] if isinstance(texts, list) else None

    def solve(self, template: Template, texts, stop: list):
        return (became(word, stop) for word in texts)


def became(word: str, stop: list) -> Solved:
    if word == "broken":
        raise InputError("line of 'broken': expected something else")
    if word == "huge":
        raise MemoryError
    if word == "ctrl-c":
        raise KeyboardInterrupt
    answer = None if word == "INFEASIBLE" else word
    return Solved([f"answer: {word}", ""], answer, Termination[word], 1.0 + len(stop), float("inf"))


STUB = Template(
    "stub",
    "generalized assignment",
    "the tests",
    lambda instance: instance,
    read,
    lines=lines,
    data=data,
    demo=(demo(), demo(None)),
)


def run(capsys, *argv) -> tuple[int, str, str]:
    code = cli.main([str(word) for word in argv])
    out, err = capsys.readouterr()
    assert "Traceback" not in out + err or "--traceback" in argv
    return code, out, err


def scored(template: Template, material: Material, model: Path, options: dict[str, str]):
    """Return the instance of the unit that the options select, or of the only one."""
    loaded = template.texts(model, option_values(options, template.texts.options))
    texts = list(loaded.read(material))
    return loaded.instance(loaded.choose(texts, material.name) or texts[0])

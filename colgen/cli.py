"""The command line: solve a file, train a model, show what the templates can do, measure."""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import json
import math
import os
import sys
import traceback
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from colgen import __version__
from colgen.errors import ColgenError, InputError
from colgen.problem import solve
from colgen.result import Result, Termination
from colgen.stop import GapLimit, StopRule, TimeLimit
from colgen.template import BenchOptions, DemoLine, Figure, Template, TrainOptions, load_template, template_names

PROVED, NO_ANSWER, BAD_INPUT, NOT_PROVED, DIAGNOSTIC = range(5)
INTERRUPTED = 130
CLOSED_PIPE = 141
"""128 + SIGPIPE: what a shell reports of a program whose reader went away."""

_HELP = """\
examples:
  colgen templates                         what can be solved
  colgen solve cutting_stock rolls.txt     the answer, and what is proved of it
  colgen solve cutting_stock rolls.txt --time-limit 60 --json out.json --plot run.png
  colgen train coreference --data litbank --model coref.npz
  colgen solve coreference text.conll --model coref.npz --option scores=log_odds
  colgen demo                              column generation against brute force
  colgen bench --list                      what can be measured
  colgen bench engine --quick --json -     measure it, figures as JSON

exit codes:
  0  proved optimal (the relaxation, with --relaxation); others: done
  1  proved infeasible, or proved unbounded: the output says which
  2  bad input or usage
  3  a limit was reached, or the answer is not proved optimal
  4  a diagnostic: going on could have given a wrong answer
  130  interrupted by Ctrl-C; the best answer so far is printed
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal that knows no Greek shows question marks, not a traceback
            stream.reconfigure(errors="replace")
    try:
        code = _run(argv)
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
    except BrokenPipeError:
        _forget_output()
        return CLOSED_PIPE
    return code


def _run(argv: Sequence[str] | None) -> int:
    try:
        arguments = _parser().parse_args(argv)
    except SystemExit as stop:  # argparse has said what is wrong, or printed the help
        return int(stop.code or 0)
    command: Callable[[argparse.Namespace], int] = arguments.command
    try:
        return command(arguments)
    except KeyboardInterrupt:
        _say("Interrupted by the user.")
        return INTERRUPTED
    except BrokenPipeError:
        raise
    except Exception as error:
        return _explain(error, getattr(arguments, "traceback", False))


def _explain(error: Exception, with_traceback: bool, who: str = "colgen: ") -> int:
    """Say an error in one sentence; returns the exit code."""
    if with_traceback:
        _say("".join(traceback.format_exception(error)).rstrip())
    if isinstance(error, InputError):
        _say(f"{who}{error}")
        return BAD_INPUT
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        _say(f"{who}{where}{error.strerror or error}")
        return BAD_INPUT
    if isinstance(error, ColgenError):
        _say(f"{who}{error}")
    else:
        more = "" if with_traceback else " (--traceback shows where)"
        _say(f"{who}unexpected {type(error).__name__}: {error}{more}")
    return DIAGNOSTIC


def _forget_output() -> None:
    """Point what is left of the output at nothing: Python flushes it at exit, and would complain again."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


# --- arguments -------------------------------------------------------------------------------------------------------


class _Parser(argparse.ArgumentParser):
    """Says a usage error in one sentence; the whole usage is one ``--help`` away."""

    def error(self, message: str) -> NoReturn:
        self.exit(BAD_INPUT, f"{self.prog}: {message} (see {self.prog} --help)\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="colgen",
        description="Column and row generation with bounds that prove how good an answer is.",
        epilog=_HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("-V", "--version", action="version", version=f"colgen {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)

    command = commands.add_parser("solve", help="solve a file", description="Solve a file with a problem template.")
    command.set_defaults(command=_solve)
    command.add_argument("template", metavar="TEMPLATE", help="its name, as `colgen templates` lists it")
    command.add_argument("file", metavar="FILE", type=Path, help="the instance")
    command.add_argument("--model", metavar="FILE", type=Path, help="a trained model, which makes the instance of FILE")
    command.add_argument(
        "--option", metavar="NAME=VALUE", action="append", default=[], help="how the model does so; may be repeated"
    )
    command.add_argument("--time-limit", metavar="S", type=_nonnegative, help="stop after so many seconds")
    command.add_argument("--node-limit", metavar="N", type=_count, help="stop after so many branch-and-bound nodes")
    command.add_argument("--gap", metavar="G", type=_nonnegative, help="stop at this relative gap (0.01 is 1%%)")
    command.add_argument("--relaxation", action="store_true", help="solve the root's relaxation only")
    command.add_argument("--log", metavar="CSV", type=Path, help="write one line a round")
    command.add_argument("--json", metavar="FILE", help="write answer and bounds; - writes them instead of the report")
    command.add_argument("--plot", metavar="PNG", type=Path, help="draw the run (needs matplotlib)")
    command.add_argument("--report", metavar="HTML", type=Path, help="summary, pictures and log as one page (likewise)")
    command.add_argument("--quiet", action="store_true", help="no progress, even on a terminal")
    command.add_argument("--traceback", action="store_true", help="show where an error came from")

    command = commands.add_parser("demo", help="compare column generation with brute force on small instances")
    command.set_defaults(command=_demo)
    command.add_argument("--traceback", action="store_true", help="show where an error came from")

    command = commands.add_parser("bench", help="measure", description="Run one of the templates' benchmarks.")
    command.set_defaults(command=_bench)
    command.add_argument("name", metavar="NAME", nargs="?", help="its name, as --list shows it")
    command.add_argument("--list", action="store_true", help="list the benchmarks")
    command.add_argument("--data", metavar="DIR", type=Path, help="folder of the corpora")
    command.add_argument("--json", metavar="FILE", help="write the figures; - writes them instead of the table")
    command.add_argument("--plot", metavar="PNG", type=Path, help="draw the measurements (needs matplotlib)")
    command.add_argument("--quick", action="store_true", help="the smallest instances only")
    command.add_argument("--traceback", action="store_true", help="show where an error came from")

    command = commands.add_parser("train", help="train a model", description="Learn a template's scores from data.")
    command.set_defaults(command=_train)
    command.add_argument("template", metavar="TEMPLATE", help="its name, as `colgen templates` lists it")
    command.add_argument("--data", metavar="DIR", type=Path, help="folder of annotated data")
    command.add_argument("--train", metavar="FILE", type=Path, help="instead: the file to learn from")
    command.add_argument("--dev", metavar="FILE", type=Path, help="with --train: the file to tune on")
    command.add_argument("--model", metavar="FILE", type=Path, required=True, help="the model to write")
    command.add_argument(
        "--option", metavar="NAME=VALUE", action="append", default=[], help="how to learn; may be repeated"
    )
    command.add_argument("--seed", metavar="N", type=_whole, default=0, help="of everything random (0)")
    command.add_argument("--quick", action="store_true", help="little data and training, to see that it runs")
    command.add_argument("--json", metavar="FILE", help="write the figures; - writes them instead of the table")
    command.add_argument("--traceback", action="store_true", help="show where an error came from")

    command = commands.add_parser("templates", help="list the installed problem templates")
    command.set_defaults(command=_templates)
    return parser


def _nonnegative(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not value >= 0:
        raise argparse.ArgumentTypeError(f"expected a number, zero or more, not {text!r}")
    return value


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text)):
        raise argparse.ArgumentTypeError(f"expected a whole number, one or more, not {text!r}")
    return int(text)


def _whole(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise argparse.ArgumentTypeError(f"expected a whole number, zero or more, not {text!r}")
    return int(text)


# --- solve -----------------------------------------------------------------------------------------------------------


def _solve(arguments: argparse.Namespace) -> int:
    template = load_template(arguments.template)
    _check_destinations(arguments)
    try:
        instance = _instance(arguments, template)
    except UnicodeDecodeError as error:
        raise InputError(f"{arguments.file}: not a text file in UTF-8 (byte {error.start})") from error
    stop: list[StopRule] = []
    if arguments.time_limit is not None:
        stop.append(TimeLimit(arguments.time_limit))
    if arguments.gap is not None:
        stop.append(GapLimit(arguments.gap))
    try:
        result = solve(
            template.problem(instance),
            stop=stop,
            relaxation=arguments.relaxation,
            node_limit=arguments.node_limit,
            progress=not arguments.quiet and _is_terminal(sys.stderr),
        )
    except ColgenError as error:
        if error.result is not None and error.result.solution is not None:
            _report(arguments, template, instance, error.result)
        raise
    _report(arguments, template, instance, result)
    return _exit_code(result)


def _instance(arguments: argparse.Namespace, template: Template) -> Any:
    """The instance of the file: read, or made of it by a model."""
    options = _options(arguments)
    if arguments.model is None:
        if options:
            raise InputError("--option needs --model: it says how a model makes an instance of the file")
        return template.read(arguments.file)
    if template.score is None:
        raise InputError(f"the template {template.name!r} takes no model: leave --model out")
    return template.score(arguments.file, arguments.model, options)


def _options(arguments: argparse.Namespace) -> dict[str, str]:
    """The pairs of ``--option``."""
    options: dict[str, str] = {}
    for option in arguments.option:
        name, equals, value = option.partition("=")
        if not (name and equals):
            raise InputError(f"--option {option}: expected NAME=VALUE")
        if name in options:
            raise InputError(f"--option {name} is given twice")
        options[name] = value
    return options


def _exit_code(result: Result) -> int:
    if result.termination is Termination.INTERRUPTED:
        return INTERRUPTED
    if result.termination in (Termination.INFEASIBLE, Termination.UNBOUNDED):
        return NO_ANSWER
    return PROVED if result.is_optimal else NOT_PROVED


def _check_destinations(arguments: argparse.Namespace, *more: str) -> None:
    """Before any work: that what is asked for can be written at its end."""
    for option in ("log", "json", "plot", "report", *more):
        value = getattr(arguments, option, None)
        if value is None or str(value) == "-":
            continue
        path = Path(value)
        if path.is_dir() or not path.absolute().parent.is_dir():
            raise InputError(f"--{option} {path}: expected the name of a file in an existing folder")
    plot = getattr(arguments, "plot", None)
    if plot is not None:
        if importlib.util.find_spec("matplotlib") is None:
            raise InputError("--plot needs matplotlib: pip install colgen[plotting]")
        from matplotlib.backend_bases import FigureCanvasBase

        known = FigureCanvasBase.get_supported_filetypes()
        if plot.suffix.lower().lstrip(".") not in known:
            raise InputError(f"--plot {plot}: expected a name that ends in .png, .pdf or .svg")


def _report(arguments: argparse.Namespace, template: Template, instance: Any, result: Result) -> None:
    """Print the answer and write the files that were asked for."""
    answered = result.solution is not None and not arguments.relaxation
    if arguments.json != "-":
        for line in template.lines(instance, result) if answered else ():
            print(line)
        if answered:
            print()
        for line in _summary(result, arguments.relaxation):
            print(line)
    if arguments.json is not None:
        content = result.to_dict()
        content["template"] = template.name
        content["file"] = str(arguments.file)
        content["answer"] = template.data(instance, result) if answered else None
        _write_json(content, arguments.json)
    if arguments.log is not None:
        result.to_csv(arguments.log)
    if arguments.plot is not None:
        from colgen.plotting import overview

        overview(result).savefig(arguments.plot, dpi=150)
    if arguments.report is not None:
        result.report(arguments.report, f"{template.name}: {arguments.file}")


def _summary(result: Result, relaxation: bool) -> list[str]:
    lines = [result.termination.value]
    if relaxation:
        used = 0 if result.solution is None else len(result.solution.columns)
        lines[0] += f" This is the relaxation: {used} columns are in use, to fractions in general."
    gap = f"{100 * result.gap:.3g}%" if math.isfinite(result.gap) else "infinite"
    lines += [
        f"objective   {_number(result.objective)}",
        f"dual bound  {_number(result.dual_bound)}",
        f"gap         {gap}",
        f"{_counted(len(result.iterations), 'round')}, {_counted(len(result.nodes), 'node')}, "
        f"{_counted(result.columns_generated, 'column')} and {_counted(result.rows_generated, 'row')} generated",
    ]
    stages = [(name, s) for name, s in result.seconds.items() if name != "total"]
    spent = ", ".join(f"{name} {s:.3g}" for name, s in sorted(stages, key=lambda pair: -pair[1]) if s >= 5e-4)
    lines.append(f"{result.seconds.get('total', 0.0):.3g} seconds" + (f": {spent}" if spent else ""))
    return lines


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def _number(value: float) -> str:
    return f"{value:.10g}" if math.isfinite(value) else "none"


# --- demo ------------------------------------------------------------------------------------------------------------


def _demo(arguments: argparse.Namespace) -> int:
    templates, broken = _load_all()
    functions = [(template, function) for template in templates for function in template.demo]
    lines: list[tuple[str, DemoLine]] = []
    interrupted = False
    failed = bool(broken)
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("demo", total=len(functions))
        try:
            for template, function in functions:
                progress.update(task, description=template.name)
                try:
                    lines += [(template.name, line) for line in function()]
                except Exception as error:  # the other instances are still worth seeing
                    failed = True
                    _explain(error, arguments.traceback, f"colgen, {template.name}: ")
                progress.advance(task)
        except KeyboardInterrupt:
            interrupted = True

    table = Table(title="Column generation and brute force", title_justify="left")
    for heading in ("template", "instance"):
        table.add_column(heading, overflow="fold")
    table.add_column("objective", justify="right")
    table.add_column("by brute force", justify="right")
    table.add_column("proof", overflow="fold")
    table.add_column("columns used of possible", justify="right")
    table.add_column("brute force", overflow="fold")
    table.add_column("its seconds", justify="right")
    table.add_column("column generation, seconds", justify="right")
    disagreeing = []
    for name, line in lines:
        brute = Text("-" if line.brute_force_objective is None else _number(line.brute_force_objective))
        if not _agree(line.objective, line.brute_force_objective):
            disagreeing.append(f"{name}, {line.instance}")
            brute = Text(f"{brute} DISAGREES", style="bold reverse red")
        table.add_row(
            name,
            Text(line.instance),
            _number(line.objective),
            brute,
            Text(line.proof),
            f"{line.columns_used:,} of {line.columns_possible:,}",
            Text(line.brute_force),
            "-" if line.brute_force_seconds is None else significant(line.brute_force_seconds),
            significant(line.seconds),
        )
    if lines:
        _output().print(table)
    elif not functions and not interrupted:
        print("No installed template has a demo.")
    for where in disagreeing:
        _say(f"colgen: WRONG ANSWER: column generation and brute force disagree on {where}.")
    if interrupted:
        _say("Interrupted by the user.")
        return INTERRUPTED
    return DIAGNOSTIC if disagreeing or failed else PROVED


def _agree(objective: float, brute_force: float | None) -> bool:
    return brute_force is None or math.isclose(objective, brute_force, rel_tol=1e-6, abs_tol=1e-6)


# --- bench -----------------------------------------------------------------------------------------------------------


def _bench(arguments: argparse.Namespace) -> int:
    templates, broken = _load_all()
    found = {(t.name, name): function for t in templates for name, function in t.benchmarks.items()}
    if arguments.list:
        table = Table("benchmark", "template")
        for template_name, name in sorted(found, key=lambda pair: pair[::-1]):
            table.add_row(name, template_name)
        _output().print(table)
        return DIAGNOSTIC if broken else PROVED
    named = [key for key in found if arguments.name in (key[1], "/".join(key))]
    if not named:
        known = ", ".join(sorted({name for _, name in found})) or "none"
        asked = "which benchmark?" if arguments.name is None else f"there is no benchmark {arguments.name!r};"
        raise InputError(f"{asked} there are: {known}")
    if len(named) > 1:
        choices = " or ".join("/".join(key) for key in named)
        raise InputError(f"several templates have a benchmark {arguments.name!r}: say {choices}")
    _check_data(arguments)
    _check_destinations(arguments)
    figures = found[named[0]](BenchOptions(arguments.data, arguments.quick, _say, arguments.plot))
    _show_figures(arguments, named[0][1], figures)
    if arguments.plot is not None and not arguments.plot.exists():
        _say(f"colgen: the benchmark {named[0][1]!r} draws nothing: there is no {arguments.plot}")
    return PROVED


def _check_data(arguments: argparse.Namespace) -> None:
    if arguments.data is not None and not arguments.data.is_dir():
        raise InputError(f"--data {arguments.data}: expected an existing folder")


def _show_figures(arguments: argparse.Namespace, title: str, figures: Sequence[Figure]) -> None:
    if arguments.json is not None:
        _write_json([_plain(figure) for figure in figures], arguments.json)
    if arguments.json != "-":
        _output().print(_figures_table(title, figures))


def _plain(figure: Figure) -> dict[str, Any]:
    value = figure.value if math.isfinite(figure.value) else None
    return {"name": figure.name, "value": value, "unit": figure.unit, "n": figure.n}


def _figures_table(title: str, figures: Iterable[Figure]) -> Table:
    table = Table(title=title, title_justify="left")
    table.add_column("name", overflow="fold")
    table.add_column("value", justify="right", no_wrap=True)
    table.add_column("unit", no_wrap=True)
    table.add_column("n", justify="right", no_wrap=True)
    table.add_column("note", overflow="fold")
    for figure in figures:
        table.add_row(
            Text(figure.name), significant(figure.value), Text(figure.unit), f"{figure.n:,}", Text(figure.note)
        )
    return table


def significant(value: float) -> str:
    """A number for people: whole numbers whole, others with four significant digits, three when very small."""
    if not math.isfinite(value):
        return str(value)
    if value == round(value) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.4g}" if abs(value) >= 1e-3 else f"{value:.3g}"


# --- train -----------------------------------------------------------------------------------------------------------


def _train(arguments: argparse.Namespace) -> int:
    if (arguments.data is None) == (arguments.train is None) or (arguments.dev and not arguments.train):
        raise InputError("colgen train needs --data DIR, or --train FILE with or without --dev FILE")
    template = load_template(arguments.template)
    if template.train is None:
        raise InputError(f"the template {template.name!r} has nothing to train")
    for path in (arguments.train, arguments.dev):
        if path is not None and not path.is_file():
            raise InputError(f"{path}: expected a file")
    _check_data(arguments)
    _check_destinations(arguments, "model")
    options = TrainOptions(
        arguments.data or arguments.train.parent,
        arguments.model,
        arguments.seed,
        arguments.quick,
        _say,
        arguments.train,
        arguments.dev,
        _options(arguments),
    )
    _show_figures(arguments, template.name, template.train(options))
    return PROVED


# --- templates -------------------------------------------------------------------------------------------------------


def _templates(arguments: argparse.Namespace) -> int:
    templates, broken = _load_all()
    if templates:
        table = Table("template", "solves", "source")
        for template in templates:
            table.add_row(template.name, Text(template.title), Text(template.source))
        _output().print(table)
    elif not broken:
        print("No problem template is installed.")
    return DIAGNOSTIC if broken else PROVED


def _load_all() -> tuple[list[Template], int]:
    """All templates that can be loaded, and how many cannot: one broken package must not hide the others."""
    templates, broken = [], 0
    for name in template_names():
        try:
            templates.append(load_template(name))
        except ColgenError as error:
            broken += 1
            _say(f"colgen: {error}")
    return templates, broken


# --- output ----------------------------------------------------------------------------------------------------------


def _output() -> Console:
    """Standard output; where it is not a terminal, wide enough that no table is folded."""
    return Console() if _is_terminal(sys.stdout) else Console(width=240)


def _is_terminal(stream: Any) -> bool:
    try:
        return bool(stream.isatty())
    except (AttributeError, ValueError):  # closed, or not there at all
        return False


def _say(text: str) -> None:
    """A line for people on standard error, which may be closed."""
    with contextlib.suppress(OSError, ValueError):
        print(text, file=sys.stderr, flush=True)


def _write_json(content: Any, destination: str) -> None:
    try:
        text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False, default=_from_numpy)
    except (TypeError, ValueError) as error:
        raise ColgenError(f"the template's data cannot be written as JSON: {error}") from error
    if destination == "-":
        print(text)
    else:
        Path(destination).write_text(text + "\n", encoding="utf-8")


def _from_numpy(value: Any) -> Any:
    """A numpy number or array as plain data."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is not plain data")


if __name__ == "__main__":
    sys.exit(main())

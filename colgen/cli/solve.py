"""``colgen solve`` and ``resume``: one instance with a report of the run, or many in order."""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from colgen.checkpoint.file import read_checkpoint
from colgen.cli import template as templates
from colgen.cli.arguments import DIAGNOSTIC, NARROWER, NO_ANSWER, NOT_PROVED, PROVED
from colgen.cli.many import Tally, write_all
from colgen.cli.option import option_values
from colgen.cli.output import explain, say, show, write_json
from colgen.cli.requests import ASKED, check_destinations, checkpoint_of, options_of, skip_of
from colgen.cli.template import Material, Solved, Template
from colgen.core.errors import ColgenError, InputError
from colgen.core.files import check_readable, write_figure, writing
from colgen.core.result import OWN, Result, Termination
from colgen.core.signals import ended_by, exit_code, holding_signals
from colgen.core.stop import GapLimit, NodeLimit, StopRule, TimeLimit
from colgen.core.text import is_terminal, number, percent, plural
from colgen.method import Method
from colgen.options import Parallel, Record
from colgen.parallel.clusters import PROCESSES
from colgen.reporting.axes import can_draw
from colgen.reporting.live_log import LogFile
from colgen.reporting.progress import showing
from colgen.solvers.arrays import ArrayError
from colgen.solving import solve


def solve_file(arguments: argparse.Namespace) -> int:
    """Solve the instances of a file or of standard input."""
    template = templates.load_template(arguments.template)
    _check_request(arguments, template)
    options, stop = options_of(arguments), _stop_rules(arguments)
    if len(arguments.files) > 1 or (arguments.cluster is not None and arguments.subtrees is None):
        from colgen.cli.many import solved_files

        return _solve_all(arguments, template, solved_files(arguments, template, stop), "the files", _FOR_ONE_FILE)
    material, model = _material(arguments, template)
    source = arguments.file if material is None else material.name
    try:
        if material is None:
            with contextlib.nullcontext() if arguments.quiet else showing(lambda: f"reading {arguments.file}"):
                instance = template.instance(arguments.file, options)
        else:
            assert template.texts is not None  # otherwise there is no material
            loaded = template.texts(model, option_values(options, template.texts.options))
            texts = loaded.read(material)
            one = loaded.choose(texts, material.name)
            if one is None:
                return _solve_all(arguments, template, loaded.solve(template, texts, stop), material.name)
            instance = loaded.instance(one)
    except UnicodeDecodeError as error:
        raise InputError(f"{source}: expected a text file in UTF-8, but byte {error.start} is not") from error
    except ArrayError as error:
        raise InputError(f"{source}: {error}") from error
    except (MemoryError, RecursionError) as error:
        raise InputError(f"{source}: expected an instance that fits into memory") from error
    return _solve_one(arguments, template, instance, stop, options if material is None else {})


def resume_file(arguments: argparse.Namespace) -> int:
    """Resume the run of a checkpoint."""
    checkpoint = read_checkpoint(arguments.checkpoint)
    if checkpoint is None:
        raise InputError(f"{arguments.checkpoint}: expected a checkpoint, there is no such file")
    asked = checkpoint.asked
    if not asked:
        raise InputError(
            f"{arguments.checkpoint} was written by a program, not by `colgen solve`: resume it in that program with "
            "solve(problem, checkpoint=...)"
        )
    for name, kind in ASKED.items():
        if not isinstance(asked.get(name), kind):
            raise InputError(f"{arguments.checkpoint}: the argument {name} is missing or of the wrong type")
    if not all(isinstance(option, str) for option in asked["option"]):
        raise InputError(f"{arguments.checkpoint}: the argument option is not a list of strings")
    every = asked["every"] if arguments.every is None else arguments.every
    request = argparse.Namespace(
        **{**vars(arguments), **{name: asked[name] for name in ASKED}, "every": every, "certificate": None}
    )
    request.file = Path(request.file)
    request.files, request.cluster, request.subtrees = [request.file], None, None
    request.skip_bad = request.all_heads = request.compact = False  # these are among the options
    request.dec = None
    request.model = None if request.model is None else Path(request.model)
    return solve_file(request)


def _check_request(arguments: argparse.Namespace, template: Template) -> None:
    check_destinations(arguments)
    if arguments.picture is not None and template.draw is None:
        raise InputError(f"--picture: the template {template.name!r} does not draw answers")
    if arguments.solution is not None and template.write is None:
        raise InputError(f"--solution: the template {template.name!r} writes answers with --json only")
    known = {**template.options, **({} if template.texts is None else template.texts.options)}
    for name, value in (("all_heads", arguments.all_heads), ("compact", arguments.compact), ("dec", arguments.dec)):
        if value:
            if name not in known:
                shown = name.replace("_", "-")
                raise InputError(f"--{shown}: the template {template.name!r} has no such option")
            # Options are stored in checkpoints.
            arguments.option = [*arguments.option, f"{name}={'yes' if value is True else value.absolute()}"]


def _stop_rules(arguments: argparse.Namespace) -> list[StopRule]:
    stop: list[StopRule] = []
    if arguments.time_limit is not None:
        stop.append(TimeLimit(arguments.time_limit))
    if arguments.gap is not None:
        stop.append(GapLimit(arguments.gap))
    if arguments.node_limit is not None:
        stop.append(NodeLimit(arguments.node_limit))
    return stop


def _solve_one(
    arguments: argparse.Namespace,
    template: Template,
    instance: Any,
    stop: Sequence[StopRule],
    options: Mapping[str, str],
) -> int:
    """Solve one instance with the template's options and report it; return the exit code."""
    live = not arguments.quiet and is_terminal(sys.stderr)
    with holding_signals():  # a signal ends the run, whose result is still reported
        try:
            result = solve(
                template.problem_of(instance, options),
                stop=stop,
                relaxation=arguments.relaxation,
                progress=live if arguments.log is None else LogFile(arguments.log, show=live),
                method=Method(lp=arguments.lp),
                record=Record(certificate=arguments.certificate),
                parallel=Parallel(
                    workers=arguments.workers,
                    node_batch=arguments.node_batch or 1,
                    cluster=None if arguments.subtrees is None else arguments.cluster or PROCESSES,
                    free_running=arguments.subtrees == "free",
                ),
                checkpoint=checkpoint_of(arguments),
            )
        except ColgenError as error:
            if error.result is not None and error.result.solution is not None:
                try:
                    _report(arguments, template, instance, error.result)
                except OSError as failure:  # the diagnostic is more important than this
                    explain(failure, arguments.traceback)
            raise
        _report(arguments, template, instance, result)
    return _exit_code(result, template.scope(instance))


def _material(arguments: argparse.Namespace, template: Template) -> tuple[Material | None, Path]:
    """Return the text to score and the model; without text if the file is an instance."""
    file, model = arguments.file, arguments.model
    for path in (file, model):
        if path is not None and str(path) != "-":
            check_readable(path)
    skip = skip_of(arguments, template)
    if model is not None:
        if template.texts is None:
            raise InputError(f"--model: the template {template.name!r} does not use a model")
        material = Material(None if str(file) == "-" else file, skip)
    elif str(file) == "-":
        raise InputError("the standard input (-) needs a trained model: add --model MODEL")
    elif template.texts is not None and template.texts.is_model(file):
        material, model = Material(None, skip), file
    elif arguments.option and not template.options:
        raise InputError("--option needs --model: the template's options are those of its model")
    else:
        return None, file
    if material.is_typed and not arguments.quiet:
        say("colgen: reading standard input until its end (Ctrl-D)")
    return material, model


_FOR_ONE_FILE = ("subtrees", "log", "plot", "picture", "report", "solution", "certificate", "checkpoint")
_FOR_ONE = ("node_limit", "workers", "node_batch", "lp", "relaxation", *_FOR_ONE_FILE)
"""Options that apply to one instance only."""


def _solve_all(
    arguments: argparse.Namespace,
    template: Template,
    several: Iterator[Solved],
    source: str,
    refused: Sequence[str] = _FOR_ONE,
) -> int:
    """Write each answer to standard output or as JSON, and a summary to standard error."""
    for option in refused:
        if getattr(arguments, option):
            if source == "the files":
                raise InputError(f"--{option} applies to one instance: expected one FILE with it")
            raise InputError(
                f"--{option.replace('_', '-')} applies to one instance: choose one of {source} with --option "
                f"(`colgen templates {template.name}` lists the options)"
            )
    tally = Tally()
    live = not arguments.quiet and is_terminal(sys.stderr) and not is_terminal(sys.stdout)
    with contextlib.ExitStack() as stack:
        records: IO[str] | None = None
        if arguments.json is not None:
            to_file = arguments.json != "-"
            records = stack.enter_context(writing(arguments.json)) if to_file else sys.stdout
        error: Exception | None = None
        stack.enter_context(holding_signals())
        write = _write_file if source == "the files" else _write_line
        try:
            write_all(several, tally, None if arguments.json == "-" else write, records, live=live)
        except BrokenPipeError:
            raise
        except KeyboardInterrupt:
            tally.interrupted = True
        except Exception as caught:  # raised after the summary
            error = caught
    if tally.solved and not arguments.quiet:
        say(f"colgen: {tally}")
    if error is not None:
        raise error
    if tally.interrupted:
        say(ended_by())
        return exit_code()
    if not tally.solved:
        raise InputError(f"{source}: expected at least one instance, there is none")
    if tally.faults:
        return DIAGNOSTIC
    if len(tally.unproved) > tally.infeasible:
        return NOT_PROVED
    if tally.infeasible:
        return NO_ANSWER
    return NARROWER if tally.scopes else PROVED


def _write_line(line: str) -> None:
    print(line, flush=True)


def _write_file(text: str) -> None:
    """Print the outcome of a file: its first line in colour."""
    head, _, answer = text.partition("\n")
    show([head])
    _write_line(answer)


def _exit_code(result: Result, scope: str) -> int:
    if result.termination.is_interrupt:
        return exit_code()
    if result.termination in (Termination.INFEASIBLE, Termination.UNBOUNDED):
        return NO_ANSWER
    if not result.is_optimal:
        return NOT_PROVED
    return NARROWER if scope else PROVED


def _report(arguments: argparse.Namespace, template: Template, instance: Any, result: Result) -> None:
    """Print the answer and write the requested files."""
    answered = result.solution is not None and not arguments.relaxation
    answer = template.answer(instance, result) if answered else None
    if arguments.json != "-":
        if answered:
            print("\n".join([*template.lines(instance, answer), ""]))
        show(_summary(result, arguments.relaxation, template.scope(instance), template.reading(instance)))
    failures: list[Exception] = []
    for write in _files(arguments, template, instance, result, answered, answer):
        try:
            write()
        except BrokenPipeError:
            raise
        except Exception as error:  # the other files are still written
            failures.append(error)
    for failure in failures[:-1]:
        explain(failure, arguments.traceback)
    if failures:
        raise failures[-1]


def _files(
    arguments: argparse.Namespace, template: Template, instance: Any, result: Result, answered: bool, answer: Any
) -> Iterator[Callable[[], None]]:
    """Yield a function that writes it for each requested file."""

    def json() -> None:
        content = result.to_dict()
        content["template"] = template.name
        content["file"] = str(arguments.file)
        content["scope"] = template.scope(instance) or None
        content["reading"] = template.reading(instance) or None
        content["answer"] = template.data(instance, answer) if answered else None
        write_json(content, arguments.json)

    def plot() -> None:
        from colgen.reporting.plotting import overview

        write_figure(overview(result), arguments.plot)

    def picture() -> None:
        assert template.draw is not None  # checked before any work
        write_figure(template.draw(instance, answer), arguments.picture)

    def solution() -> None:
        assert template.write is not None  # checked before any work
        template.write(answer, arguments.solution)

    if arguments.json is not None:
        yield json
    if arguments.log is not None:
        yield lambda: result.to_csv(arguments.log)
    if arguments.plot is not None:
        yield plot
    if arguments.picture is not None and answered:
        yield picture
    if arguments.solution is not None and answered:
        yield solution

    def page() -> None:
        from colgen.reporting.report import report

        drawn = None
        if template.draw is not None and answered and can_draw():
            drawn = template.draw(instance, answer)
        title = f"{template.name}: {arguments.file}"
        about = _about(arguments, template)
        if template.reading(instance):
            about["read as"] = template.reading(instance)
        data = template.data(instance, answer) if answered else None
        report(result, arguments.report, title, about=about, picture=drawn, answer=data)

    if arguments.report is not None:
        yield page


_SETTINGS = (
    *("model", "option", "time_limit", "gap", "node_limit", "workers", "node_batch", "lp", "relaxation"),
    *("certificate", "checkpoint"),
)
"""Arguments that a report lists, so that the run can be repeated."""


def _about(arguments: argparse.Namespace, template: Template) -> dict[str, object]:
    values = {name.replace("_", "-"): getattr(arguments, name, None) for name in _SETTINGS}
    settings = ", ".join(f"{name} {value}" for name, value in values.items() if value) or "defaults"
    about: dict[str, object] = {"template": f"{template.name} ({template.source})", "command line": settings}
    file = Path(arguments.file)
    if file.is_file():
        about["instance"] = f"{file.name}, SHA-256 {hashlib.sha256(file.read_bytes()).hexdigest()}"
    return about


_SHARE = 0.01
"""Stages below this share of the time are not listed."""


def _summary(result: Result, relaxation: bool, scope: str, reading: str) -> list[str]:
    lines = [result.termination.value]
    if scope:
        proved = result.is_optimal and not relaxation
        lines = [f"Proved optimal {scope}."] if proved else [*lines, f"answer and bound are {scope}"]
    if relaxation:
        used = 0 if result.solution is None else len(result.solution.columns)
        in_use = plural(used, "column is", "columns are")
        lines[0] += f" This is the relaxation: {in_use} in use, in general with fractional values."
    if reading:
        lines.append(f"read as     {reading}")
    source = "" if result.bound_source == OWN else f" (from {result.bound_source}, trusted)"
    lines += [
        f"objective   {number(result.objective)}",
        f"dual bound  {number(result.dual_bound)}{source}",
        f"gap         {percent(result.gap)}",
        f"{plural(len(result.iterations), 'round')}, {plural(len(result.nodes), 'node')}, "
        f"{plural(result.columns_generated, 'column')} and {plural(result.rows_generated, 'row')} generated",
    ]
    total = result.seconds.get("total", 0.0)
    stages = [(name, s) for name, s in result.seconds.items() if name != "total" and s >= _SHARE * total]
    spent = ", ".join(f"{name} {s:.3g}" for name, s in sorted(stages, key=lambda pair: -pair[1]) if s >= 5e-4)
    by_stage = f": {spent}" if spent else ""
    lines.append(f"{total:.3g} seconds{by_stage}; {result.processor_seconds:.3g} processor seconds")
    return lines

"""Arguments, help texts and exit codes of the command line."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

from colgen.core.text import LONGEST, meant, one_line, wrap

PROVED, NO_ANSWER, BAD_INPUT, NOT_PROVED, DIAGNOSTIC, NARROWER = range(6)
VARIED = ("stabilization", "bounding", "pricing", "choice", "heuristics", "cuts", "rules")
"""The parts that the methods of an ablation may vary."""

CLOSED_PIPE = 141
"""128 + SIGPIPE: the exit code after the reader of a pipe has gone."""

_HELP = """\
examples (more: colgen COMMAND --help):
  colgen demo                               see it work on small instances
  colgen templates                          list what can be solved
  colgen example cutting_stock > rolls.txt  write a small instance
  colgen solve cutting_stock rolls.txt      print the answer and its bounds
  colgen check proof.jsonl rolls.txt        check a proof by another program
  colgen train chain_map --data english_ewt --model tagger.npz
  colgen bench engine --quick --json -      run a benchmark (--list lists them)

exit codes:
  0  proved optimal (the relaxation, with --relaxation); other commands: done
  1  proved infeasible, or unbounded
  2  bad input or usage
  3  a limit was reached, or the answer is not proved optimal
  4  a diagnostic: continuing could have given a wrong answer
  5  proved optimal among a subset of the answers (--all-heads)
  6  `colgen check`: part of the certificate is trusted or left open
  130  interrupted by Ctrl-C (143: by SIGTERM), with the best answer so far
"""

_SOLVE = """\
FILE is an instance     colgen solve cutting_stock rolls.txt
  a text, with a model  colgen solve coreference text.conll --model coref.npz
  a trained model       colgen solve grandparent_parsing MODEL < in.conllu

One instance: prints the answer and a report of the run. All instances of a
text, or several FILEs (by --workers processes or on a --cluster): prints each
answer when it is found, then a summary on standard error. Exit code 0: all
proved optimal; 5: some among few candidates; 1: the others infeasible; else 3.
--json writes a line, and --time-limit and --gap hold, for each instance.
"""

_DECOMPOSE = """\
examples:
  colgen decompose plan.mps                      what is detected, best first
  colgen decompose plan.mps --dec plan.dec       the score of a decomposition
  colgen decompose plan.lp --picture blocks.png --write blocks.dec

MODEL is an MPS or LP file, also with .gz, or the .cor file of SMPS. The first
decomposition of the list is drawn and written, and used by `colgen solve model
MODEL`.
"""

_RESUME = """\
examples:
  colgen solve cutting_stock rolls.txt --checkpoint run.checkpoint --every 30
  colgen resume run.checkpoint             after Ctrl-C, a crash, or a power cut
  colgen resume run.checkpoint --time-limit 3600 --json out.json

The instance is read again from its file, which must not have changed. If the
checkpoint is damaged, the previous one (FILE~) is used instead. Limits and
output files must be given again.
"""

_TRAIN = """\
examples:
  colgen train coreference --data litbank --model coref.npz
  colgen train grandparent_parsing --train a.conllu --dev b.conllu --model p.npz
  colgen train chain_map --data english_ewt --model m.npz --option task=joint

`colgen templates NAME` lists the options of a template.
"""

_CHECK = """\
examples:
  colgen solve cutting_stock rolls.txt --certificate proof.jsonl
  colgen check proof.jsonl rolls.txt              is it a valid proof for them?
  python -m colgen.certificate proof.jsonl        the same

exit code 2: FILE or INSTANCE cannot be read, or is damaged
exit code 4: a line of the certificate is false; the first one is printed
exit code 6: part of the certificate is trusted or left open, or the checker
does not support the format of INSTANCE; the output says which
"""

_ABLATION = """\
Solves each FILE by each method and prints a table of the effort: rounds,
mispriced oracle calls, columns, nodes, processor seconds (without compiling).
The first method is the template's own. --vary selects the part that differs:
  stabilization  the dual values that rounds price at (the default)
  bounding       column generation only, or after volume, bundle or subgradients
  pricing        one column per call, or some of the oracles at a time
  choice         the branching candidate
  heuristics     restricted program, diving, none
  cuts           without each of the template's families of cuts, or with those
                 that it omits
  rules          without each of its branching rules

examples:
  colgen ablation cutting_stock rolls.txt
  colgen ablation cutting_stock *.txt --vary choice --vary heuristics
  colgen ablation cutting_stock rolls.txt --relaxation --plot bounds.png

exit code 4: two methods contradict each other
"""

_BENCH = """\
examples:
  colgen bench --list
  colgen bench engine --quick
  colgen bench coreference --data corpora --json figures.json --plot speed.png
"""

_DEMO = """\
examples:
  colgen demo                              templates with short compile times
  colgen demo --all                        all templates
  colgen demo --quick                      one instance per template
  colgen demo cutting_stock colouring      these templates

exit code 4: column generation and brute force disagree, or a demo failed
"""

_WARM = """\
examples:
  colgen warm                              all templates
  colgen warm vehicle_routing coreference  these templates

Solves the example of each template in a process of its own, one per processor
at a time. Later runs load the compiled kernels.

exit code 4: an example could not be solved
"""

_WATCH = """\
examples:
  colgen solve cutting_stock rolls.txt --log run.csv &
  colgen watch run.csv                     until the run ends
  colgen watch run.csv --once              its current state
  colgen watch run.csv --browser           as a page in this machine's browser
"""

_EXAMPLE = """\
examples:
  colgen example cutting_stock > rolls.txt
  colgen solve cutting_stock rolls.txt
  colgen templates cutting_stock           the format of such a file
"""

_TEMPLATES = """\
examples:
  colgen templates                         all of them
  colgen templates grandparent_parsing     its options
"""


class _Parser(argparse.ArgumentParser):
    """Prints usage errors in one sentence that refers to ``--help``, and suggests options for mistyped ones."""

    def __init__(self, **keywords: Any) -> None:
        self._options: list[str] = []
        super().__init__(**keywords, formatter_class=argparse.RawDescriptionHelpFormatter)

    def add_argument(self, *names: Any, **keywords: Any) -> argparse.Action:
        self._options += names
        return super().add_argument(*names, **keywords)

    def check_options(self, words: Sequence[str]) -> None:
        """Report a mistyped option before arguments that are missing because of it."""
        for word in words:
            option = word.partition("=")[0]
            if option == "--":
                return
            if option.startswith("--") and not any(name.startswith(option) for name in self._options):
                self.error(f"there is no option {option!r}{meant(option, self._options, prefix='--')}")

    def error(self, message: str) -> NoReturn:
        more = f" (see {self.prog} --help)"
        text = one_line(f"{self.prog}: {message}", LONGEST - len(more)) + more
        self.exit(BAD_INPUT, f"{wrap(text, sys.stderr)}\n")


class _Version(argparse.Action):
    """Prints the version, which is looked up only on request because that is slow."""

    def __init__(self, option_strings: Sequence[str], dest: str, help: str | None = None) -> None:
        super().__init__(option_strings, argparse.SUPPRESS, nargs=0, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from colgen import __version__

        print(f"colgen {__version__}")
        parser.exit()


_Add: TypeAlias = Callable[[str, str, str, str], argparse.ArgumentParser]
"""Adds a command: its name, a summary, a description, examples."""


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Return the parsed arguments; raise SystemExit after printing a usage error or the help."""
    words = sys.argv[1:] if argv is None else argv
    parser = _Parser(
        prog="colgen",
        description="Column and row generation with bounds that prove how good an answer is.",
        epilog=wrap(_HELP),
    )
    parser.add_argument("-V", "--version", action=_Version, help="show program's version number and exit")
    commands = parser.add_subparsers(title="commands", dest="command", metavar="COMMAND", required=True)
    parsers: dict[str, _Parser] = {}

    def add(name: str, summary: str, description: str, examples: str) -> argparse.ArgumentParser:
        command = commands.add_parser(name, help=summary, description=description, epilog=wrap(examples))
        command.add_argument("--traceback", action="store_true", help="print a traceback with errors")
        parsers[name] = command
        return command

    for declare in _COMMANDS:
        declare(add)
    if not words:
        parser.print_help()
        parser.exit()
    _check_words(parser, parsers, words)
    arguments, unknown = parser.parse_known_args(words)
    if unknown:  # reported by the command, whose help lists its arguments
        parsers[arguments.command].error(f"unrecognized arguments: {' '.join(unknown)}")
    if arguments.command == "solve":
        arguments.file = arguments.files[0]
    return arguments


def _check_words(parser: _Parser, commands: Mapping[str, _Parser], words: Sequence[str]) -> None:
    """Report a mistyped command or option, with the one that is nearly the same."""
    if words[0].startswith("-"):
        parser.check_options(words[:1])
    elif words[0] in commands:
        commands[words[0]].check_options(words[1:])
    else:
        hint = meant(words[0], list(commands)) or f"; there are: {', '.join(commands)}"
        parser.error(f"there is no command {words[0]!r}{hint}")


def _add_outputs(command: argparse.ArgumentParser) -> None:
    """Add the options that name files for the outcome of a run."""
    command.add_argument("--json", metavar="FILE", help="write answer and bounds; - for standard output")
    command.add_argument("--log", metavar="CSV", type=Path, help="write one line per round during the run")
    command.add_argument("--plot", metavar="PNG", type=Path, help="draw the run (needs matplotlib)")
    command.add_argument("--picture", metavar="PNG", type=Path, help="draw the answer (needs matplotlib)")
    command.add_argument("--solution", metavar="SOL", type=Path, help="write the answer of a model as a .sol file")
    command.add_argument("--report", metavar="HTML", type=Path, help="write summary, pictures and log as one page")


def _add_solve(add: _Add) -> None:
    command = add("solve", "solve a file", "Solve the instances of a file with a problem template.", _SOLVE)
    command.usage = "%(prog)s [options] TEMPLATE FILE [FILE ...]"
    command.add_argument("template", metavar="TEMPLATE", help="name of a template, see `colgen templates`")
    command.add_argument("files", metavar="FILE", type=Path, nargs="+", help="what to solve, see below")
    command.add_argument("--model", metavar="MODEL", type=Path, help="a trained model, which scores the text in FILE")
    command.add_argument(
        "--option",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="see `colgen templates NAME`; may be repeated",
    )
    command.add_argument("--skip-bad", action="store_true", help="skip malformed documents, with a message for each")
    command.add_argument("--all-heads", action="store_true", help="with a model: prove optimality among all candidates")
    command.add_argument("--dec", metavar="DEC", type=Path, help="template model: the decomposition to use")
    command.add_argument("--compact", action="store_true", help="template model: hand the model to HiGHS")
    command.add_argument("--time-limit", metavar="S", type=_nonnegative, help="stop after this many seconds")
    command.add_argument("--gap", metavar="G", type=_nonnegative, help="stop at this relative gap (0.01 is 1%%)")
    command.add_argument("--node-limit", metavar="N", type=_count, help="stop after this many branch-and-bound nodes")
    command.add_argument("--workers", metavar="N", type=_count, help="number of processors to use (1)")
    command.add_argument("--cluster", metavar="ADDRESS", help="solve each FILE by Dask: scheduler's address, or local")
    command.add_argument(
        "--subtrees", metavar="HOW", type=_one_of("batches", "free"), help="distribute one tree: batches, or free"
    )
    command.add_argument("--node-batch", metavar="K", type=_count, help="evaluate this many open nodes at once (1)")
    command.add_argument("--lp", metavar="NAME", help="linear programming solver (highs), such as gurobi")
    command.add_argument("--relaxation", action="store_true", help="solve the root's relaxation only")
    _add_outputs(command)
    command.add_argument(
        "--certificate", metavar="FILE", type=Path, help="write a proof for `colgen check` (.gz: compressed)"
    )
    command.add_argument("--checkpoint", metavar="FILE", type=Path, help="write checkpoints for `colgen resume`")
    command.add_argument("--every", metavar="S", type=_nonnegative, help="seconds between checkpoints (60)")
    command.add_argument("--quiet", action="store_true", help="no progress and no summary on standard error")


def _add_decompose(add: _Add) -> None:
    command = add("decompose", "find blocks in a model", "List the decompositions of a model in a file.", _DECOMPOSE)
    command.add_argument("file", metavar="MODEL", type=Path, help="a model in MPS, LP or SMPS format")
    command.add_argument("--dec", metavar="DEC", type=Path, help="score this decomposition (.dec, .blk, .jdec) instead")
    command.add_argument("--picture", metavar="PNG", type=Path, help="draw the matrix by blocks (needs matplotlib)")
    command.add_argument("--write", metavar="DEC", type=Path, help="write the decomposition in GCG's format .dec")


def _add_resume(add: _Add) -> None:
    command = add("resume", "resume a run", "Resume a run from its checkpoint.", _RESUME)
    command.add_argument("checkpoint", metavar="FILE", type=Path, help="file of `colgen solve --checkpoint`")
    command.add_argument("--time-limit", metavar="S", type=_nonnegative, help="stop after this many further seconds")
    command.add_argument("--gap", metavar="G", type=_nonnegative, help="stop at this relative gap (0.01 is 1%%)")
    command.add_argument("--node-limit", metavar="N", type=_count, help="stop after this many nodes in total")
    command.add_argument("--every", metavar="S", type=_nonnegative, help="seconds between checkpoints")
    _add_outputs(command)
    command.add_argument("--quiet", action="store_true", help="no progress and no summary on standard error")


def _add_check(add: _Add) -> None:
    command = add("check", "check a certificate", "Check a proof written by `colgen solve --certificate`.", _CHECK)
    command.add_argument("file", metavar="FILE", type=Path, help="the certificate")
    command.add_argument("instance", metavar="INSTANCE", type=Path, nargs="?", help="the file that was solved")


def _add_watch(add: _Add) -> None:
    command = add("watch", "watch a run", "Show a running solve from its log.", _WATCH)
    command.add_argument("file", metavar="FILE", type=Path, help="the log, as written by solve --log")
    command.add_argument("--once", action="store_true", help="print its current state and exit")
    command.add_argument("--browser", action="store_true", help="show it as a page, on this machine only")
    command.add_argument("--port", metavar="N", type=_port, help="port of the page (default: a free one)")


def _add_train(add: _Add) -> None:
    command = add("train", "train a model", "Learn a template's scores from annotated data.", _TRAIN)
    command.add_argument("template", metavar="TEMPLATE", help="name of a template, see `colgen templates`")
    command.add_argument("--data", metavar="DIR", type=Path, help="folder of annotated data")
    command.add_argument("--train", metavar="FILE", type=Path, help="instead of --data: the file to learn from")
    command.add_argument("--dev", metavar="FILE", type=Path, help="with --train: the file to tune on")
    command.add_argument("--model", metavar="FILE", type=Path, required=True, help="the model to write")
    command.add_argument(
        "--option", metavar="NAME=VALUE", action="append", default=[], help="option of the training; may be repeated"
    )
    command.add_argument("--skip-bad", action="store_true", help="skip malformed documents, with a message for each")
    command.add_argument("--seed", metavar="N", type=_natural, default=0, help="of all random numbers (0)")
    command.add_argument("--quick", action="store_true", help="little data and training, for a trial run")
    command.add_argument("--json", metavar="FILE", help="write the figures; - writes them instead of the table")


def _add_ablation(add: _Add) -> None:
    command = add("ablation", "compare methods", "Solve files by many methods and compare their effort.", _ABLATION)
    command.add_argument("template", metavar="TEMPLATE", help="name of a template, see `colgen templates`")
    command.add_argument("files", metavar="FILE", type=Path, nargs="+", help="an instance")
    command.add_argument(
        "--vary", metavar="PART", type=_one_of(*VARIED), action="append", help="the part that differs; may be repeated"
    )
    command.add_argument("--time-limit", metavar="S", type=_nonnegative, help="seconds per run")
    command.add_argument("--relaxation", action="store_true", help="solve the root's relaxation only")
    command.add_argument("--json", metavar="FILE", help="write lines and rounds; - writes them instead of the table")
    command.add_argument("--csv", metavar="FILE", type=Path, help="write one line per file and method")
    command.add_argument(
        "--plot", metavar="PNG", type=Path, help="draw the bounds; for several files the proved shares"
    )
    command.add_argument("--quiet", action="store_true", help="no line per run on standard error")


def _add_demo(add: _Add) -> None:
    command = add(
        "demo", "compare with brute force", "Solve small instances by column generation and by brute force.", _DEMO
    )
    command.add_argument("templates", metavar="TEMPLATE", nargs="*", help="only these templates")
    command.add_argument("--quick", action="store_true", help="the first instance of each template only")
    command.add_argument("--all", action="store_true", help="include templates whose first run compiles for minutes")


def _add_warm(add: _Add) -> None:
    command = add("warm", "compile kernels ahead of time", "Compile and store the kernels that examples need.", _WARM)
    command.add_argument("templates", metavar="TEMPLATE", nargs="*", help="only the kernels of these templates")


def _add_example(add: _Add) -> None:
    command = add("example", "write a small instance", "Write a small instance to standard output.", _EXAMPLE)
    command.add_argument("template", metavar="TEMPLATE", help="name of a template, see `colgen templates`")


def _add_bench(add: _Add) -> None:
    command = add("bench", "measure", "Run a benchmark (in a checkout; the installed package has none).", _BENCH)
    command.add_argument("name", metavar="NAME", nargs="?", help="name of a benchmark, see --list")
    command.add_argument("--list", action="store_true", help="list the benchmarks")
    command.add_argument("--data", metavar="DIR", type=Path, help="folder of the corpora")
    command.add_argument("--json", metavar="FILE", help="write the figures; - writes them instead of the table")
    command.add_argument("--plot", metavar="PNG", type=Path, help="draw the measurements (needs matplotlib)")
    command.add_argument("--quick", action="store_true", help="the smallest instances only")
    command.add_argument("--minutes", metavar="M", type=_nonnegative, help="limit the time by using fewer instances")
    command.add_argument("--seed", metavar="N", type=_natural, help="of random instances, if there are any (0)")


def _add_templates(add: _Add) -> None:
    command = add(
        "templates", "list the problem templates", "List the installed problem templates, or describe one.", _TEMPLATES
    )
    command.add_argument("template", metavar="NAME", nargs="?", help="a template to describe")


_COMMANDS = (
    _add_demo,
    _add_templates,
    _add_example,
    _add_solve,
    _add_decompose,
    _add_check,
    _add_resume,
    _add_watch,
    _add_train,
    _add_ablation,
    _add_warm,
    _add_bench,
)
"""In the order of the help."""


def _one_of(*words: str) -> Callable[[str], str]:
    def check(text: str) -> str:
        if text not in words:
            *others, last = words
            raise argparse.ArgumentTypeError(
                f"expected {', '.join(others)} or {last}, not {text!r}{meant(text, words)}"
            )
        return text

    return check


def _nonnegative(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not value >= 0:
        raise argparse.ArgumentTypeError(f"expected a number ≥ 0, not {text!r}")
    return value


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text)):
        raise argparse.ArgumentTypeError(f"expected an integer ≥ 1, not {text!r}")
    return int(text)


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 0 < int(text) < 2**16):
        raise argparse.ArgumentTypeError(f"expected a port from 1 to 65535, not {text[:40]!r}")
    return int(text)


def _natural(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise argparse.ArgumentTypeError(f"expected an integer ≥ 0, not {text!r}")
    return int(text)

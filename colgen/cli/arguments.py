"""Arguments and exit codes of the command line: what may be said, and what ``--help`` says of it."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn, TypeAlias

from colgen.core.text import LONGEST, one_line

PROVED, NO_ANSWER, BAD_INPUT, NOT_PROVED, DIAGNOSTIC, NARROWER = range(6)
VARIED = ("stabilization", "bounding", "pricing", "choice", "heuristics", "cuts", "rules")
"""What the methods of an ablation differ in."""

CLOSED_PIPE = 141
"""128 + SIGPIPE: what a shell reports of a program whose reader went away."""

_HELP = """\
examples:
  colgen templates                         what can be solved
  colgen example cutting_stock > rolls.txt a file to begin with
  colgen solve cutting_stock rolls.txt     the answer, and what is proved of it
  colgen check proof.jsonl rolls.txt       a proof, once more, by another program
  colgen train chain_map --data english_ewt --model tagger.npz
  colgen demo                              column generation against brute force
  colgen bench engine --quick --json -     measure; colgen bench --list says what

exit codes:
  0  proved optimal (the relaxation, with --relaxation); others: done
  1  proved infeasible, or unbounded
  2  bad input or usage
  3  a limit was reached, or the answer is not proved optimal
  4  a diagnostic: going on could have given a wrong answer
  5  proved optimal among some answers (--all-heads)
  6  `colgen check`: part of the certificate is trusted or left open
  130  interrupted by Ctrl-C (143: by SIGTERM); the best answer so far is printed
More: colgen COMMAND --help.
"""

_SOLVE = """\
FILE is an instance     colgen solve cutting_stock rolls.txt
  a text, with a model  colgen solve coreference text.conll --model coref.npz
  a trained model       colgen solve grandparent_parsing MODEL < in.conllu

One instance: a report of the run on standard output. All instances of a text, or
several FILEs (by --workers processes, or on a --cluster): answers as they come, and
a line that sums up on standard error; --json writes a line for each. Exit code 0: all
proved optimal; 5: some among few candidates; 1: the others infeasible; 3 otherwise.
--time-limit, --gap: of each.
"""

_RESUME = """\
examples:
  colgen solve cutting_stock rolls.txt --checkpoint run.checkpoint --every 30
  colgen resume run.checkpoint             after Ctrl-C, a crash, or a power cut
  colgen resume run.checkpoint --time-limit 3600 --json out.json

The instance is read again from where it was; another one is refused. A file that
is damaged is refused too, and the one before it (FILE~) is used instead. Limits
and files to write are said anew.
"""

_TRAIN = """\
examples:
  colgen train coreference --data litbank --model coref.npz
  colgen train grandparent_parsing --train a.conllu --dev b.conllu --model parser.npz
  colgen train chain_map --data english_ewt --model joint.npz --option task=joint

`colgen templates NAME` lists the options of a template.
"""

_CHECK = """\
examples:
  colgen solve cutting_stock rolls.txt --certificate proof.jsonl
  colgen check proof.jsonl rolls.txt       is it the proof of this instance, and true?
  python -m colgen.certificate proof.jsonl       the same

exit code 2: FILE or INSTANCE cannot be read, or is damaged
exit code 4: a line of the certificate is not true; the first one is named
exit code 6: part of the certificate is trusted or left open, or INSTANCE has a
format that the checker does not read; the output states which
"""

_ABLATION = """\
Each FILE is solved by each method, and a table says what that took: rounds,
mispriced calls of the oracles, columns, nodes, seconds of the processor (without
compiling). The first method is the template as it is. --vary says what differs:
  stabilization  which dual values are priced at (this, if nothing is said)
  bounding       column generation alone, or after volume, bundle, subgradients
  pricing        one column a call, some of the oracles at a time
  choice         what the tree branches on
  heuristics     restricted program, diving, none
  cuts           without each of the template's families of cuts; with those that
                 it leaves out
  rules          without each of its branching rules

examples:
  colgen ablation cutting_stock rolls.txt
  colgen ablation cutting_stock *.txt --vary choice --vary heuristics --time-limit 60
  colgen ablation cutting_stock rolls.txt --relaxation --plot bounds.png --json all.json

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
  colgen demo                              templates whose kernels are soon compiled
  colgen demo --all                        all templates
  colgen demo --quick                      one instance of each
  colgen demo cutting_stock colouring      these templates

exit code 4: column generation and brute force disagree, or a demo failed
"""

_WARM = """\
examples:
  colgen warm                              all templates
  colgen warm vehicle_routing coreference  these templates

Solves the example of each template in a process of its own, as many at a time as
there are processors. Later runs load what these have compiled.

exit code 4: an example could not be solved
"""

_WATCH = """\
examples:
  colgen solve cutting_stock rolls.txt --log run.csv &
  colgen watch run.csv                     until Ctrl-C
  colgen watch run.csv --once              as it is now
  colgen watch run.csv --browser           as a page of this machine, in the browser
"""

_EXAMPLE = """\
examples:
  colgen example cutting_stock > rolls.txt
  colgen solve cutting_stock rolls.txt
  colgen templates cutting_stock           what such a file holds
"""

_TEMPLATES = """\
examples:
  colgen templates                         all of them
  colgen templates grandparent_parsing     its options
"""


class _Parser(argparse.ArgumentParser):
    """Says a usage error in one sentence; the whole usage is one ``--help`` away."""

    def error(self, message: str) -> NoReturn:
        more = f" (see {self.prog} --help)"
        self.exit(BAD_INPUT, one_line(f"{self.prog}: {message}", LONGEST - len(more)) + more + "\n")


class _Version(argparse.Action):
    """Prints the version, which is looked up among all installed packages, when it is asked for."""

    def __init__(self, option_strings: Sequence[str], dest: str, help: str | None = None) -> None:
        super().__init__(option_strings, argparse.SUPPRESS, nargs=0, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from colgen import __version__

        print(f"colgen {__version__}")
        parser.exit()


_Add: TypeAlias = Callable[[str, str, str, str], argparse.ArgumentParser]
"""Adds a command: its name, a summary, a description, examples."""


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """The arguments; ``command`` is the command's name.

    Raises
    ------
    SystemExit
        After a usage error, or the help, has been printed.
    """
    parser = _Parser(
        prog="colgen",
        description="Column and row generation with bounds that prove how good an answer is.",
        epilog=_HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("-V", "--version", action=_Version, help="show program's version number and exit")
    commands = parser.add_subparsers(title="commands", dest="command", metavar="COMMAND", required=True)

    def add(name: str, summary: str, description: str, examples: str) -> argparse.ArgumentParser:
        command = commands.add_parser(
            name,
            help=summary,
            description=description,
            epilog=examples,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        command.add_argument("--traceback", action="store_true", help="show where an error came from")
        return command

    for declare in _COMMANDS:
        declare(add)
    arguments, unknown = parser.parse_known_args(argv)
    if unknown:  # said by the command whose help shows what there is
        commands.choices[arguments.command].error(f"unrecognized arguments: {' '.join(unknown)}")
    if arguments.command == "solve":
        arguments.file = arguments.files[0]
    return arguments


def _add_solve(add: _Add) -> None:
    command = add("solve", "solve a file", "Solve what a file holds with a problem template.", _SOLVE)
    command.add_argument("template", metavar="TEMPLATE", help="its name, as `colgen templates` lists it")
    command.add_argument("files", metavar="FILE", type=Path, nargs="+", help="what to solve, see below")
    command.add_argument("--model", metavar="MODEL", type=Path, help="a trained model, which scores the text in FILE")
    command.add_argument(
        "--option",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="see `colgen templates NAME`; may be repeated",
    )
    command.add_argument("--skip-bad", action="store_true", help="leave malformed documents out, and name each")
    command.add_argument("--all-heads", action="store_true", help="with a model: prove it among all candidates")
    command.add_argument("--time-limit", metavar="S", type=_nonnegative, help="stop after so many seconds")
    command.add_argument("--gap", metavar="G", type=_nonnegative, help="stop at this relative gap (0.01 is 1%%)")
    command.add_argument("--node-limit", metavar="N", type=_count, help="stop after so many branch-and-bound nodes")
    command.add_argument("--workers", metavar="N", type=_count, help="compute on so many processors (1)")
    command.add_argument("--cluster", metavar="ADDRESS", help="solve each FILE by Dask: a scheduler, or local")
    command.add_argument("--subtrees", metavar="HOW", type=_subtrees, help="share one tree out: batches, or free")
    command.add_argument("--node-batch", metavar="K", type=_count, help="so many open nodes at once (1)")
    command.add_argument("--lp", metavar="NAME", help="the solver of linear programs (highs), such as gurobi")
    command.add_argument("--relaxation", action="store_true", help="solve the root's relaxation only")
    command.add_argument("--json", metavar="FILE", help="write answer and bounds; - for standard output")
    command.add_argument("--log", metavar="CSV", type=Path, help="write one line a round, as they come")
    command.add_argument("--plot", metavar="PNG", type=Path, help="draw the run (needs matplotlib)")
    command.add_argument("--picture", metavar="PNG", type=Path, help="draw the answer (likewise)")
    command.add_argument("--report", metavar="HTML", type=Path, help="write summary, pictures and log as one page")
    command.add_argument(
        "--certificate", metavar="FILE", type=Path, help="write a proof for `colgen check` (.gz: compressed)"
    )
    command.add_argument("--checkpoint", metavar="FILE", type=Path, help="keep what `colgen resume` goes on from")
    command.add_argument("--every", metavar="S", type=_nonnegative, help="seconds from one checkpoint to the next (60)")
    command.add_argument("--quiet", action="store_true", help="no progress and no summing up on standard error")


def _add_resume(add: _Add) -> None:
    command = add("resume", "go on with a run", "Go on with a run that has kept a checkpoint.", _RESUME)
    command.add_argument("checkpoint", metavar="FILE", type=Path, help="what `colgen solve --checkpoint` has kept")
    command.add_argument("--time-limit", metavar="S", type=_nonnegative, help="stop after so many seconds more")
    command.add_argument("--gap", metavar="G", type=_nonnegative, help="stop at this relative gap (0.01 is 1%%)")
    command.add_argument("--node-limit", metavar="N", type=_count, help="stop after so many nodes in all")
    command.add_argument("--every", metavar="S", type=_nonnegative, help="seconds from one checkpoint to the next")
    command.add_argument("--json", metavar="FILE", help="write answer and bounds; - writes them instead of the text")
    command.add_argument("--log", metavar="CSV", type=Path, help="write one line a round")
    command.add_argument("--plot", metavar="PNG", type=Path, help="draw the run (needs matplotlib)")
    command.add_argument("--picture", metavar="PNG", type=Path, help="draw the answer (likewise)")
    command.add_argument("--report", metavar="HTML", type=Path, help="write summary, pictures and log as one page")
    command.add_argument("--quiet", action="store_true", help="no progress and no summing up on standard error")


def _add_check(add: _Add) -> None:
    command = add(
        "check", "check a certificate", "Check a proof that `colgen solve --certificate` has written.", _CHECK
    )
    command.add_argument("file", metavar="FILE", type=Path, help="the certificate")
    command.add_argument("instance", metavar="INSTANCE", type=Path, nargs="?", help="the file that was solved")


def _add_watch(add: _Add) -> None:
    command = add("watch", "look on at a run", "Show a run that is under way, from the log that it writes.", _WATCH)
    command.add_argument("file", metavar="FILE", type=Path, help="the log: what solve --log writes")
    command.add_argument("--once", action="store_true", help="show it as it is now")
    command.add_argument("--browser", action="store_true", help="show it as a page, to this machine alone")
    command.add_argument("--port", metavar="N", type=_port, help="where the page is (one that is free)")


def _add_train(add: _Add) -> None:
    command = add("train", "train a model", "Learn a template's scores from annotated data.", _TRAIN)
    command.add_argument("template", metavar="TEMPLATE", help="its name, as `colgen templates` lists it")
    command.add_argument("--data", metavar="DIR", type=Path, help="folder of annotated data")
    command.add_argument("--train", metavar="FILE", type=Path, help="instead: the file to learn from")
    command.add_argument("--dev", metavar="FILE", type=Path, help="with --train: the file to tune on")
    command.add_argument("--model", metavar="FILE", type=Path, required=True, help="the model to write")
    command.add_argument(
        "--option", metavar="NAME=VALUE", action="append", default=[], help="how to learn; may be repeated"
    )
    command.add_argument("--skip-bad", action="store_true", help="leave malformed documents out, and name each")
    command.add_argument("--seed", metavar="N", type=_whole, default=0, help="of everything random (0)")
    command.add_argument("--quick", action="store_true", help="little data and training, to see that it runs")
    command.add_argument("--json", metavar="FILE", help="write the figures; - writes them instead of the table")


def _add_ablation(add: _Add) -> None:
    command = add(
        "ablation", "compare methods", "Solve files by many methods, and say what each of them took.", _ABLATION
    )
    command.add_argument("template", metavar="TEMPLATE", help="its name, as `colgen templates` lists it")
    command.add_argument("files", metavar="FILE", type=Path, nargs="+", help="an instance")
    command.add_argument(
        "--vary", metavar="PART", choices=VARIED, action="append", help="what differs, see below; may be repeated"
    )
    command.add_argument("--time-limit", metavar="S", type=_nonnegative, help="of each run, in seconds")
    command.add_argument("--relaxation", action="store_true", help="solve the root's relaxation only")
    command.add_argument("--json", metavar="FILE", help="write lines and rounds; - writes them instead of the table")
    command.add_argument("--csv", metavar="FILE", type=Path, help="write the lines, of each file and method")
    command.add_argument("--plot", metavar="PNG", type=Path, help="draw the bounds, or of several files what is proved")
    command.add_argument("--quiet", action="store_true", help="no line for each run on standard error")


def _add_demo(add: _Add) -> None:
    command = add(
        "demo", "compare with brute force", "Solve small instances by column generation and by brute force.", _DEMO
    )
    command.add_argument("templates", metavar="TEMPLATE", nargs="*", help="those of these templates alone")
    command.add_argument("--quick", action="store_true", help="the first instance of each template only")
    command.add_argument("--all", action="store_true", help="also templates that take minutes to compile, once")


def _add_warm(add: _Add) -> None:
    command = add("warm", "compile kernels ahead of time", "Compile and store the kernels that examples need.", _WARM)
    command.add_argument("templates", metavar="TEMPLATE", nargs="*", help="only the kernels of these templates")


def _add_example(add: _Add) -> None:
    command = add("example", "write a small instance", "Write a small instance to the standard output.", _EXAMPLE)
    command.add_argument("template", metavar="TEMPLATE", help="its name, as `colgen templates` lists it")


def _add_bench(add: _Add) -> None:
    command = add("bench", "measure", "Run a benchmark (from a checkout: the installed package has none).", _BENCH)
    command.add_argument("name", metavar="NAME", nargs="?", help="its name, as --list shows it")
    command.add_argument("--list", action="store_true", help="list the benchmarks")
    command.add_argument("--data", metavar="DIR", type=Path, help="folder of the corpora")
    command.add_argument("--json", metavar="FILE", help="write the figures; - writes them instead of the table")
    command.add_argument("--plot", metavar="PNG", type=Path, help="draw the measurements (needs matplotlib)")
    command.add_argument("--quick", action="store_true", help="the smallest instances only")
    command.add_argument("--minutes", metavar="M", type=_nonnegative, help="cut short to so long: fewer instances")
    command.add_argument("--seed", metavar="N", type=_whole, help="of random instances, where some are drawn (0)")


def _add_templates(add: _Add) -> None:
    command = add(
        "templates", "list the problem templates", "List the installed problem templates, or describe one.", _TEMPLATES
    )
    command.add_argument("template", metavar="NAME", nargs="?", help="describe this one")


_COMMANDS = (
    _add_solve,
    _add_resume,
    _add_check,
    _add_watch,
    _add_train,
    _add_ablation,
    _add_demo,
    _add_warm,
    _add_example,
    _add_bench,
    _add_templates,
)
"""In the order of the help."""


def _subtrees(text: str) -> str:
    if text not in ("batches", "free"):
        raise argparse.ArgumentTypeError(f"expected batches or free, not {text!r}")
    return text


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


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 0 < int(text) < 2**16):
        raise argparse.ArgumentTypeError(f"expected a port, 1 to 65535, not {text[:40]!r}")
    return int(text)


def _whole(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise argparse.ArgumentTypeError(f"expected a whole number, zero or more, not {text!r}")
    return int(text)

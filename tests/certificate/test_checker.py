"""The checker on true and false certificates, written by hand and by runs."""

import gzip
import hashlib
import json
import shutil
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

import colgen.certificate
from colgen import Method, NodeLimit, Record, solve
from colgen.certificate.checker import FALSE, PROVED, TRUSTED, check, main
from colgen.certificate.checker_bounds import check_fixing
from colgen.certificate.checker_pricing import CheckerState, WrongError
from colgen.certificate.checker_program import Claims, Program
from colgen.cli.main import main as command
from colgen.core.result import Termination
from colgen.problems.cutting_stock import CuttingStock, CuttingStockInstance, bin_packing, uniform, write
from tests.fuzz.alterations import find_undetected
from tests.fuzz.handmade import HAND, ROLLS, certificate, claim, formulate

# The relaxation is 259/132, and yet three rolls are needed.
TREE = CuttingStockInstance(132, (44, 33, 12), (2, 3, 6))


def certified(instance, path, **settings):
    return solve(CuttingStock(instance), record=Record(certificate=path), **settings)


def lines_of(path):
    return Path(path).read_text().splitlines()


def holds(lines):
    try:
        check(lines)
    except WrongError:
        return False
    return True


def fixes(program, state, fix):
    try:
        check_fixing(program, state, fix, Fraction(3), Claims())
    except WrongError:
        return False
    return True


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A certificate with a fixing and two splits, more than the proof needs."""
    path = tmp_path_factory.mktemp("proof") / "tree.jsonl"
    certified(TREE, path)
    *head, leaf, end = map(json.loads, lines_of(path))
    claim = leaf["claim"]
    fix = {"what": "positions", "unit": claim["unit"], "duals": claim["duals"], "counts": []}
    fix.update(least=claim["least"], bound=claim["bound"], closed=0)
    program, claims = Program(head[2]["formulation"]), Claims()
    outer, inner = {"pieces": [0, 1, 0, 132], "at_most": 1}, {"pieces": [0, 0, 44, 44], "at_most": 0}
    left, right = program.split(CheckerState(), outer, 2, claims)
    states = [right, *reversed(program.split(left, inner, 2, claims))]
    while not fixes(program, right.copy(), fix):
        fix["closed"] += 1  # only the checker knows the number
    fixes(program, right, fix)

    def claimed(state):
        least = program.pricing[0].least(claim["duals"], Fraction(claim["unit"]), {}, state)
        return {**claim, "least": [int(least)]}

    records = [
        {"node": 0, "split": outer, "children": [1, 2]},
        {"node": 2, "fix": fix},
        {"node": 2, "claim": claimed(states[0])},
        {"node": 1, "split": inner, "children": [3, 4]},
        {"node": 4, "claim": claimed(states[1])},
        {"node": 3, "claim": claimed(states[2])},
    ]
    end["end"].update(lines=11, leaves=3)
    return [json.dumps(record) for record in [*head, *records, end]]


@pytest.mark.parametrize("seed", range(6))
def test_complete_trees_are_proved(tmp_path, seed):
    path, file = tmp_path / "proof.jsonl.gz", tmp_path / "rolls.txt"
    instance = bin_packing(40, seed) if seed % 2 else uniform(6, seed, demands=(1, 5))
    result = certified(instance, path)
    write(instance, file)
    verdict = check(gzip.decompress(path.read_bytes()).decode().splitlines(), file.read_text())
    assert result.termination is Termination.OPTIMAL
    assert (verdict.proves, verdict.objective, verdict.claims.trusted) == ("optimal", result.objective, 0)


def test_the_certificate_of_another_instance_is_refused(tmp_path, capsys):
    path, file = tmp_path / "proof.jsonl", tmp_path / "rolls.txt"
    certified(TREE, path)
    write(CuttingStockInstance(132, TREE.widths, (2, 3, 7)), file)
    assert main([str(path), str(file)]) == FALSE
    assert "line 2: the instance differs" in capsys.readouterr().out


def test_a_stopped_run_proves_its_bound(tmp_path):
    path = tmp_path / "proof.jsonl"
    certified(bin_packing(60, 3), path, stop=NodeLimit(1), method=Method(heuristics=()))
    verdict = check(lines_of(path))
    assert verdict.proves in ("bound", "optimal")
    assert verdict.claims.trusted == 0


def test_the_first_false_line_is_reported(tree):
    answer = json.loads(tree[3])
    answer["answer"]["columns"][0][1] += 1
    with pytest.raises(WrongError, match="row") as caught:
        check([*tree[:3], json.dumps(answer), *tree[4:]])
    assert caught.value.line == 4


def test_large_numbers_are_checked_like_others(tmp_path):
    path = tmp_path / "proof.jsonl"
    certified(TREE, path)
    *head, leaf, end = map(json.loads, lines_of(path))
    leaf["claim"]["duals"] = [-(10**400), 10**400, 10**400]
    with pytest.raises(WrongError) as caught:
        check(json.dumps(record) for record in [*head, leaf, end])
    assert caught.value.line == len(head) + 1


def test_a_fixing_replaces_the_column_that_a_problem_needs():
    # One column is used. It costs 10, and 9 with the item: fixing must not count both.
    pricing = {"kind": "knapsack", "uses": [1, 1], "capacity": 1, "sizes": [1], "copies": [1], "rows": [0]}
    formulation = {
        "sense": "minimize",
        "step": 1,
        "rows": [[0, 1]],
        "pricing": [{**pricing, "cost": 10, "costs": [-1]}],
    }
    instance = {"kind": "by hand", "name": ""}
    duals = {"unit": 1, "duals": [0], "counts": []}
    digest = hashlib.sha256(json.dumps(instance, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
    records = [
        {"certificate": "colgen", "version": 1},
        {"instance": instance, "sha256": digest},
        {"formulation": formulation},
        {"answer": {"objective": 10, "columns": [[0, 1, []]]}},
        {"node": 0, "fix": {"what": "positions", **duals, "least": [9], "bound": 9, "closed": 1}},
        {"node": 0, "claim": {"weight": 1, **duals, "least": [10], "bound": 10}},
        {"end": {"proves": "optimal", "objective": 10, "bound": 10, "lines": 7, "leaves": 1}},
    ]
    with pytest.raises(WrongError, match="0 are closed by these dual values, not 1"):
        check(map(json.dumps, records))


def test_missing_lines_are_detected(tree):
    for k in range(4, len(tree)):
        with pytest.raises(WrongError):
            check([*tree[:k], *tree[k + 1 :]])
    with pytest.raises(WrongError, match="ends early"):
        check(tree[:-1])


def test_mutations_that_change_the_meaning_are_detected(tree):
    assert check(tree).leaves > 1
    assert not find_undetected([tree], range(60))


def test_the_checker_needs_only_the_standard_library(tmp_path):
    """Run it in a package of its own."""
    path, home = tmp_path / "proof.jsonl", Path(colgen.certificate.__file__).parent
    certified(TREE, path)
    alone = tmp_path / "colgen" / "certificate"
    alone.mkdir(parents=True)
    (tmp_path / "colgen" / "__init__.py").write_text("")
    modules = sorted(home.glob("checker*.py"))
    for module in [*modules, home / "__init__.py", home / "__main__.py"]:
        shutil.copy(module, alone)
    run = [sys.executable, "-S", "-m", "colgen.certificate", str(path)]
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, timeout=60, env={})
    assert done.returncode == PROVED, done.stderr
    assert done.stdout.startswith("Proved optimal")


@pytest.mark.parametrize("text", ["", "{}", '{"certificate": "colgen", "version": 2}'])
def test_a_file_that_is_no_certificate_is_unreadable(tmp_path, text, capsys):
    path = tmp_path / "proof.jsonl"
    path.write_text(text)
    assert main([str(path)]) == FALSE
    assert "line" in capsys.readouterr().out


def test_a_file_of_an_unknown_format_is_not_compared(tmp_path, capsys):
    path, file = tmp_path / "proof.jsonl", tmp_path / "rolls.txt"
    certified(TREE, path)
    file.write_text('{"roll": 132, "items": [], "conflicts": []}')
    assert main([str(path), str(file)]) == TRUSTED
    assert "not checked against the file: expected only the fields" in capsys.readouterr().out


TRUSTING = formulate([{"kind": "trusted", "uses": [0, None]}], [])


def written(records, path):
    path.write_text("\n".join(map(json.dumps, records)))
    return str(path)


@pytest.mark.parametrize("columns", ["trusted", [[0, 2, {"cost": 1, "rows": []}]]])
def test_trusted_claims_have_an_exit_code_and_the_first_line(tmp_path, columns, capsys):
    records = certificate(HAND, 2, columns, [{"node": 0, "claim": {"trusted": 2}}], TRUSTING)
    path = written(records, tmp_path / "proof.jsonl")
    done = subprocess.run(
        [sys.executable, "-m", "colgen.certificate", path], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == main([path]) == command(["check", path]) == TRUSTED not in (PROVED, FALSE)
    for output in (done.stdout, capsys.readouterr().out):
        assert output.startswith("Not proved, 2 claims are trusted; if that is right, optimal: 2.\n")


def test_false_lines_have_one_exit_code(tmp_path):
    path = written(certificate(ROLLS, 3, [], [claim([2, 1], [0], 3, unit=2)]), tmp_path / "proof.jsonl")
    done = subprocess.run(
        [sys.executable, "-m", "colgen.certificate", path], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == main([path]) == command(["check", path]) == FALSE


@pytest.mark.parametrize(("sense", "bound"), [("minimize", 3), ("maximize", 1), ("minimize", None)])
def test_an_answer_beyond_the_bound_of_all_leaves_is_a_contradiction(sense, bound):
    formulation = {**TRUSTING, "sense": sense}
    records = certificate(HAND, 2, "trusted", [{"node": 0, "claim": {"trusted": bound}}], formulation)
    with pytest.raises(WrongError, match="the answer of 2 is a contradiction"):
        check(map(json.dumps, records))


@pytest.mark.parametrize(("sense", "bound"), [("minimize", 1), ("maximize", 3)])
def test_an_answer_within_the_bound_is_no_contradiction(sense, bound):
    claims = [{"node": 0, "claim": {"trusted": bound}}]
    records = certificate(HAND, 2, "trusted", claims, {**TRUSTING, "sense": sense}, proves="bound", bound=bound)
    assert check(map(json.dumps, records)).bound == bound


@pytest.mark.parametrize(("columns", "proves"), [([[0, 3, [[0, 1]]], [0, 1, [[1, 2]]]], "answer"), (None, "nothing")])
def test_an_open_node_proves_no_bound(tmp_path, columns, proves, capsys):
    objective = None if columns is None else 4
    nodes = [
        {"node": 0, "split": {"pieces": [0, 1, 0, 10], "at_most": 1}, "children": [1, 2]},
        {"node": 1, "claim": None},
        claim([2, 1], [0], 4, unit=2, node=2),
    ]
    records = certificate(ROLLS, objective, columns, nodes, proves=proves, bound=None)
    verdict = check(map(json.dumps, records))
    assert (verdict.proves, verdict.bound, verdict.checked) == (proves, None, False)
    assert main([written(records, tmp_path / "proof.jsonl")]) == TRUSTED
    assert capsys.readouterr().out.startswith("Not proved: ")

"""Growing log files."""

import pytest

from colgen import InputError, Method, Record, Sense, solve
from colgen.reporting.live_log import LogFile, describe_state, read_rounds, read_tree, sense_of, tree_of
from tests.toys import CuttingStock
from tests.zoo import Partitioning


def test_a_log_grows_during_the_run_and_equals_the_table_of_the_result(tmp_path, capsys):
    seen = []

    class Reading(LogFile):
        def __call__(self, iteration):
            super().__call__(iteration)
            self._file.flush()
            seen.append(len(read_rounds(path)))

    path = tmp_path / "run.csv"
    result = solve(CuttingStock(), progress=Reading(path))
    assert seen == list(range(1, len(result.iterations) + 1))
    written = path.read_bytes()
    result.to_csv(path)
    assert path.read_bytes() == written
    assert read_rounds(path) == list(result.iterations)
    assert capsys.readouterr().err == ""
    solve(CuttingStock(), progress=LogFile(path, show=True))
    assert "incumbent" in capsys.readouterr().err
    assert len(read_rounds(path)) == len(result.iterations)


def test_the_second_file_has_the_nodes_and_the_end(tmp_path):
    path = tmp_path / "run.csv"
    seen, log = [], LogFile(path)

    def watch(visit):
        seen.append((len(read_tree(path)[0]), read_tree(path)[1]))

    result = solve(
        Partitioning(9, 6, maximize=True, cuts=False),
        method=Method(heuristics=()),
        progress=log,
        record=Record(on_node=watch),
    )
    assert seen == [(k, {}) for k in range(1, len(result.nodes) + 1)]
    nodes, end = read_tree(path)
    for found, node in zip(nodes, sorted(result.nodes, key=lambda node: order(nodes, node)), strict=True):
        assert (found.number, found.parent, found.depth) == (node.number, node.parent, node.depth)
        assert (found.bound, found.outcome) == (node.bound, node.outcome)
        assert found.decisions == tuple(map(str, node.decisions))
    assert [end["ended"], end["figures"]] == str(result).splitlines()[:2]
    assert (end["incumbent"], end["global_bound"], end["gap"]) == (result.objective, result.dual_bound, 0.0)
    state = describe_state(list(result.iterations), end)
    assert state == ["finished: proved optimal", "objective 173, dual bound 173, gap 0%"]
    assert describe_state([], {}) == ["no round yet"]


def order(nodes, node):
    return [each.number for each in nodes].index(node.number)


def test_another_run_replaces_the_second_file(tmp_path):
    log = LogFile(tmp_path / "run.csv")
    for _ in range(2):
        result = solve(CuttingStock(), progress=log)
        assert len(read_tree(log.path)[0]) == len(result.nodes)
    with tree_of(log.path).open("a") as file:
        file.write('[12, 0, 1, 4.0, "bran')  # an incomplete line
    assert len(read_tree(log.path)[0]) == len(result.nodes)
    tree_of(log.path).write_text("[1, 2]\n")
    with pytest.raises(InputError, match="expected the nodes"):
        read_tree(log.path)
    tree_of(log.path).unlink()
    assert read_tree(log.path) == ([], {})


def test_an_incomplete_line_is_not_read(tmp_path):
    path = tmp_path / "run.csv"
    result = solve(CuttingStock(), progress=LogFile(path))
    text = path.read_text()
    path.write_text(text.rstrip()[:-3])
    assert read_rounds(path) == list(result.iterations[:-1])
    path.write_text("")
    assert read_rounds(path) == []


def test_a_file_that_is_no_log_is_refused(tmp_path):
    path = tmp_path / "other.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match=r"other\.csv"):
        read_rounds(path)
    solve(CuttingStock(), progress=LogFile(path))
    path.write_text(path.read_text().replace("\n1,", "\none,"))
    with pytest.raises(InputError, match="line 3"):
        read_rounds(path)


def test_the_sense_follows_from_the_bounds(tmp_path):
    assert sense_of(list(solve(CuttingStock()).iterations)) is Sense.MINIMIZE
    assert sense_of(list(solve(CuttingStock(cost=-1.0)).iterations)) is Sense.MAXIMIZE

"""Growing log files."""

import pytest

from colgen import InputError, Sense, solve
from colgen.reporting.live_log import LogFile, read_rounds, sense_of
from tests.toys import CuttingStock


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

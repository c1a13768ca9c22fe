"""Tables in HTML."""

from colgen.reporting.tables import align, table


def test_what_is_shown_is_escaped():
    shown = table(("a & b",), [("<script>",), ("1",)])
    assert "<th>a &amp; b</th>" in shown
    assert "&lt;script&gt;" in shown
    assert "<script>" not in shown


def test_a_table_without_names_has_no_head():
    assert "thead" not in table((), [("1", "2")])


def test_columns_beyond_the_width_of_the_terminal_are_a_table_of_their_own(monkeypatch):
    head, rows = ("name", "first", "second", "last"), [("a b", "1", "20", "word"), ("c", "100", "2", "words")]
    assert align(head, rows).splitlines() == [
        "name  first  second  last",
        "a b       1      20  word",
        "c       100       2  words",
    ]
    monkeypatch.setenv("COLUMNS", "20")
    assert align(head, rows).split("\n\n") == [
        "name  first  second\na b       1      20\nc       100       2",
        "name  last\na b   word\nc     words",
    ]
    monkeypatch.setenv("COLUMNS", "1")
    assert align(head, rows).count("name") == 3  # at least one column each

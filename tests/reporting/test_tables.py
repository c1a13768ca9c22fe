"""Tables in HTML."""

from colgen.reporting.tables import table


def test_what_is_shown_is_escaped():
    shown = table(("a & b",), [("<script>",), ("1",)])
    assert "<th>a &amp; b</th>" in shown
    assert "&lt;script&gt;" in shown
    assert "<script>" not in shown


def test_a_table_without_names_has_no_head():
    assert "thead" not in table((), [("1", "2")])

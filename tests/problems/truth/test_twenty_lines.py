from problems.truth.twenty_lines import Rolls, draw, prove


def test_instances_are_drawn_alike_for_a_seed():
    one, other = draw(3, 7), draw(3, 7)
    assert (one.widths, one.demands) == (other.widths, other.demands)
    assert 5 <= one.num_items <= 60
    assert draw(3, 8).widths != one.widths


def test_proofs_agree_with_the_template():
    solved, wrong = prove(1, 0, 4)
    assert solved >= 3
    assert wrong == []


def test_the_program_states_rows_and_an_oracle_alone():
    assert set(vars(Rolls)) & {"branching", "heuristics", "warm_start", "separation"} == set()

"""``colgen check``."""

from colgen.cli.arguments import BAD_INPUT, DIAGNOSTIC, PROVED
from colgen.cli.main import main


def test_solve_and_check(tmp_path, capsys):
    rolls, proof = tmp_path / "rolls.txt", tmp_path / "proof.jsonl"
    rolls.write_text("3\n132\n44 2\n33 3\n12 6\n")
    assert main(["solve", "cutting_stock", str(rolls), "--certificate", str(proof), "--quiet"]) == PROVED
    assert main(["check", str(proof), str(rolls)]) == PROVED
    assert "Proved optimal: 3." in capsys.readouterr().out
    proof.write_text(proof.read_text().replace('"objective":3', '"objective":2'))
    assert main(["check", str(proof)]) == DIAGNOSTIC
    assert "line 4: the objective of the answer is 3" in capsys.readouterr().out
    assert main(["check", str(tmp_path / "nothing")]) == BAD_INPUT

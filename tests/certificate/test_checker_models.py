"""The checker's reader of MPS and LP files: equal to HiGHS's, and strict where readers differ."""

import gzip
import hashlib
import json
import math
import os
import random
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from colgen import CompactModel, Record, decompose, read, solve
from colgen.certificate.checker import FALSE, PROVED, TRUSTED, main
from colgen.certificate.checker_files import UnreadError, text_of
from colgen.certificate.checker_models import read_model
from colgen.decomposition.reading.compact_model import MASTER, Partition
from colgen.solvers.linear.named import read_program
from tests.amounts import examples

MODELS = Path(os.environ.get("COLGEN_DATA", Path(__file__).parents[3] / "shared" / "data")) / "mip"


# --- a writer of files with every feature ----------------------------------------------------------------------------


class Writer:
    """Draws a model and writes it in one dialect; the text is all that it returns."""

    def __init__(self, seed):
        self.chance = random.Random(seed)
        names = ["x", "y1", "Z_3", "a.b", "q(1,2)", "e5", "long_name_of_a_variable#17", "R", "w~", "b!"]
        self.variables = names[: self.chance.randint(1, len(names))]
        self.rows = [f"{self.chance.choice(['c', 'Row.', 'r(', 'LIM_'])}{k}" for k in range(self.chance.randint(0, 7))]
        self.entries = {
            (r, v): self.number() for r in ["obj", *self.rows] for v in self.variables if self.chance.random() < 0.5
        }
        self.is_integer = {v: self.chance.random() < 0.5 for v in self.variables}

    def number(self):
        whole = self.chance.choice([0, 1, -1, 3, -17, 250, 1000000])
        return self.chance.choice(
            [
                f"{whole}",
                f"{whole}.",
                f"{self.chance.randint(-99, 99)}.{self.chance.randint(0, 999):03d}",
                f"{self.chance.choice(['', '-'])}.{self.chance.randint(1, 99)}",
                f"{self.chance.randint(-9, 9)}e{self.chance.randint(-3, 3)}",
                f"{self.chance.randint(-9, 9)}.5E+{self.chance.randint(0, 3):02d}",
                repr(self.chance.uniform(-5, 5)),
                f"{self.chance.uniform(-5, 5):.17g}",
            ]
        )

    def bounds(self):
        """Return the lower and upper bound of a variable as texts, None for a bound that is not stated."""
        low, high = sorted((self.chance.randint(-4, 9), self.chance.randint(-4, 9)))
        if self.chance.random() < 0.2:
            low, high = f"{low}.25", f"{high + 1}.5"
        infinite = self.chance.choice(["1e30", "inf", "Infinity", "1E+20"])
        low = self.chance.choice([None, f"{low}", f"{low}", f"-{infinite}"])
        high = self.chance.choice([None, f"{high}", f"{high}", infinite])
        if low is None and high is not None and float(high) < 0:
            high = None
        if low is None and high is not None and self.chance.random() < 0.1:
            high = "0"
        return low, high

    def mps(self):
        chance, lines = self.chance, []
        is_fixed = chance.random() < 0.5
        if is_fixed:  # names of at most 8 characters, in columns
            self.rename(lambda name: name[:7])

        def row(*fields):
            if is_fixed:
                places, text = (1, 4, 14, 24, 39, 49), ""
                for place, field in zip(places, fields, strict=False):
                    text = f"{text:<{place}}{field} "
                lines.append(text.rstrip() if chance.random() < 0.5 else text)
            else:
                gap = chance.choice([" ", "   ", "\t"])
                lines.append(gap + gap.join(field for field in fields if field))
            while chance.random() < 0.05:
                lines.append(chance.choice(["", "* a comment", "   ", "*"]))

        if chance.random() < 0.2:
            lines.append("* written by a test")
        if chance.random() < 0.9:
            lines.append(chance.choice(["NAME", "NAME          model", "NAME a model"]))
        if chance.random() < 0.3:
            lines += ["OBJSENSE", chance.choice(["    MAX", "  MAXIMIZE", "  MIN", " max"])]
        elif chance.random() < 0.2:
            lines.append(chance.choice(["OBJSENSE MAX", "OBJSENSE  MIN", "objsense max"]))
        lines.append(chance.choice(["ROWS", "ROWS ", "rows"]))
        kinds = {r: chance.choice("LGE") for r in self.rows}
        order = [("N", "obj"), *((kinds[r], r) for r in self.rows)]
        if chance.random() < 0.3:
            order.insert(chance.randint(1, len(order)), ("N", "spare"))
            self.entries.update({("spare", v): self.number() for v in self.variables if chance.random() < 0.4})
        if chance.random() < 0.3:  # the objective is the first row N, which need not be the first row
            order.insert(chance.randint(0, len(order) - 1), order.pop(0))
            order.sort(key=lambda each: each[1] == "spare")
        for kind, name in order:
            row(kind, name)
        lines.append("COLUMNS")
        inside = False
        for v in self.variables:
            if self.is_integer[v] != inside:
                inside = self.is_integer[v]
                lines.append(
                    f"    MARKER                 'MARKER'                 '{'INTORG' if inside else 'INTEND'}'"
                )
            mine = [(r, a) for (r, u), a in self.entries.items() if u == v] or [("obj", "0")]
            while mine:
                width = min(chance.randint(1, 2), len(mine))
                row("", v, *(word for pair in mine[:width] for word in pair))
                mine = mine[width:]
        if inside and chance.random() < 0.8:
            lines.append("    MARKER                 'MARKER'                 'INTEND'")
        name = chance.choice(["rhs", "RHS", "B"])
        stated = [(r, self.number()) for r in ["obj", *self.rows] if chance.random() < 0.6]
        if stated or chance.random() < 0.5:
            lines.append("RHS")
            self.pairs(row, "" if chance.random() < 0.1 and not is_fixed else name, stated)
        stated = [(r, self.number()) for r in self.rows if chance.random() < 0.3]
        if stated:
            lines.append("RANGES")
            self.pairs(row, chance.choice(["rng", "RANGES"]), stated)
        if chance.random() < 0.8:
            lines.append("BOUNDS")
            label = chance.choice(["bnd", "BOUND", "" if not is_fixed else "bnd"])
            for v in self.variables:
                for kind, value in self.mps_bounds(v):
                    row(kind, label, v, *([value] if value else []))
        lines.append("ENDATA")
        if chance.random() < 0.1:
            lines.append("anything")
        return chance.choice(["\n", "\n", "\r\n"]).join(lines) + "\n"

    def rename(self, short):
        self.is_integer = {short(v): whole for v, whole in self.is_integer.items()}
        self.entries = {(r, short(v)): a for (r, v), a in self.entries.items()}
        self.variables = [short(v) for v in self.variables]

    def pairs(self, row, name, stated):
        while stated:
            width = min(self.chance.randint(1, 2), len(stated))
            row("", name, *(word for pair in stated[:width] for word in pair))
            stated = stated[width:]

    def mps_bounds(self, v):
        low, high = self.bounds()
        kind = self.chance.choice(["none", "pair", "pair", "FX", "FR", "BV", "MI", "PL", "I"])
        if kind == "none":
            return []
        if kind == "pair":
            stated = [("LO", low), ("UP", high)]
            self.chance.shuffle(stated)
            return [(kind, value) for kind, value in stated if value is not None]
        if kind == "FX":
            return [("FX", self.number())]
        if kind == "I":
            return [("LI", f"{self.chance.randint(-3, 2)}"), ("UI", f"{self.chance.randint(2, 9)}")]
        if kind == "MI":
            return [("MI", None), *([("UP", high)] if high else [])]
        if kind == "PL":
            return [("PL", None), *([("LO", low)] if low else [])]
        return [(kind, self.chance.choice([None, None, "1"]) if kind == "BV" else None)]

    def lp(self):
        chance, parts = self.chance, []
        if chance.random() < 0.3:
            parts.append("\\ a comment: x + y <= 3\n")
        parts.append(chance.choice(["Minimize", "MAXIMIZE", "min", "Max", "minimum", "maximum"]) + "\n")
        parts.append(
            chance.choice([" obj: ", " ", "cost:"])
            + (self.expression("obj", constant=True) or ("" if self.rows else "0 x"))
            + "\n"
        )
        parts.append(chance.choice(["Subject To", "such that", "st", "s.t.", "ST", "subject to"]) + "\n")
        for r in self.rows:
            parts.append(chance.choice([f" {r}: ", f" {r}: ", f"{r} :\n", " "]) + (self.expression(r) or "0 x"))
            side = chance.choice([self.number(), f"+{chance.randint(0, 9)}", "- 3", "+ - 2"])
            parts.append(f"{chance.choice([' ', '', '  '])}{chance.choice(['<=', '>=', '='])} {side}\n")
            if chance.random() < 0.1:
                parts.append(chance.choice(["\n", "\\ more\n", "   \n"]))
        sections = [self.lp_bounds(), *self.lp_types(), chance.choice(["", "semi-continuous\n", "sos\n"])]
        chance.shuffle(sections)
        parts += sections
        parts.append(chance.choice(["End\n", "END", "end\n\n"]))
        text = "".join(parts)
        return text.replace("\n", "\r\n") if chance.random() < 0.1 else text

    def expression(self, row, constant=False):
        chance = self.chance
        terms = []
        for v in self.variables:
            if (row, v) in self.entries:
                value = self.entries[row, v]
                size = value.removeprefix("-")
                sign = "-" if value[0] == "-" else "+"
                gap = chance.choice([" ", "  ", "\n  ", " \\ comment\n\t"])
                terms.append(f"{sign}{chance.choice(['', ' '])}{size if chance.random() < 0.8 else ''}{gap}{v}")
                if chance.random() < 0.05:
                    terms[-1] = f"{chance.choice('+-')} {terms[-1]}"
        if constant and chance.random() < 0.4:
            terms.insert(chance.randint(0, len(terms)), f"+ {chance.randint(1, 9)}.5")
        chance.shuffle(terms)
        text = " ".join(terms)
        return text.removeprefix("+") if chance.random() < 0.3 and not text.startswith(("+ +", "+ -")) else text

    def lp_bounds(self):
        chance, lines = self.chance, []
        for v in [*self.variables, "new"]:
            if chance.random() < 0.4:
                continue
            low, high = self.bounds()
            kind = chance.choice(["sides", "both", "free", "fixed"])
            if kind == "free":
                lines.append(f" {v} {chance.choice(['free', 'FREE', 'Free'])}")
            elif kind == "fixed":
                lines.append(f" {v} = {chance.randint(-3, 3)}")
            elif kind == "both" and low is not None and high is not None:
                lines.append(f" {low} <= {v} <= {high}")
            else:
                sides = [] if low is None else [chance.choice([f" {v} >= {low}", f"{low}<={v}"])]
                sides += [] if high is None else [chance.choice([f" {v} <= {high}", f"{high} >= {v}"])]
                lines += sides
        self.bounded = {
            v for line in lines for v in [*self.variables, "new"] if f"{v}" in line.replace("<=", " ").split()
        }
        heading = chance.choice(["Bounds", "bound", "BOUNDS"])
        return "\n".join([heading, *lines, ""]) if lines or chance.random() < 0.3 else ""

    def lp_types(self):
        chance = self.chance
        whole = [v for v in self.variables if self.is_integer[v]]
        general = [v for v in whole if v in self.bounded or chance.random() < 0.7]
        binary = [v for v in whole if v not in general]
        texts = []
        if general:
            heads = [chance.choice(["General", "generals", "Integers", "gen", "integer"])]
            if chance.random() < 0.2:
                heads.append("Integer")
                texts.append("\n".join([heads[0], *general[:1], heads[1], *general[1:], ""]))
            else:
                texts.append(f"{heads[0]}\n {chance.choice([' ', chr(10)]).join(general)}\n")
        if binary:
            texts.append(f"{chance.choice(['Binary', 'binaries', 'BIN'])}\n {' '.join(binary)}\n")
        return texts


def assert_equal(path):
    """Compare both readers; the checker's with floats to the last bit, and with fractions up to rounding."""
    program, integer, columns, rows = read_program(path)
    exact, rounded = (read_model(text_of(str(path)), number) for number in (Fraction, float))
    for model, near in ((rounded, 0.0), (exact, 1e-14)):
        assert tuple(model.variables) == columns
        assert tuple(model.rows) == rows
        assert (model.sense == "maximize") == program.maximize
        assert math.isclose(model.offset, program.offset, abs_tol=near)
        costs, lower, upper, kinds = map(list, zip(*model.variables.values(), strict=True))
        for ours, theirs in ((costs, program.costs), (lower, program.lower), (upper, program.upper)):
            assert np.allclose(np.array(ours, dtype=float), theirs, rtol=near, atol=near)
        assert kinds == integer.tolist()
        low, high, terms = map(list, zip(*model.rows.values(), strict=True)) if rows else ([], [], [])
        assert np.allclose(np.array(low, dtype=float), program.row_lower, rtol=near, atol=near)
        assert np.allclose(np.array(high, dtype=float), program.row_upper, rtol=near, atol=near)
        place = {name: k for k, name in enumerate(columns)}
        matrix = np.zeros((len(rows), len(columns)))
        for r, row in enumerate(terms):
            for v, value in row.items():
                matrix[r, place[v]] = value
        assert np.allclose(matrix, program.matrix.toarray(), rtol=near, atol=0.0)


@pytest.mark.parametrize("dialect", ["mps", "lp"])
def test_both_readers_agree_on_generated_files(tmp_path, dialect):
    path = tmp_path / f"model.{dialect}"
    for seed in range(examples(150, 2_000)):
        path.write_bytes(getattr(Writer(seed), dialect)().encode())
        assert_equal(path)


@pytest.mark.parametrize(
    "name",
    [
        "N1C1W4_M.BPP.lp",
        "N1C3W1_A.lp",
        "TEST0055.lp",
        "gap8_4.txt.lp",
        "noswot.mps",
        "p2050-1.txt.lp",
        "strong_d_45_15_12.lp",
    ],
)
def test_both_readers_agree_on_benchmark_files(name):
    if not (MODELS / name).exists():
        pytest.skip("the benchmark files are not on this machine")
    assert_equal(MODELS / name)


# --- what is refused -------------------------------------------------------------------------------------------------

MPS = "ROWS\n N obj\n N spare\n L c1\n G c2\nCOLUMNS\n x obj 1 c1 1\n y c1 2 c2 1\n{}ENDATA\n"
LP = "Minimize\n obj: x + 2 y\nSubject To\n c1: x + y {}\n{}End\n"

REFUSED = {
    "a negative upper bound": (MPS.format("BOUNDS\n UP b x -3\n"), "line 10.*negative upper bound"),
    "two bounds": (MPS.format("BOUNDS\n UP b x 3\n FX b x 2\n"), "line 11.*two lower|line 11.*two upper"),
    "semicontinuous": (MPS.format("BOUNDS\n SC b x 3\n"), "line 10.*type 'SC'"),
    "a column of bounds alone": (MPS.format("BOUNDS\n UP b z 3\n"), "line 10.*a column"),
    "a set with the name of a column": (MPS.format("BOUNDS\n UP y x 3\n"), "line 10.*one set"),
    "two sets": (MPS.format("RHS\n a c1 1\n b c2 2\n"), "line 11.*one set"),
    "a side of a free row": (MPS.format("RHS\n r spare 2\n"), "line 10.*free row"),
    "a range of the objective": (MPS.format("RANGES\n r obj 2\n"), "line 10.*free row"),
    "two sides": (MPS.format("RHS\n r c1 2 c1 3\n"), "line 10.*two right-hand sides"),
    "an exponent with D": (MPS.format("RHS\n r c1 1.5D+2\n"), "line 10.*few digits"),
    "a long exponent": (MPS.format("RHS\n r c1 1e999999999\n"), "line 10.*few digits"),
    "a fractional integer bound": (MPS.format("BOUNDS\n UI b x 1.5\n"), "line 10.*an integer"),
    "special ordered sets": (MPS.format("SOS\n S1 s x 1\n"), "line 9.*section 'SOS'"),
    "quadratic": (MPS.format("QUADOBJ\n x x 1\n"), "line 9.*section 'QUADOBJ'"),
    "indicators": (MPS.format("INDICATORS\n IF c1 y 1\n"), "line 9.*section 'INDICATORS'"),
    "a section again": (MPS.format("RHS\nRHS\n"), "line 10.*once"),
    "two entries": (MPS.format("").replace("c1 2 c2 1", "c1 2 c1 1"), "line 8.*two entries"),
    "a row twice": (MPS.format("").replace(" G c2", " G c1"), "line 5.*two rows"),
    "a column twice": (MPS.format(" x c2 1\n"), "line 9.*not together"),
    "an unknown row": (MPS.format(" z c3 1\n"), "line 9.*no row"),
    "a name with a space": (MPS.format("").replace("G c2", "G c 2"), "line 5.*without spaces"),
    "no end": (MPS.format("").replace("ENDATA", ""), "line 10.*ENDATA"),
    "another sense": ("OBJSENSE\n  best\n" + MPS.format(""), "line 2.*MIN or MAX"),
    "an unexpected marker": (MPS.format(" m 'MARKER' 'INTEND'\n"), "line 9.*marker"),
    "an infinite side": (MPS.format("RHS\n r c1 -inf\n"), "'c1'.*infinite"),
    "a line separator": (MPS.format("").replace("c1 1", "c1\u20281"), "readers understand differently"),
    "no model": ("maximise\n x\n", "line 1.*section 'MAXIMISE'"),
    "an empty file": ("", "empty"),
    "a negative upper bound in LP": (LP.format(">= 1", "Bounds\n x <= -3\n"), "line 6.*negative upper bound"),
    "a constant in a row": (LP.format("+ 3 >= 1", ""), "line 4.*constant"),
    "two terms": (LP.format("- x >= 1", ""), "line 4.*two terms"),
    "two terms in the objective": (LP.format(">= 1", "").replace("2 y", "2 y + y"), "line 2.*two terms"),
    "a right-hand side that is a variable": (LP.format(">= y", ""), "line 4.*not 'y'"),
    "no sign": (LP.format("3 z >= 1", "").replace("x + y 3", "x + y\n3"), "line 5.*sign|line 4.*sign"),
    "three signs": (LP.format("- - - z >= 1", ""), "line 4.*not '-'"),
    "quadratic terms": (LP.format("+ [ x ^ 2 ] >= 1", ""), "line 4.*linear"),
    "a product": (LP.format("+ 3 * z >= 1", ""), "line 4.*linear"),
    "hexadecimal": (LP.format("+ 0x1f >= 1", ""), "line 4.*linear"),
    "a name like a number": (LP.format("+ nancy >= 1", ""), "line 4.*begins with inf or nan"),
    "an indicator": (LP.format(">= 1", " c2: y = 1 -> x <= 2\n"), "line 5.*indicator"),
    "semicontinuous in LP": (LP.format(">= 1", "Semi-Continuous\n x\n"), "line 6.*semicontinuous"),
    "sets in LP": (LP.format(">= 1", "SOS\n s: S1:: x:1 y:2\n"), "line 6.*special ordered sets"),
    "a binary variable with other bounds": (LP.format(">= 1", "Bounds\n x <= 5\nBinary\n x\n"), "line 8.*binary"),
    "two rows": (LP.format(">= 1", " c1: x >= 0\n"), "line 5.*two rows"),
    "two bounds in different directions": (LP.format(">= 1", "Bounds\n 1 <= x >= 0\n"), "line 6.*two bounds"),
    "text after the end": (LP.format(">= 1", "End\n x\n"), "line 6.*outside"),
    "a section twice": (LP.format(">= 1", "Bounds\nGeneral\nBounds\n x free\n"), "line 7.*once"),
    "no end of an LP file": (LP.format(">= 1", "").replace("End", ""), "End"),
    "a bound that excludes all": (LP.format(">= 1", "Bounds\n x >= inf\n"), "line 6.*excludes"),
}


@pytest.mark.parametrize(("text", "reason"), REFUSED.values(), ids=list(REFUSED))
def test_what_readers_understand_differently_is_refused(text, reason):
    with pytest.raises(UnreadError, match=reason):
        read_model(text)


def test_numbers_are_those_of_the_text():
    model = read_model(MPS.format("RHS\n r c1 .3 obj 1.5\nRANGES\n r c1 -0.10000000000000001\nBOUNDS\n FX b y 1e-2\n"))
    assert model.rows["c1"][:2] == (Fraction(3, 10) - Fraction("0.10000000000000001"), Fraction(3, 10))
    assert (model.offset, model.variables["y"]) == (Fraction(-3, 2), [0, Fraction(1, 100), Fraction(1, 100), False])


# --- certificates held against files ---------------------------------------------------------------------------------

TEXT = """Minimize
 cost: 3 a1 + 2 a2 + 4 b1 + b2 + 2.5 s + 0.1
Subject To
 cover1: a1 + b1 >= 1
 cover2: a2 + b2 + s >= 2
 size_a: 2 a1 + 3 a2 + s <= 4
 size_b: 2 b1 + 2 b2 + s <= 4
Bounds
 s <= 2
 a2 <= 2
General
 a2 s
Binary
 a1 b1 b2
End
"""


@pytest.fixture(scope="module")
def proved(tmp_path_factory):
    """A file, and a certificate of it with a variable in two blocks."""
    folder = tmp_path_factory.mktemp("proved")
    path, proof = folder / "model.lp.gz", folder / "proof.jsonl"
    path.write_bytes(gzip.compress(TEXT.encode()))
    model = read(path)
    rows = {"size_a": 0, "size_b": 1}
    of_row = np.array([rows.get(name, MASTER) for name in model.source.constraint_names])
    of_column = np.array([{"a": 0, "b": 1, "s": 0}[name[0]] for name in model.names])
    blocks = Partition(("a", "b"), of_column, of_row)
    result = solve(decompose(CompactModel(model.formulation, model.source, blocks)), record=Record(certificate=proof))
    assert result.objective == pytest.approx(6.6)
    return path, proof


def test_a_certificate_is_held_against_its_file(proved, capsys):
    path, proof = proved
    assert main([str(proof), str(path)]) == PROVED
    assert "the instance of the file\n" in capsys.readouterr().out
    assert json.loads(proof.read_text().splitlines()[1])["instance"]["name"] == "model.lp"


CHANGED = {
    "a coefficient": ("2 a1 + 3 a2", "2 a1 + 2 a2", "row size_a"),
    "a cost": ("3 a1", "4 a1", "variable a1"),
    "the constant": ("+ 0.1", "+ 0.2", "offset"),
    "a bound": ("s <= 2", "s <= 3", "variable s"),
    "a side": ("b2 + s <= 4", "b2 + s <= 5", "row size_b"),
    "a direction": ("a1 + b1 >= 1", "a1 + b1 = 1", "row cover1"),
    "integrality": ("a2 s", "a2", "variable s"),
    "a row": (" cover1: a1 + b1 >= 1\n", "", "numbers of variables and rows"),
    "one more row": ("Bounds", " more: a1 >= 0\nBounds", "numbers of variables and rows"),
    "one more variable": ("Bounds", "Bounds\n z <= 1", "numbers of variables and rows"),
    "the sense": ("Minimize", "Maximize", "sense"),
}


@pytest.mark.parametrize(("before", "after", "what"), CHANGED.values(), ids=list(CHANGED))
def test_a_certificate_of_another_file_is_wrong(proved, tmp_path, capsys, before, after, what):
    assert TEXT.count(before) == 1
    other = tmp_path / "other.lp"
    other.write_text(TEXT.replace(before, after))
    assert main([str(proved[1]), str(other)]) == FALSE
    assert f"line 2: the instance differs from the file in {what!r}" in capsys.readouterr().out


def test_a_file_that_is_not_read_is_not_compared(proved, tmp_path, capsys):
    other = tmp_path / "other.lp"
    other.write_text(TEXT.replace("s <= 2", "s <= -2"))
    assert main([str(proved[1]), str(other)]) == TRUSTED
    assert "not checked against the file: line 9 of the file" in capsys.readouterr().out


def copy_of(instance):
    """Return the last variable, which is a copy, and the row that states so."""
    return instance["variables"][-1], instance["rows"][-1]


FORGED = {
    "the copy costs something": lambda instance: copy_of(instance)[0].__setitem__(0, -1),
    "the copy has other bounds": lambda instance: copy_of(instance)[0].__setitem__(2, 1),
    "the copy is continuous": lambda instance: copy_of(instance)[0].__setitem__(3, False),
    "the copy differs by a side": lambda instance: copy_of(instance)[1].__setitem__(1, None),
    "the copy is a multiple": lambda instance: copy_of(instance)[1][2][1].__setitem__(1, -2),
    "the copy is of another variable": lambda instance: copy_of(instance)[1][2][0].__setitem__(0, 0),
    "the copy is of no variable": lambda instance: copy_of(instance)[1][2].pop(0),
    "a variable is in two blocks": lambda instance: instance["blocks"].append([instance["blocks"][0][0]]),
    "a block lacks a variable": lambda instance: instance["blocks"][0][0].pop(),
    "a row of a block links": lambda instance: instance["linking"].append(2),
    "a linking row is of a block": lambda instance: instance["linking"].pop(0),
}


@pytest.mark.parametrize("forge", FORGED.values(), ids=list(FORGED))
def test_forged_instances_are_wrong(proved, tmp_path, forge):
    path, proof = proved
    lines = proof.read_text().splitlines()
    instance = json.loads(lines[1])["instance"]
    forge(instance)
    digest = hashlib.sha256(json.dumps(instance, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
    lines[1] = json.dumps({"instance": instance, "sha256": digest})
    forged = tmp_path / "forged.jsonl"
    forged.write_text("\n".join(lines) + "\n")
    assert main([str(forged), str(path)]) == FALSE


def test_numbers_with_many_digits_are_rounded_by_a_convention(tmp_path, capsys):
    path, proof = tmp_path / "model.mps", tmp_path / "proof.jsonl"
    text = MPS.format("RHS\n r c1 4 c2 1\nRANGES\n r c1 0.1\nBOUNDS\n UP b x 3\n UP b y 3\n")
    path.write_text(
        text.replace("x obj 1", "x obj 0.10000000000000001").replace("COLUMNS\n", "COLUMNS\n m 'MARKER' 'INTORG'\n")
    )
    model = read(path)
    blocks = Partition(("a",), np.array([0, 0]), np.array([MASTER, 0]))
    solve(decompose(CompactModel(model.formulation, model.source, blocks)), record=Record(certificate=proof))
    assert main([str(proof), str(path)]) == PROVED
    assert "the instance of the file, its numbers rounded to double precision" in capsys.readouterr().out

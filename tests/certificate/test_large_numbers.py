"""Certificates whose numbers exceed those of floating point by far are accepted like those with small ones."""

import json
from fractions import Fraction

import pytest

from colgen.certificate.checker import check
from colgen.certificate.checker_pricing import NO
from tests.fuzz.handmade import CERTIFICATES, seal

LARGE = 10**400

SCORES = {
    "chain_map": ("scores", "tables"),
    "trees": ("arcs", "grandparents"),
    "title_path": ("first", "last", "weights"),
    "coreference": ("scores",),
    "segmentations": ("segments", "transitions"),
    "constituents": ("spans",),
    "alignments": ("steps",),
    "monotone chains": ("states", "moves"),
    "matchings": ("pairs",),
}


def times(value):
    if isinstance(value, list):
        return [times(each) for each in value]
    return str(Fraction(value) * LARGE) if isinstance(value, str) else value if value is None else value * LARGE


def with_large_duals(lines):
    """Duals in a unit that is ``LARGE`` times as fine."""
    for line in lines:
        record = line.get("claim") or line.get("fix")
        if record is None:
            continue
        for name in ("duals", "least", "worth"):
            if name in record:
                record[name] = times(record[name])
        record["unit"] *= LARGE if record.get("weight", 1) else 1
        record["counts"] = [[*place, dual * LARGE] for *place, dual in record["counts"]]
        for cut in record.get("cuts", ()):
            cut["dual"] *= LARGE
        if isinstance(record.get("potentials"), list):  # trees of blocks
            for leaf in (part for tree in record["potentials"] for part in tree or () if "over" in part):
                leaf["duals"] = [[row, dual * LARGE] for row, dual in leaf["duals"]]
    return seal(lines)


def with_large_scores(lines):
    """Scores and potentials in a unit that is ``LARGE`` times as fine."""
    instance = lines[1]["instance"]
    instance["denominator"] *= LARGE
    for name in SCORES[instance["kind"]]:
        instance[name] = times(instance[name])
    instance.update({"factors": [[a, s * LARGE] for a, s in instance["factors"]]} if "factors" in instance else {})
    for line in lines:
        given = line.get("claim", {}).get("potentials", {})
        for name in set(given) - {"over", "remembered", "sets", "triangles"}:
            given[name] = times(given[name])
        if "sets" in given:
            given["sets"] = [[members, y * LARGE] for members, y in given["sets"]]
        if "triangles" in given:
            given["triangles"] = [[*ijk, y * LARGE] for *ijk, y in given["triangles"]]
    return seal(lines)


def copied(name):
    return json.loads(json.dumps(CERTIFICATES[name]))


def accepted(lines):
    return check([json.dumps(line) for line in lines]).proves == lines[-1]["end"]["proves"]


@pytest.mark.parametrize("name", CERTIFICATES)
def test_duals_of_400_digits(name):
    assert accepted(with_large_duals(copied(name)))


@pytest.mark.parametrize("name", [name for name in CERTIFICATES if name.split(",")[0] in SCORES])
def test_scores_of_400_digits(name):
    assert accepted(with_large_scores(copied(name)))


@pytest.mark.parametrize("lower", [None, 0])
def test_resources_of_400_digits(lower):
    lines = copied("networks")
    (resource,) = lines[1]["instance"]["graphs"][0]["resources"]
    resource.update({name: times(resource[name]) for name in ("start", "consumption")})
    resource.update(lower=[lower] * 4, upper=[None, None, None, 2 * LARGE])
    assert accepted(seal(lines))


@pytest.mark.parametrize("number", [LARGE, -LARGE, Fraction(LARGE, 3)], ids=["large", "small", "part"])
def test_the_value_of_no_state(number):
    assert NO + number == NO - number == NO < number < -NO
    if isinstance(number, int):
        assert number + NO == NO == -(number - NO) == number - -NO
    assert NO * number == (NO if number > 0 else -NO)

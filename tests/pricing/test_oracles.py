"""What oracles are told, and how they may be put together."""

import pytest

from colgen import Apart, Bound, Column, Decision, InputError, OraclePricing, PricingContext, Sense, Together
from colgen.core.decision import groups_of


def at(index, block="cover"):
    return (block, index)


def context(*decisions):
    return PricingContext(Sense.MINIMIZE, decisions=decisions)


def bound(variable, upper, block="branch"):
    return Bound((block, variable), 0.0, upper, lambda column: float(variable in column.structure))


def test_forbidden_variables_are_those_whose_bound_is_zero():
    node = context(bound("a", 0.0), bound("b", 1.0), bound("c", 0.0, "arc"), Together(at(0), at(1)), bound("a", 0.0))
    assert node.forbidden("branch") == {"a"}
    assert node.forbidden("arc") == {"c"}
    assert node.forbidden("nothing of the kind") == frozenset()


def test_a_decision_of_the_users_own_says_what_it_forbids():
    class Closed(Decision):
        def forbids(self, block):
            return {"x", "y"} if block == "site" else ()

    assert context(Closed()).forbidden("site") == {"x", "y"}
    assert context(Closed()).forbidden("branch") == frozenset()


def test_pairs_that_are_joined_make_groups():
    joined = [Together(at(i), at(j)) for i, j in [(4, 1), (2, 3), (1, 7), (3, 7), (8, 9)]]
    parted = [Apart(at(1), at(8)), Apart(at(1), at(8)), Apart(at(5), at(6))]
    node = context(*joined, *parted)
    assert [set(group) for group in node.together()] == [{1, 2, 3, 4, 7}, {8, 9}]
    assert node.apart() == ((1, 8), (5, 6))
    assert context().together() == context().apart() == ()


def test_groups_say_what_the_decisions_say():
    pairs = [(at(0), at(2)), (at(3), at(4)), (at(4), at(2))]
    node = context(*(Together(*pair) for pair in pairs))
    for members in range(1 << 5):
        held = {i for i in range(5) if members >> i & 1}
        column = Column(1.0, {at(i): 1.0 for i in held})
        assert node.allows(column) == all(held.issuperset(g) or held.isdisjoint(g) for g in node.together())
    assert groups_of([(at(1), at(1))]) == [(at(1),)]


def test_blocks_are_told_apart():
    node = context(Together(at(0), at(1)), Together(at(0, "task"), at(5, "task")), Apart(at(2), at(3)))
    assert node.together("cover") == ((0, 1),)
    assert node.together("task") == ((0, 5),)
    assert node.apart() == node.apart("cover") == ((2, 3),)
    assert node.apart("task") == ()
    with pytest.raises(InputError, match="rows of 'cover' and 'task': name the block meant"):
        node.together()


@pytest.mark.parametrize("value", [None, {"cost": 1.0}, (1.0, {})])
def test_an_encode_that_returns_no_column_is_named(value):
    class Oracle(OraclePricing):
        def best(self, duals, context):
            return "a structure"

        def encode(self, structure):
            return value

    with pytest.raises(InputError, match=r"Oracle\.encode: expected it to return a Column"):
        Oracle().price(None, None)

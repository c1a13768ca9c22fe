"""The conditions on the page of theorems: each certificate violates one of them (promise 10)."""

import pytest

from colgen.certificate.checker import check
from colgen.certificate.checker_pricing import WrongError
from tests.fuzz.forgeries import make_forgeries

FORGED = {str(each): each.lines for each in make_forgeries()}

CONDITIONS = {
    # Weak duality
    "compact: a dual value of the other side": "for a side that it does not have",
    "by hand: a row without a lower side": "for a side that it does not have",
    "from scratch: a column that is used without limit, and pays": "may be used without limit",
    "by hand: a pricing problem used less than never": "a nonnegative number of times",
    "by hand: a pricing problem without a least use": "a nonnegative number of times",
    "by hand: a pricing problem used half a time": "an integer number of times",
    "cutting_stock: a dual value of no row": "expected 2 dual values, not 3",
    "cutting_stock: a reduced cost of no pricing problem": "zip",
    "cutting_stock: a denominator of 0": "denominator of at least 1",
    "cutting_stock: a negative denominator": "denominator of at least 1",
    "cutting_stock: a number of pieces that no split counts": "not branched on",
    "cutting_stock, tree: a number of pieces counted twice": "two dual values",
    "compact, tree: points within other bounds than were split on": "not branched on",
    # No answer
    "cutting_stock: an infeasible leaf without a positive worth": "do not prove infeasibility",
    "cutting_stock: costs of weight 2": "expected a weight of 0 or 1",
    # Steps
    "by hand: a step that costs are no multiples of": "not multiples of the step",
    "by hand: a negative step": "not multiples of the step",
    "from scratch: a step of costs of a continuous variable": "objectives have no step",
    # Answers
    "cutting_stock: a column used a half times": "expected an integer",
    "cutting_stock: a column used a negative number of times": "positive number of uses",
    "cutting_stock: more pieces of an item than are demanded": "row 0 of the answer is 4",
    "assignment: two sets of a machine": "the use of problem 0 of the answer is 2",
    # Equations in cutting stock
    "cutting_stock: a demand of no width": "a demand for each width",
    "cutting_stock: a width of 0": "sizes of at least 1",
    "cutting_stock: a negative demand": "copies and a capacity of at least 0",
    # Knapsacks
    "cutting_stock: an item named twice in a pattern": "names item 1 twice",
    "assignment: a task of negative size": "sizes of at least 1",
    "assignment: a machine with a cost less": "as many costs on each machine",
    "by hand: a row from behind": "a different row for each item",
    # Blocks
    "compact: a row over two blocks that does not link": "KeyError",
    "compact: a variable of two blocks": "at most one block",
    "compact: a row that links twice": "different linking rows",
    "compact: a block with a larger cost than its equals": "identical blocks",
    "compact: a block with wider bounds than its equals": "identical blocks",
    "compact: an entry of 0": "nonzero entries",
    "compact: the type of a variable as a number": "whether it is an integer",
    # Trees of blocks
    "compact, continuous: no tree": "a row of a block has a continuous variable",
    "compact, continuous: a tree more": "shorter",
    "compact, continuous: a leaf less": "expected a leaf for each part",
    "compact, continuous: a leaf more": "no part of a tree after its last leaf",
    "compact, continuous: a split of a continuous variable": "a split of an integer variable",
    "compact, continuous: a split of a variable from behind": "a split of an integer variable",
    "compact, continuous: a leaf over a negative denominator": "a denominator of at least 1",
    "compact, continuous: a dual value of the other side of a row of the block": "a side that it does not have",
    "compact, continuous: a dual value of a row from behind": "rows of the block",
    # Fixing
    "cutting_stock, tree: a fixing without an answer": "no answer to compare with",
    "cutting_stock, tree: a fixing that closes more": "3 are closed",
    # Splits
    "from scratch: pieces that a block takes away, counted by their row": "do not cover the node: more pieces",
    "from scratch: pieces that a trusted problem takes away, counted by their row": "do not cover the node: more",
    "from scratch: two trees split on the arc of one": "some of several trees",
    "from scratch: two clusterings split on the pair of one": "several clusterings may differ",
    "from scratch: a row that is covered twice, split on as a pair": "do not cover the node",
    "cutting_stock, tree: the second child left out": "do not cover the node",
    "cutting_stock, tree: the same child twice": "exists already",
    "cutting_stock, tree: a node that is its own child": "exists already",
    "trees, tree: an arc into the root": "an arc that does not exist",
    "trees, tree: an arc from no word": "an arc that does not exist",
    "compact, tree: a split at a half": "expected an integer",
    # Stable sets
    "colouring: an edge from a vertex to itself": "an edge joins 4 and 4",
    "colouring: a negative number of vertices": "a nonnegative number of vertices",
    # Labellings
    "chain_map: a parent before its child": "children before their parents",
    "chain_map: a table that is not there": "a table for each node",
    "from scratch: labellings that cost instead of scoring": "are maximised",
    # Paths
    "title_path: a negative penalty": "a nonnegative penalty",
    "title_path: a penalty less": "for each class",
    "title_path: a class remembered that is not there": "remembered classes that exist",
    # Derivations
    "segmentations: a derivation that ends early": "ends early",
    "segmentations: an edge after the last": "of a vertex with 0 edges",
    "segmentations: an edge that is not there": "the edge 1 of a vertex with 1 edges",
    "segmentations: an edge from behind": "the edge -1 of a vertex with 2 edges",
    "segmentations: a forbidden part": "a part of a derivation is forbidden",
    "segmentations: a potential below an edge": "an edge of vertex 5 is worth 0, more than its potential -1",
    "segmentations: a potential of the goal below an edge": "vertex 8 is worth 4, more than its potential 3",
    "segmentations: a vertex without a potential": "vertex 7 is worth 3, more than its potential None",
    "segmentations: a goal without a potential": "expected a potential of the goal",
    "segmentations: a potential less": "expected 9 potentials, not 8",
    "segmentations: a potential more": "expected 9 potentials, not 10",
    "segmentations: a potential of a half": "expected an integer, not 1/2",
    "segmentations: scores over a negative denominator": "a denominator of at least 1",
    "constituents: a division that costs": "vertex 2 is worth 4, more than its potential 3",
    "alignments: a cell below its step": "vertex 2 is worth 2, more than its potential 1",
    "monotone chains: a state below its frame": "vertex 2 is worth 2, more than its potential 1",
    # Matchings
    "matchings: a column of two rows": "a column is matched twice",
    "matchings: a row without a column": "expected one of 3 columns for each of 2 rows",
    "matchings: a column from behind": "expected one of 3 columns for each of 2 rows",
    "matchings: a forbidden pair": "a pair is forbidden",
    "matchings: a pair above its potentials": "row 0 and column 1 score 2, more than their potentials 1",
    "matchings: a negative potential of a column, paid by rows": "nonnegative potentials of columns",
    "matchings: a potential of a row less": "potentials of 2 rows and 3 columns",
    "matchings: a potential of a column more": "potentials of 2 rows and 3 columns",
    # Triangles
    "coreference: a negative triangle": "nonnegative dual values",
    "coreference: a triangle of two items": "expected triangles",
    "coreference: triangles over a negative denominator": "a denominator of at least 1",
    "coreference: a score that depends on the order": "the same score of two items in either order",
    # Routes and lists
    "vehicle_routing: service without windows": "time windows and service times, or neither",
    "vehicle_routing: a demand of the depot": "no demand of the depot",
    "vehicle_routing: a negative distance": "distances of at least 0",
    "vehicle_routing: no customers": "expected a customer",
    "vehicle_routing, list: a list twice": "cannot be fixed",
    "vehicle_routing, list: a split before the list": "parts that do not exist",
    # Networks
    "networks: a path that is too full": "exceeds a limit at vertex 2",
    "networks: a path that starts too full": "exceeds a limit at the source",
    "networks: a start above the limit of the source": "exceeds a limit at the source",
    "networks: a vertex visited twice": "exceeds a limit|twice",
    "networks: a path that does not reach the sink": "does not end at the sink",
    "networks: a path that jumps": "does not continue it",
    "networks: an arc into the source": "none into the source",
    "networks: an arc out of the sink": "none into the source or out of the sink",
    "networks: an arc to a vertex from behind": "arcs between vertices",
    "networks: a sink that is the source": "another vertex as the sink",
    "networks: a row of the source": "no rows of source and sink",
    "networks: a row from behind": "rows of the program",
    "networks: a limit less": "limits and penalties of a resource for each vertex",
    "networks: a consumption less": "a consumption for each arc",
    "networks: paths without limit that may cover no row": "a limit on the number of paths",
    "networks: no rows": "at least one row",
    "from scratch: dearest paths listed as if they were cheapest": "costs are minimised",
    "from scratch: paths that earn what they pay": "are only minimised",
    "networks, request: a delivery before its pickup": "half a request",
    "networks, request: a pickup without its delivery": "vertex 3.*half a request",
    "networks, request: a delivery without its pickup": "vertex 2.*half a request",
    "networks, request: a request of the sink": "requests of two vertices other than source and sink",
    "networks, request: a request of the source": "requests of two vertices other than source and sink",
    "networks, request: a request from behind": "requests of two vertices other than source and sink",
    "networks, request: a request of one vertex": "requests of two vertices other than source and sink",
    "networks, request: a negative rate": "rates of at least 0",
    "networks, request: a rate without a limit": "an upper limit where one is positive",
    "networks, request: a penalty less": "limits and penalties of a resource for each vertex",
    "networks, set: both vertices of a set": "a set twice",
    "networks, set: a set with a vertex from behind": "expected sets of vertices",
    "networks, set: a set with a vertex that is not there": "expected sets of vertices",
    # Cuts
    "cutting_stock, cut: a cut that pays": "a dual value of an upper side",
    "cutting_stock, cut: a cut that is divided by 1": "a divisor of at least 2",
    "from scratch: a cut over a row with a fractional side": "an integer upper side",
    "from scratch: a cut over a row without an upper side": "an integer upper side",
    "vehicle_routing, list: a cut that names a row twice": "a row twice",
    # Potentials of trees
    "trees: a factor that is always there": "arcs from the root or a word to another word",
    "trees: a factor over an arc from a word to itself": "arcs from the root or a word to another word",
    "trees: a factor of an arc twice": "factors of different arcs",
    "trees: a negative share": "nonnegative shares",
    "trees: shares that do not add up": "add up to the score of a factor",
    "trees, tree: a part of a factor beyond its score": "a part of the score of a factor",
    "trees, tree: a set that pays twice": "nonpositive potentials",
    "trees, tree: a set with the root": "sets of words",
    "trees, tree: a set of no words": "sets that are not empty",
    "trees, tree: a root that has several words, and pays": "more than one modifier",
    # The end
    "cutting_stock: a leaf left out": "neither a claim nor a split",
    "cutting_stock: a leaf twice": "is not open",
    "cutting_stock: one of lines too many": "there are 6 lines",
    "cutting_stock: one of leaves too many": "and 1 leaf",
    "cutting_stock: a node left open and an optimum": "proves answer, not optimal",
    # Trust
    "cutting_stock: a trusted bound and an answer": "a bound without a reason is refused",
    "cutting_stock: a better objective of trusted columns": "an answer without a reason is refused",
    "cutting_stock: a split that is trusted, of children [7]": "a split without a reason is refused",
    # Numbers and fields
    "cutting_stock: a width that is true": "expected an integer, not True",
    "cutting_stock: a denominator of NaN": "integers and fractions as texts",
    "cutting_stock: a denominator of 1e400": "integers and fractions as texts",
    "cutting_stock: a field of the instance that nothing reads": "'conflicts' is unknown",
    "cutting_stock: a claim with a field that nothing reads": "'more' is unknown",
    "cutting_stock: a claim with potentials of another pricing problem": "no pricing problem has potentials",
    "chain_map: a claim with potentials of another pricing problem": "no pricing problem has potentials",
    "title_path: an instance that states how often columns are used": "'uses' is unknown",
}


@pytest.mark.parametrize("forged", CONDITIONS)
def test_a_condition_that_does_not_hold(forged):
    with pytest.raises(WrongError, match=CONDITIONS[forged]):
        check(FORGED[forged])

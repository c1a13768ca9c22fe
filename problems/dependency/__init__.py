"""Dependency treebanks, shared by the parsers: sentences, files, factored scores with bounds, and learning.

A score is a sum over feature templates.  Each template contributes the weight of a conjunction of token attributes and
a relation of the tokens (:mod:`colgen.problems.dependency.features.vocabulary`).  Arcs are all scored at once; triples
of tokens are scored lazily, in batches.  For each pair of tokens, a bound on all triples that contain it is computed
offline (:mod:`colgen.problems.dependency.scorer`).
"""

from colgen.problems.dependency.conll import conll_lines, parse_conll, read_conll, write_conll
from colgen.problems.dependency.features.vocabulary import Encoded, Vocabulary
from colgen.problems.dependency.learning import MiraLearner, MiraSettings
from colgen.problems.dependency.scorer import SentenceScorer, Weights
from colgen.problems.dependency.sentence import Heads, Sentence, check_tree, find_cycle, is_projective

__all__ = [
    "Encoded",
    "Heads",
    "MiraLearner",
    "Sentence",
    "SentenceScorer",
    "MiraSettings",
    "Vocabulary",
    "Weights",
    "check_tree",
    "conll_lines",
    "find_cycle",
    "is_projective",
    "parse_conll",
    "read_conll",
    "write_conll",
]

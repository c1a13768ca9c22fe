"""Dependency treebanks: sentences, files, factored scores with bounds, and learning; shared by the parsers.

A score is a sum over templates, each the weight of a conjunction of token attributes and a relation of the tokens
(:mod:`problems.dependency.features.vocabulary`).  Arcs are scored all at once, triples of tokens lazily and in batches;
for each pair of tokens a bound on all triples with them is known offline (:mod:`problems.dependency.scorer`).
"""

from problems.dependency.conll import conll_lines, parse_conll, read_conll, write_conll
from problems.dependency.features.vocabulary import Encoded, Vocabulary
from problems.dependency.learning import Learner, Settings
from problems.dependency.scorer import SentenceScorer, Weights
from problems.dependency.sentence import Heads, Sentence, check_tree, find_cycle, is_projective

__all__ = [
    "Encoded",
    "Heads",
    "Learner",
    "Sentence",
    "SentenceScorer",
    "Settings",
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

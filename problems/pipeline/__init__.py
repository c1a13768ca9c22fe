"""From raw text to labelled trees: segmentation, tags, morphology, lemmas and trees, one step after the other.

A text is parted into atoms by rule: runs of letters, runs of digits, single other characters, each with a mark where
blanks stand before it.  Each step is the exact answer of a problem that another template solves:

    tokens         the best labelling of a paragraph's atoms, a chain (:mod:`colgen.problems.chain_map`): an atom begins
    a
                   token, or belongs to the token before
    sentences      the most probable breaks between a paragraph's tokens
    words          of a token that is several ("don't"), by rules of suffixes that were learned
    tags           the best labelling of a sentence's words, a chain: part of speech, fine tag and
                   morphology in one label
    lemmas         by rules of suffixes, given the tag
    trees          the best tree with grandparent and sibling parts (:mod:`colgen.problems.grandparent_parsing`), and
    the best
                   relations of its arcs

What is proved of an answer is proved of each step given the ones before it; nothing is proved of all steps together.

Source: D. Zeman and others, *CoNLL 2018 shared task: multilingual parsing from raw text to universal dependencies*
(2018), for the task and its evaluation; M. Straka and J. Straková, *Tokenizing, POS tagging, lemmatizing and parsing
UD 2.0 with UDPipe*, CoNLL 2017 shared task (2017), for what it is compared with.
"""

from colgen.problems.pipeline.evaluation import PipelineScores, compare
from colgen.problems.pipeline.model import Analysed, Pipeline
from colgen.problems.pipeline.texts import Token, paragraphs_of

__all__ = ["Analysed", "Pipeline", "PipelineScores", "Token", "compare", "paragraphs_of"]

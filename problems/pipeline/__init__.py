"""From raw text to labelled trees: segmentation, tags, morphology, lemmas and trees, in sequence.

A text is split into atoms by rule: runs of letters, runs of digits, and single other characters, each marked if blanks
precede it.  In languages without blanks between words, atoms are characters.  Each step is the exact solution of a
problem that another template solves:

    tokens         the best labelling of a paragraph's atoms, a chain (:mod:`colgen.problems.chain_map`):
                   an atom begins a token, or belongs to the token before
    sentences      the most probable breaks between a paragraph's tokens
    words          the best labelling of a token's characters, a chain: the labels are edits that split a multiword
                   token ("don't") into words (:mod:`colgen.problems.pipeline.splitting`)
    tags           the best labelling of a sentence's words, a chain: part of speech, fine tag and
                   morphology in one label
    lemmas         by suffix rules, given the tag
    trees          the best tree with grandparent and sibling parts (:mod:`colgen.problems.grandparent_parsing`),
                   and the best relations of its arcs

Each step is proved optimal given the previous ones; there is no proof for all steps jointly.

Source: D. Zeman and others, *CoNLL 2018 shared task: multilingual parsing from raw text to universal dependencies*
(2018), for the task and its evaluation; M. Straka and J. Straková, *Tokenizing, POS tagging, lemmatizing and parsing UD
2.0 with UDPipe*, CoNLL 2017 shared task (2017), for the system it is compared with.
"""

from colgen.problems.pipeline.evaluation import PipelineScores, compare
from colgen.problems.pipeline.model import Analysed, Pipeline
from colgen.problems.pipeline.texts import Token, paragraphs_of

__all__ = ["Analysed", "Pipeline", "PipelineScores", "Token", "compare", "paragraphs_of"]

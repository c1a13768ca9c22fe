"""The exact parser: the best trees of arcs, grandparent parts and consecutive sibling parts, with a proof.

Nearly all sentences are proved by one oracle call at multipliers that an ascent has guessed
(:mod:`colgen.problems.grandparent_parsing.automata`); what is left over goes to branch and bound.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, cast, overload

from numpy.typing import ArrayLike

from colgen import solve
from colgen.core.errors import InputError
from colgen.core.stop import StopRule
from colgen.problems.dependency.scorer import SentenceScorer, Weights
from colgen.problems.dependency.sentence import Heads, Sentence
from colgen.problems.grandparent_parsing.automata import AutomataParsing
from colgen.problems.grandparent_parsing.instance import GrandparentInstance, PartScores
from colgen.problems.grandparent_parsing.pair_lists import best_with_pairs
from colgen.problems.grandparent_parsing.pairs import PairParsing
from colgen.problems.grandparent_parsing.parses import Parse, parsed, parsed_list, parsed_pairs
from colgen.solvers.arrays import ArrayError, as_batch


@overload
def parse(
    scores: PartScores,
    *,
    single_root: bool | None = None,
    projective: bool | None = None,
    stop: StopRule | Sequence[StopRule] = (),
) -> Parse: ...
@overload
def parse(
    scores: PartScores,
    *,
    single_root: bool | None = None,
    projective: bool | None = None,
    k: int,
    stop: StopRule | Sequence[StopRule] = (),
) -> list[Parse]: ...
@overload
def parse(
    scores: ArrayLike,
    *,
    lengths: ArrayLike | None = None,
    single_root: bool | None = None,
    projective: bool | None = None,
    k: int | None = None,
    stop: StopRule | Sequence[StopRule] = (),
) -> Any: ...
def parse(
    scores: Any,
    *,
    lengths: ArrayLike | None = None,
    single_root: bool | None = None,
    projective: bool | None = None,
    k: int | None = None,
    stop: StopRule | Sequence[StopRule] = (),
) -> Any:
    """The best tree, or the k best.

    Parameters
    ----------
    scores
        Scores of arcs, an array or whatever makes one, shape (n + 1, n + 1) by head and modifier, the root first, -inf
        where there is no arc, or a batch of them, shape (sentences, n + 1, n + 1); more arrays
        (:class:`~colgen.problems.grandparent_parsing.instance.GrandparentInstance`); a trained model's scorer, or a
        class of your own (all of whose parts are then scored).  An instance with scores of pairs goes to branch and
        bound at once (:class:`~colgen.problems.grandparent_parsing.pairs.PairParsing`).
    lengths
        How many tokens each sentence of a batch has; by default n.
    single_root
        Whether exactly one token must hang from the root; by default what the scores say.
    projective
        Whether the tree must be projective; by default what the scores say, and if they say nothing it need not.
    k
        How many trees are wanted; None: one, and no list.
    stop
        Stop rules.  A time limit holds for everything, from the first line on; the others are for branch and bound,
        which few sentences need.

    An interrupt (Ctrl-C) ends it with the best tree so far; a second one ends it wherever it is.

    Returns
    -------
    Parse
        With ``k`` a list of them, best first, all trees if there are fewer than k, and if there is none an empty one:
        of each, whether it is proved that there are no better trees than those before it.  A limit leaves those that
        were found.  For a batch a list of what its sentences get.

    Raises
    ------
    InputError
        If the scores are none of this.
    InfeasibleAnswerError
        If the tree found is none, or is not worth what was claimed: a mistake of this project's.
    """
    if isinstance(scores, (list, tuple)) or hasattr(scores, "__array__") or hasattr(scores, "__dlpack__"):
        try:
            batch = as_batch(scores, "scores", lengths=lengths, root=1)
        except ArrayError as error:
            raise InputError(str(error)) from None
        if batch is not None:
            options: dict[str, Any] = {"single_root": single_root, "projective": projective, "k": k, "stop": stop}
            return [parse(GrandparentInstance(own), **options) for own in batch]
        scores = GrandparentInstance(scores)
    elif lengths is not None:
        raise InputError("lengths: expected scores of shape (sentences, n + 1, n + 1) to go with them")
    if isinstance(scores, GrandparentInstance) and scores.pair_scores is not None:
        if projective is not None:
            scores = replace(scores, projective=projective)
        if k is not None:
            return best_with_pairs(scores, k, single_root=single_root, stop=stop)
        with_pairs = PairParsing(scores, single_root=single_root)
        return parsed_pairs(with_pairs, solve(with_pairs, stop=stop))
    problem = AutomataParsing(
        cast(PartScores, scores), single_root=single_root, projective=projective, k=1 if k is None else k
    )
    result = solve(problem, stop=stop)
    return parsed(problem, result) if k is None else parsed_list(problem, result)


# --- sentences of a trained model ------------------------------------------------------------------------------------

LONGEST = 2000
"""Words of a sentence, at most: so many take up to 4 GB, and twice as many four times that."""


def check_length(forms: Sequence[str]) -> None:
    """Refuse sentences that would fill the memory.

    Raises
    ------
    InputError
        Naming how many words there are, and how to have fewer.
    """
    if len(forms) > LONGEST:
        raise InputError(
            f"the sentence that begins {' '.join(forms[:6])[:60]!r} has {len(forms):,} words, expected at most "
            f"{LONGEST:,}: part the text, by an empty line between paragraphs or by signs that end sentences"
        )


def parse_sentences(
    sentences: Iterable[Sentence],
    weights: Weights,
    stop: Sequence[StopRule] = (),
    *,
    single_root: bool | None = None,
    projective: bool | None = None,
) -> Iterator[tuple[Sentence, Parse]]:
    """Sentences with their best trees, without heads where there is no tree, and what is proved of these.

    Relations are found once the tree is, where the model knows any: what is proved does not speak of them.

    Parameters
    ----------
    stop, single_root, projective
        See :func:`parse`.
    """
    for sentence in sentences:
        check_length(sentence.forms)
        scorer = weights.scorer(sentence)
        found = parse(scorer, stop=stop, single_root=single_root, projective=projective)
        if found.heads is None:
            yield replace(sentence, heads=None, relations=None), found
        else:
            yield labelled(sentence, found.heads, scorer), found


def labelled(sentence: Sentence, heads: Heads, scorer: SentenceScorer) -> Sentence:
    """The sentence with these heads, and what its tokens are to them as far as the model knows."""
    return sentence.with_heads(heads, scorer.relations(heads))

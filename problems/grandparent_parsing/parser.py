"""The exact parser: optimal trees of arcs, grandparent parts and consecutive sibling parts.

Arrays of arc scores, and of projective trees' parts, are parsed by compiled kernels
(:mod:`colgen.solvers.trees.batches`).  With other parts, one oracle call at multipliers from a Lagrangian ascent proves
nearly all sentences (:mod:`colgen.problems.grandparent_parsing.automata`); branch and bound solves the rest.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, cast, overload

import numpy as np
from numpy.typing import ArrayLike

from colgen import solve
from colgen.core.errors import InputError
from colgen.core.stop import StopRule
from colgen.problems.dependency.scorer import SentenceScorer, Weights
from colgen.problems.dependency.sentence import Heads, Sentence
from colgen.problems.grandparent_parsing.automata import AutomataParsing
from colgen.problems.grandparent_parsing.instance import GrandparentInstance, PartScores, from_arrays
from colgen.problems.grandparent_parsing.pair_lists import best_with_pairs
from colgen.problems.grandparent_parsing.pairs import PairParsing
from colgen.problems.grandparent_parsing.parses import Parse, make_pair_parse, make_parse, make_parses, make_tree_parse
from colgen.solvers.arrays import ArrayError, as_batch, as_booleans, as_numbers
from colgen.solvers.trees.batches import best_trees


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
    siblings: ArrayLike | None = None,
    grandchildren: ArrayLike | None = None,
    lengths: ArrayLike | None = None,
    single_root: bool | None = None,
    projective: bool | None = None,
    k: int | None = None,
    stop: StopRule | Sequence[StopRule] = (),
) -> Any: ...
def parse(
    scores: Any,
    *,
    siblings: ArrayLike | None = None,
    grandchildren: ArrayLike | None = None,
    lengths: ArrayLike | None = None,
    single_root: bool | None = None,
    projective: bool | None = None,
    k: int | None = None,
    stop: StopRule | Sequence[StopRule] = (),
) -> Any:
    """Return the best tree, or the k best trees.

    Parameters
    ----------
    scores
        Arc scores in an array of shape (n + 1, n + 1) by head and modifier, root first, -inf where there is no arc; or
        a batch of them, shape (sentences, n + 1, n + 1).  For several kinds of scores, a
        :class:`~colgen.problems.grandparent_parsing.instance.GrandparentInstance`, the scorer of a trained model, or
        your own :class:`~colgen.problems.grandparent_parsing.instance.PartScores`, whose parts are all scored first.
        Instances with pair scores use branch and bound
        (:class:`~colgen.problems.grandparent_parsing.pairs.PairParsing`).
    siblings
        Scores by head, sibling and modifier in an array of shape (n + 1, n + 1, n + 1), or a batch of them, to go with
        an array of arc scores.  The sibling is the nearest modifier between the head and the modifier; sibling = head:
        there is none.  -inf forbids a part.  Entries of no such part are ignored.
    grandchildren
        Scores by grandparent, head and modifier, in the same way.  Arcs from the root are at [0, 0, modifier].
    lengths
        Number of tokens of each sentence in a batch; by default n.
    single_root
        Whether exactly one token must be attached to the root; by default taken from the scores.
    projective
        Whether the tree must be projective; by default taken from the scores, or False.
    k
        Number of trees; None returns a single parse instead of a list.
    stop
        Stop rules.  Time limits apply from the start; other rules apply to branch and bound, which few sentences need.

    Returns
    -------
    Parse
        With ``k``, a list of parses, best first, shorter if fewer than k trees exist.  Each states whether it is proved
        that only the trees before it are better.  If a limit is reached, the trees found so far are returned.  For a
        batch, a list with one result per sentence.

    Raises
    ------
    InputError
        If the scores have an unsupported type or shape.
    InfeasibleAnswerError
        If the check of a tree fails, which indicates a bug in this package.

    Notes
    -----
    Without ``k`` and ``stop``, arrays of arc scores need no search: Chu, Liu and Edmonds' or Eisner's algorithm parses
    the whole batch in one compiled call, outside the engine.  ``proved_by_engine`` is then False and all counts are 0;
    ``bound`` is the algorithm's own dual value.

    An interrupt (Ctrl-C) stops a search and returns the best tree so far; a second one stops it at once.
    """
    single_root, projective = _flag(single_root, "single_root"), _flag(projective, "projective")
    parts = {name: own for name, own in (("siblings", siblings), ("grandchildren", grandchildren)) if own is not None}
    if isinstance(scores, (list, tuple)) or hasattr(scores, "__array__") or hasattr(scores, "__dlpack__"):
        quick = k is None and isinstance(stop, Sequence) and not stop
        if quick and (projective or not parts):
            return _parse_arrays(scores, lengths, parts, bool(single_root), bool(projective))
        options: dict[str, Any] = {"single_root": single_root, "projective": projective, "k": k, "stop": stop}
        try:
            batch = as_batch(scores, "scores", lengths=lengths, root=1)
            if batch is None:
                return parse(from_arrays(scores, **parts), **options)
            cube = (len(batch), *(np.shape(scores)[-1],) * 3)
            given = {name: as_numbers(own, name, shape=cube) for name, own in parts.items()}
        except ArrayError as error:
            raise InputError(str(error)) from None
        cropped = (
            {name: own[i, : len(arcs), : len(arcs), : len(arcs)] for name, own in given.items()}
            for i, arcs in enumerate(batch)
        )
        return [parse(from_arrays(arcs, **own), **options) for arcs, own in zip(batch, cropped, strict=True)]
    if lengths is not None:
        raise InputError("lengths needs a batch: expected scores of shape (sentences, n + 1, n + 1)")
    if parts:
        raise InputError(f"{' and '.join(parts)}: expected with an array of arc scores, got {type(scores).__name__}")
    _check_part_scores(scores)
    if isinstance(scores, GrandparentInstance) and scores.pair_scores is not None:
        if projective is not None:
            scores = replace(scores, projective=projective)
        if k is not None:
            return best_with_pairs(scores, k, single_root=single_root, stop=stop)
        with_pairs = PairParsing(scores, single_root=single_root)
        return make_pair_parse(with_pairs, solve(with_pairs, stop=stop))
    problem = AutomataParsing(
        cast(PartScores, scores), single_root=single_root, projective=projective, k=1 if k is None else k
    )
    result = solve(problem, stop=stop)
    return make_parse(problem, result) if k is None else make_parses(problem, result)


def _flag(given: Any, name: str) -> bool | None:
    """Return an option that is true, false or None, after checking it."""
    try:
        return None if given is None else bool(as_booleans(given, name, shape=()))
    except ArrayError as error:
        raise InputError(str(error)) from None


def _check_part_scores(scores: Any) -> None:
    """Raise :class:`InputError` unless an object has the members of scores; none of them is computed."""
    if isinstance(scores, type) or any(
        inspect.getattr_static(scores, name, None) is None and not hasattr(scores, name)
        for name in ("__len__", "arcs", "grandparents", "siblings")
    ):
        got = repr(scores) if isinstance(scores, (str, bytes, int, float, type(None))) else type(scores).__name__
        raise InputError(
            "scores: expected an array of arc scores, a GrandparentInstance or an object with the members of "
            f"PartScores, got {got[:40]}"
        )


def _parse_arrays(
    scores: ArrayLike, lengths: ArrayLike | None, parts: dict[str, Any], single_root: bool, projective: bool
) -> Parse | list[Parse]:
    """Return the best tree of arrays of scores, or a list of the best trees of a batch, from one compiled call."""
    try:
        arcs = as_numbers(scores, "scores", dtype=None)
        if arcs.ndim != 3 and lengths is not None:
            raise ArrayError("lengths needs a batch: expected scores of shape (sentences, n + 1, n + 1)")
        if arcs.ndim not in (2, 3):
            raise ArrayError(
                f"scores: expected the shape (n + 1, n + 1) or (sentences, n + 1, n + 1), got {arcs.shape}"
            )
        batch = arcs if arcs.ndim == 3 else arcs[np.newaxis]
        given = {
            name: as_numbers(own, name, shape=(*arcs.shape, arcs.shape[-1]), dtype=None) for name, own in parts.items()
        }
        if arcs.ndim != 3:
            given = {name: own[np.newaxis] for name, own in given.items()}
        found = best_trees(batch, lengths, **given, projective=projective, single_root=single_root)
    except ArrayError as error:
        raise InputError(str(error)) from None
    words = (found.heads >= 0).sum(axis=1)
    rows = zip(found.heads.tolist(), words.tolist(), found.scores.tolist(), found.bounds.tolist(), strict=True)
    parses = [make_tree_parse(tuple(heads[1 : n + 1]) or None, score, bound) for heads, n, score, bound in rows]
    return parses if arcs.ndim == 3 else parses[0]


# --- sentences of a trained model ------------------------------------------------------------------------------------

LONGEST = 2000
"""Maximum number of words in a sentence: this many use up to 4 GB, and memory grows with the square."""


def check_length(forms: Sequence[str]) -> None:
    """Raise :class:`InputError` if a sentence has more than :data:`LONGEST` words, which would exhaust memory."""
    if len(forms) > LONGEST:
        raise InputError(
            f"the sentence that begins {' '.join(forms[:6])[:60]!r} has {len(forms):,} words, expected at most "
            f"{LONGEST:,}: split the text with empty lines between paragraphs or with full stops"
        )


def parse_sentences(
    sentences: Iterable[Sentence],
    weights: Weights,
    stop: Sequence[StopRule] = (),
    *,
    single_root: bool | None = None,
    projective: bool | None = None,
) -> Iterator[tuple[Sentence, Parse]]:
    """Yield each sentence with its best tree, and the parse; a sentence without a tree has no heads.

    Relations are added after the tree is found, if the model has them.  The proof does not cover relations.  For the
    options see :func:`parse`.
    """
    for sentence in sentences:
        check_length(sentence.forms)
        scorer = weights.scorer(sentence)
        found = parse(scorer, stop=stop, single_root=single_root, projective=projective)
        if found.heads is None:
            yield replace(sentence, heads=None, relations=None), found
        else:
            yield add_relations(sentence, found.heads, scorer), found


def add_relations(sentence: Sentence, heads: Heads, scorer: SentenceScorer) -> Sentence:
    """Return the sentence with these heads, and with relations if the model predicts them."""
    return sentence.with_heads(heads, scorer.relations(heads))

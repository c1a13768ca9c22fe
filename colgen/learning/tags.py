"""Legal sequences of tags that encode spans: BIO and BILOU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from colgen.core.errors import InputError
from colgen.learning.oracles import Chains, check_scores

Floats: TypeAlias = NDArray[np.float64]

SCHEMES = {"BIO": "BIO", "BILOU": "BILOU"}
"""Prefixes of tags by the name of the scheme."""


class LegalTags(NamedTuple):
    """Scores of 0 for legal and -inf for illegal tags, to add to the scores of a chain.

    Attributes
    ----------
    transitions
        Shape (labels, labels), by the label of a token and that of the next.
    first, last
        Shape (labels,), for the first and the last token.
    """

    transitions: Floats
    first: Floats
    last: Floats

    def restrict(self, scores: Any, transitions: Any) -> tuple[Floats, Floats]:
        """Return copies of a chain's scores in which every illegal labelling has the score -inf.

        Parameters
        ----------
        scores, transitions
            As for :class:`colgen.learning.Chains`; transitions may be given per step.
        """
        theta, steps = check_scores((scores, transitions), ("scores", "transitions"))
        Chains().check(theta, steps)
        if theta.shape[1] != len(self.first):
            raise InputError(f"scores: expected {len(self.first)} labels, one per tag, got {theta.shape[1]}")
        theta = theta.copy()
        theta[0] += self.first
        theta[-1] += self.last
        return theta, steps + self.transitions


def legal_transitions(labels: Sequence[str], scheme: str = "BIO") -> LegalTags:
    """Return which tags may follow one another, start and end a sequence.

    The best labelling of a chain with these scores is legal, and the dynamic program of
    :class:`colgen.learning.Chains` proves it optimal.

    Parameters
    ----------
    labels
        Name of each label: ``"O"``, or a prefix and a type, such as ``"B-PER"``; a prefix alone has the type ``""``.
        Names may repeat, for example the entity tags of joint labels.
    scheme
        ``"BIO"``: a span of type X is ``B-X`` and any number of ``I-X``. ``"BILOU"``: it is ``U-X``, or ``B-X``, any
        number of ``I-X``, and ``L-X``.

    Raises
    ------
    InputError
        If the scheme or a label is unknown, or there are no labels.

    Examples
    --------
    >>> legal_transitions(["O", "B-PER", "I-PER"]).transitions[0]
    array([  0.,   0., -inf])
    """
    if scheme not in SCHEMES:
        raise InputError(f"scheme: expected one of {', '.join(SCHEMES)}, got {scheme!r}")
    if not len(labels):
        raise InputError("labels: expected one name or more, got none")
    prefixes, types = zip(*(_split(label, scheme) for label in labels), strict=True)
    kinds = {name: number for number, name in enumerate(dict.fromkeys(types))}
    kind = np.array([kinds[name] for name in types])
    open_after = np.array([prefix in ("BI" if scheme == "BILOU" else "") for prefix in prefixes])
    may_continue = np.array([prefix in "BI" for prefix in prefixes])
    continues = np.array([prefix in ("IL" if scheme == "BILOU" else "I") for prefix in prefixes])
    same = kind[:, np.newaxis] == kind
    legal = (~continues | (may_continue[:, np.newaxis] & same)) & (~open_after[:, np.newaxis] | (continues & same))
    return LegalTags(_forbid(~legal), _forbid(continues), _forbid(open_after))


def _split(label: str, scheme: str) -> tuple[str, str]:
    """Return the prefix and the type of a tag."""
    prefix, dash, kind = label.partition("-") if isinstance(label, str) else ("", "", "")
    if len(prefix) != 1 or prefix not in SCHEMES[scheme] or (prefix == "O") != (label == "O") or (dash and not kind):
        expected = ", ".join("O" if letter == "O" else f"{letter}-X" for letter in SCHEMES[scheme])
        raise InputError(f"labels: expected one of {expected} with a type X, got {label!r}")
    return prefix, kind


def _forbid(illegal: NDArray[np.bool_]) -> Floats:
    scores: Floats = np.where(illegal, -np.inf, 0.0)
    return scores

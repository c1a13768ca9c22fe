"""Sums over chains and trees in PyTorch operations, for batches on any device, with derivatives of any order.

    chain_log_partition(scores, transitions, lengths)          forward recursion, T steps
    tree_log_partition(scores, lengths)                        matrix-tree theorem, N elimination steps
    projective_log_partition(scores, lengths)                  Eisner's recursion, N steps over all spans of one width

Each returns log Σ exp over the scores of all structures, shape (batch,); marginals are its gradients.  All steps are
sums of exponentials relative to the largest, so that 32 bits suffice for any scores.  Scores of -inf forbid parts, and
their gradients are 0.  The Laplacian of the matrix-tree theorem is eliminated word by word as in
:mod:`colgen.solvers.trees.matrix_tree`: with 32 bits its determinant (``torch.linalg.slogdet``) cancels to noise where
arcs from the root are rare.

The layers of :mod:`colgen.torch` use these functions for tensors on devices other than the CPU.  On the CPU the
compiled kernels are faster.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import torch

from colgen.core.errors import InputError
from colgen.learning.batches import Batch
from colgen.learning.oracles import Chains, ProjectiveTrees, Structure, Trees

_FAR = 1000.0
"""Logarithms further apart than this lose digits of 32 bits in one order of elimination."""


def chain_log_partition(scores: Any, transitions: Any, lengths: Any = None) -> Any:
    """Return the log-partition function of each chain, -inf without an allowed labelling.

    Parameters
    ----------
    scores
        Shape (batch, tokens, labels).
    transitions
        Shape (labels, labels), (batch, labels, labels), or (batch, tokens, labels, labels), of which the last step is
        ignored.
    lengths
        Numbers of tokens, shape (batch,), at least 1; by default all.
    """
    tokens = scores.shape[1]
    ahead = scores[:, 0]
    for t in range(1, tokens):
        step = transitions[:, t - 1] if transitions.ndim == 4 else transitions
        longer = log_sum(ahead[:, :, None] + step, 1) + scores[:, t]
        ahead = longer if lengths is None else torch.where((lengths > t)[:, None], longer, ahead)
    return log_sum(ahead, 1)


def tree_log_partition(scores: Any, lengths: Any = None, *, single_root: bool = False) -> Any:
    """Return the log-partition function of dependency trees, projective or not; -inf without an allowed tree.

    Parameters
    ----------
    scores
        Shape (batch, N, N) by head and modifier, root 0.  Column 0 and the diagonals are ignored.
    lengths
        Numbers of words, shape (batch,), at least 1; by default N - 1.
    single_root
        Whether exactly one arc leaves the root.
    """
    arcs = _arcs(scores, lengths)
    total, gaps = _eliminate(arcs, lengths, single_root)
    if not single_root or not (gaps > _FAR).any():
        return total
    # Words are eliminated in any order, but one whose likely head is the root alone must be the last.
    order = torch.arange(scores.shape[1], device=scores.device).repeat(len(scores), 1)
    last = gaps.argmax(1)
    last = torch.where(last > 0, last, 1)
    order.scatter_(1, last[:, None], 1)
    order[:, 1] = last
    rows = torch.arange(len(scores), device=scores.device)[:, None, None]
    other, left = _eliminate(arcs[rows, order[:, :, None], order[:, None, :]], lengths, single_root)
    return torch.where(left.amax(1) < gaps.amax(1), other, total)


def _eliminate(left: Any, lengths: Any, single_root: bool) -> tuple[Any, Any]:
    """Return the log-partition function; and by how much the root is a better head of each word than those left."""
    count, size = left.shape[:2]
    total, gaps, largest = left.new_zeros(count), left.new_zeros(count, size), left.new_zeros(count)
    for k in range(size - 1, 0, -1):
        into = left[:, :k, k]
        heads = log_sum(into[:, 1:] if single_root and k > 1 else into, 1)
        zeros = torch.zeros_like(heads)
        total = total + (heads if lengths is None else torch.where(lengths < k, zeros, heads))
        if k > 1:  # the heads of k become heads of its modifiers
            none = torch.isneginf(heads)
            if single_root:
                gap = (into[:, 0] - heads).detach().nan_to_num(0.0, torch.inf, -torch.inf)  # NaN: no head is left
                # An eliminated word's gap is part of its modifiers': only what they add is theirs.
                gaps[:, k] = (gap - largest).nan_to_num(0.0, torch.inf, -torch.inf)
                largest = torch.maximum(largest, gap)
            share = into - torch.where(none, zeros, heads)[:, None]
            around = share[:, :, None] + left[:, k, None, :k]
            left = log_sum(torch.stack([left[:, :k, :k], around]), 0)
            left = left.masked_fill(torch.eye(k, dtype=torch.bool, device=left.device), -torch.inf)
    return total, gaps


def projective_log_partition(scores: Any, lengths: Any = None, *, single_root: bool = False) -> Any:
    """Return the log-partition function of projective trees; for parameters see :func:`tree_log_partition`."""
    count, size = scores.shape[:2]
    arcs = _arcs(scores, lengths)

    def column(values: Any, *, at_end: bool) -> Any:
        """Return items of one width as a column of a table by position, the first or the last of the item."""
        missing = size - values.shape[1]
        padding = (missing, 0) if at_end else (0, missing)
        return torch.nn.functional.pad(values, padding, value=-torch.inf)[:, :, None]

    # Tables (batch, position, width) of items between i and j.  Heads are on the left (i) or on the right (j).
    start = scores.new_zeros((count, size, 1))
    right_by_start = right_by_end = left_by_start = left_by_end = start
    arcs_right, arcs_left = torch.full_like(start, -torch.inf), torch.full_like(start, -torch.inf)  # by their heads
    for width in range(1, size):
        number = size - width
        halves = log_sum(right_by_start[:, :number] + left_by_end[:, width:].flip(2), 2)
        of_right = halves
        if single_root:  # the root's only modifier: no item before it
            of_right = torch.cat([left_by_end[:, width, width - 1 : width], halves[:, 1:]], 1)
        arc_right = of_right + torch.diagonal(arcs, width, 1, 2)
        arc_left = halves + torch.diagonal(arcs, -width, 1, 2)
        arcs_right = torch.cat([arcs_right, column(arc_right, at_end=False)], 2)
        arcs_left = torch.cat([arcs_left, column(arc_left, at_end=True)], 2)
        right = log_sum(arcs_right[:, :number, 1:] + right_by_end[:, width:].flip(2), 2)
        left = log_sum(arcs_left[:, width:, 1:] + left_by_start[:, :number].flip(2), 2)
        right_by_start = torch.cat([right_by_start, column(right, at_end=False)], 2)
        right_by_end = torch.cat([right_by_end, column(right, at_end=True)], 2)
        left_by_start = torch.cat([left_by_start, column(left, at_end=False)], 2)
        left_by_end = torch.cat([left_by_end, column(left, at_end=True)], 2)
    if lengths is None:
        return right_by_start[:, 0, size - 1]
    return right_by_start[:, 0].gather(1, lengths[:, None])[:, 0]


def log_sum(values: Any, axis: int) -> Any:
    """Return log Σ exp along an axis; its derivatives are 0, not NaN, where all values are -inf."""
    highest = values.detach().amax(axis, keepdim=True)
    highest = highest.masked_fill(torch.isneginf(highest), 0.0)
    total = (values - highest).exp().sum(axis)
    none = total == 0.0
    return (total.masked_fill(none, 1.0).log() + highest.squeeze(axis)).masked_fill(none, -torch.inf)


# --- oracles ---------------------------------------------------------------------------------------------------------


def has_sums(oracle: Any) -> bool:
    """Return whether this module has the sums of an oracle."""
    return isinstance(oracle, (Chains, Trees)) or (isinstance(oracle, ProjectiveTrees) and not oracle.parts)


def log_partition(batch: Batch, scores: tuple[Any, ...]) -> Any:
    """Return the log-partition function of each instance of a batch, from tensors in the shapes of its arrays.

    Halves are computed with 32 bits.

    Raises
    ------
    InputError
        If all structures of an instance are forbidden, or scores are NaN or +inf; the message names the instance.
    """
    first, *others = (s.float() if s.dtype in (torch.float16, torch.bfloat16) else s for s in scores)
    device, lengths = first.device, None
    if batch.lengths is not None:
        lengths = torch.as_tensor(batch.lengths, device=device)
    if batch.mask is not None:  # existing positions first, in order
        existing = torch.as_tensor(batch.mask, device=device)
        order = torch.argsort(~existing, dim=1, stable=True)
        rows = torch.arange(len(first), device=device)[:, None]
        if isinstance(batch.oracle, Chains):
            first, others = first[rows, order], [s[rows, order] if s.ndim == 4 else s for s in others]
        else:
            order = torch.nn.functional.pad(order + 1, (1, 0))
            first = first[rows[:, :, None], order[:, :, None], order[:, None, :]]
    if isinstance(batch.oracle, Chains):
        found = chain_log_partition(first, others[0], lengths)
    else:
        sums = tree_log_partition if isinstance(batch.oracle, Trees) else projective_log_partition
        found = sums(first, lengths, single_root=batch.oracle.single_root)
    _refuse(found, "every structure is forbidden: the scores of -inf leave none")
    return found.to(scores[0].dtype)


def marginals(batch: Batch, scores: tuple[Any, ...]) -> Any:
    """Return the marginals of the first array of scores, in its shape; for parameters see :func:`log_partition`."""
    needed = torch.is_grad_enabled() and any(s.requires_grad for s in scores)
    with torch.enable_grad():
        first = scores[0] if scores[0].requires_grad else scores[0].detach().requires_grad_()
        total = log_partition(batch, (first, *scores[1:])).sum()
        (found,) = torch.autograd.grad(total, first, create_graph=needed)
    return found


def gold_scores(batch: Batch, scores: tuple[Any, ...], gold: list[Structure]) -> Any:
    """Return the score of each instance's gold structure; for parameters see :func:`log_partition`."""
    apart = dataclasses.replace(batch, shared=(False,) * len(batch.shared))
    counts = [
        np.zeros((len(batch), *a.shape) if s else a.shape) for a, s in zip(batch.arrays, batch.shared, strict=True)
    ]
    for k, structure in enumerate(gold):
        parts = batch.instance(k)
        apart.add(k, counts, [structure.array(number, a.shape) for number, a in enumerate(parts)])
    found = scores[0].new_zeros(len(batch))
    for theta, count in zip(scores, counts, strict=True):
        weights = torch.as_tensor(count, dtype=theta.dtype, device=theta.device)
        found = found + (theta.masked_fill(weights == 0.0, 0.0) * weights).flatten(1).sum(1)
    _refuse(found, "the gold structure has a forbidden part, of score -inf")
    return found


def _refuse(values: Any, forbidden: str) -> None:
    """Raise an InputError that names the first instance whose value is not finite."""
    wrong = ~torch.isfinite(values.detach())
    if wrong.any():
        k = int(wrong.int().argmax())
        reason = forbidden if torch.isneginf(values[k]) else "scores: expected finite numbers, or -inf"
        raise InputError(f"instance {k} of the batch: {reason}")


def _arcs(scores: Any, lengths: Any) -> Any:
    """Return scores with -inf for arcs that do not exist: into the root, loops, and beyond the lengths."""
    size = scores.shape[1]
    positions = torch.arange(size, device=scores.device)
    missing = (positions == 0)[None, :] | torch.eye(size, dtype=torch.bool, device=scores.device)
    if lengths is not None:
        beyond = positions > lengths[:, None]
        missing = missing | beyond[:, None, :] | beyond[:, :, None]
    return scores.masked_fill(missing, -torch.inf)

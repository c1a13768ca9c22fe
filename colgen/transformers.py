"""Models of Hugging Face whose heads decode exactly: chains of legal tags, and biaffine dependency trees.

    config = ChainConfig(AutoConfig.from_pretrained(name), scheme="BIO", id2label=id2label)
    model = ChainForTokenClassification(config, AutoModel.from_pretrained(name))
    logits = model(input_ids, attention_mask).logits
    tags = model.decode(logits, words)                            # numbers of labels, shape (sentences, tokens)

Each is a :class:`transformers.PreTrainedModel` around any encoder.  It can be saved, loaded, and trained by
:class:`transformers.Trainer`.  *Words* are the tokens with a label, such as first word pieces; the label of all others
is -100.  To measure decoded structures, give the trainer a function that decodes:

    Trainer(model, preprocess_logits_for_metrics=lambda logits, labels: model.decode(logits, labels != IGNORED), ...)

Losses are those of :mod:`colgen.torch`.  transformers is optional: install the extra ``transformers``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from colgen.core.errors import InputError
from colgen.learning.oracles import Chains, Trees, decode
from colgen.learning.tags import LegalTags, legal_transitions
from colgen.solvers.chains.viterbi import viterbi

try:
    import torch
    from transformers import AutoConfig, AutoModel, PretrainedConfig, PreTrainedModel
    from transformers.modeling_outputs import TokenClassifierOutput

    from colgen.torch import FenchelYoung, StructuredHinge
except ImportError as error:
    needed = "colgen.transformers needs transformers and PyTorch; run: pip install colgen[transformers]"
    raise ModuleNotFoundError(needed, name="transformers") from error

Floats = NDArray[np.float64]

IGNORED = -100
"""Label of tokens that have none, as in PyTorch."""

_FENCHEL_YOUNG = "gibbs", "sparsemap", "perturbed"
_MARGINS = "hamming", "zero_one", "none"


# --- base ------------------------------------------------------------------------------------------------------------


class HeadConfig(PretrainedConfig):
    """Base of the configurations: an encoder, a loss and dropout.

    Parameters
    ----------
    encoder
        Configuration of the encoder, which has a ``hidden_size``.
    loss
        ``"gibbs"``, ``"sparsemap"`` or ``"perturbed"``, see :func:`colgen.learning.fenchel_young`; or the margin of a
        hinge: ``"hamming"``, ``"zero_one"`` or ``"none"``.
    dropout
        Probability of dropout of the encoder's states.
    options
        Options of :class:`transformers.PretrainedConfig`, such as ``id2label``.
    """

    def __init__(self, encoder: Any = None, *, loss: str = "gibbs", dropout: float = 0.1, **options: Any) -> None:
        if loss not in _FENCHEL_YOUNG + _MARGINS:
            raise InputError(f"loss: expected one of {', '.join(_FENCHEL_YOUNG + _MARGINS)}, got {loss!r}")
        super().__init__(**options)
        self.encoder = AutoConfig.for_model(**encoder) if isinstance(encoder, dict) else encoder
        self.loss, self.dropout = loss, dropout


class ExactHead(PreTrainedModel):
    """Base of the models: an encoder, and the loss of an oracle.

    Parameters
    ----------
    config
        Configuration of the model.
    encoder
        The encoder, such as a pretrained one; by default a new one of ``config.encoder``.
    """

    config_class = HeadConfig
    base_model_prefix = "encoder"

    def __init__(self, config: Any, encoder: Any = None) -> None:
        super().__init__(config)
        if config.encoder is None:
            raise InputError(f"{type(config).__name__}: expected the configuration of an encoder, got none")
        self.encoder = AutoModel.from_config(config.encoder) if encoder is None else encoder
        self.dropout = torch.nn.Dropout(config.dropout)

    def states(self, input_ids: Any, attention_mask: Any, options: dict[str, Any]) -> Any:
        """Return the encoder's states of the tokens after dropout, shape (sentences, tokens, hidden size)."""
        return self.dropout(self.encoder(input_ids=input_ids, attention_mask=attention_mask, **options)[0])

    def structured_loss(self, oracle: Any, scores: Any, *shared: Any, gold: Any, lengths: Any) -> Any:
        """Return the mean loss of the instances of positive length; zero if there are none.

        Parameters
        ----------
        scores
            Scores of a batch, shape (instances, ...).
        shared
            Arrays of scores that all instances share.
        gold
            Labels of the gold structures, shape (instances, longest).
        lengths
            Lengths of the instances.
        """
        kept = lengths > 0
        if not kept.any():
            return 0.0 * scores.sum()
        name = self.config.loss
        fenchel_young = name in _FENCHEL_YOUNG
        layer = FenchelYoung(oracle, regularization=name) if fenchel_young else StructuredHinge(oracle, margin=name)
        return layer(scores[kept], *shared, gold=gold[kept], lengths=lengths[kept])


def gather_words(values: Any, words: Any) -> tuple[Any, Any]:
    """Return the values of each sentence's words, first to last, and the numbers of words.

    Parameters
    ----------
    values
        Values of tokens, shape (sentences, tokens, ...).
    words
        True for the tokens that are words, shape (sentences, tokens).

    Returns
    -------
    values, lengths
        Values of shape (sentences, largest number of words, ...), arbitrary beyond the number of words, and numbers of
        words, shape (sentences,).
    """
    lengths = words.sum(dim=1)
    longest = int(lengths.max()) if len(lengths) else 0
    order = torch.argsort((~words).to(torch.uint8), dim=1, stable=True)[:, :longest]
    return values[torch.arange(len(values), device=values.device)[:, None], order], lengths


def _scattered(values: Sequence[NDArray[Any]], words: Any) -> Any:
    """Return the numbers of each sentence's words at their tokens, shape (sentences, tokens); -100 elsewhere."""
    result = torch.full(words.shape, IGNORED, dtype=torch.long)
    result[words.cpu()] = torch.from_numpy(np.concatenate([np.zeros(0, dtype=np.int64), *values]))
    return result.to(words.device)


def _words(words: Any, labels: Any) -> Any:
    """Return the mask of words as truth values; by default the tokens with a label."""
    return labels != IGNORED if words is None else words.bool()


def _doubles(tensor: Any) -> Floats:
    """Return a tensor as an array."""
    found: Floats = tensor.detach().cpu().double().numpy()
    return found


# --- chains ----------------------------------------------------------------------------------------------------------


class ChainConfig(HeadConfig):
    """Configuration of :class:`ChainForTokenClassification`.

    Parameters
    ----------
    encoder, loss, dropout, options
        See :class:`HeadConfig`.  ``id2label`` names the labels.
    scheme
        ``"BIO"`` or ``"BILOU"``: labels have the form ``B-LOC``, others are ``O``, and only legal sequences of labels
        are decoded.  None allows all sequences.
    """

    model_type = "colgen-chain"

    def __init__(self, encoder: Any = None, *, scheme: Literal["BIO", "BILOU"] | None = None, **options: Any) -> None:
        super().__init__(encoder, **options)
        self.scheme = scheme


class ChainForTokenClassification(ExactHead):
    """Labels of the words of a sentence by a chain: scores of labels, of neighbouring labels, and of both ends.

    Parameters
    ----------
    config
        A :class:`ChainConfig`.
    encoder
        See :class:`ExactHead`.
    """

    config_class = ChainConfig

    def __init__(self, config: ChainConfig, encoder: Any = None) -> None:
        super().__init__(config, encoder)
        num = config.num_labels
        self.classifier = torch.nn.Linear(config.encoder.hidden_size, num)
        self.transitions = torch.nn.Embedding(num, num)
        self.ends = torch.nn.Embedding(2, num)
        self._legal = _legal_tags([config.id2label[k] for k in range(num)], config.scheme)
        self.post_init()

    def forward(
        self,
        input_ids: Any = None,
        attention_mask: Any = None,
        labels: Any = None,
        words: Any = None,
        **options: Any,
    ) -> TokenClassifierOutput:
        """Return scores of labels and, given labels, the mean loss of the sentences.

        Parameters
        ----------
        input_ids, attention_mask
            Shape (sentences, tokens).
        labels
            Numbers of the gold labels, shape (sentences, tokens); -100 for tokens without one.
        words
            True for tokens with a label; by default those whose label is not -100.
        options
            Further arguments of the encoder.

        Returns
        -------
        TokenClassifierOutput
            With ``loss``, and ``logits`` of shape (sentences, tokens, labels).

        Raises
        ------
        InputError
            If gold labels are not legal in the scheme.
        """
        logits = self.classifier(self.states(input_ids, attention_mask, options))
        if labels is None:
            return TokenClassifierOutput(logits=logits)
        found = _words(words, labels)
        scores, lengths = gather_words(logits, found)
        gold, _ = gather_words(labels, found)
        start, steps, end = self._scores()
        place = torch.arange(scores.shape[1], device=scores.device)
        scores = torch.where((place == 0)[:, None], scores + start, scores)
        scores = torch.where((place == lengths[:, None] - 1)[..., None], scores + end, scores)
        return TokenClassifierOutput(
            loss=self.structured_loss(Chains(), scores, steps, gold=gold, lengths=lengths), logits=logits
        )

    def decode(self, logits: Any, words: Any) -> Any:
        """Return the numbers of the best legal labels, shape (sentences, tokens); -100 for tokens that are no words.

        Parameters
        ----------
        logits
            Scores of labels, shape (sentences, tokens, labels).
        words
            True for the tokens to label, shape (sentences, tokens).
        """
        start, steps, end = (_doubles(part) for part in self._scores())
        mask = words.bool()
        scores = _doubles(logits[mask])
        if not len(scores):
            return _scattered([], mask)
        offsets = np.unique(np.cumsum([0, *mask.sum(dim=1).tolist()]))
        scores[offsets[:-1]] += start
        scores[offsets[1:] - 1] += end
        labels, values = viterbi(scores, offsets, steps)
        if np.isneginf(values).any():
            raise InputError(f"scheme: the labels {list(self.config.id2label.values())} have no legal sequence")
        return _scattered([labels.astype(np.int64)], mask)

    def _scores(self) -> tuple[Any, Any, Any]:
        """Return scores of first labels, of neighbouring labels, and of last labels, -inf for illegal ones."""
        learned = self.ends.weight[0], self.transitions.weight, self.ends.weight[1]
        allowed = self._legal.first, self._legal.transitions, self._legal.last
        start, steps, end = (own + torch.as_tensor(legal).to(own) for own, legal in zip(learned, allowed, strict=True))
        return start, steps, end


def _legal_tags(labels: Sequence[str], scheme: str | None) -> LegalTags:
    """Return which labels are legal; without a scheme all of them."""
    if scheme is None:
        return LegalTags(np.zeros((len(labels), len(labels))), np.zeros(len(labels)), np.zeros(len(labels)))
    return legal_transitions(labels, scheme)


# --- trees -----------------------------------------------------------------------------------------------------------


class TreeConfig(HeadConfig):
    """Configuration of :class:`BiaffineForDependencyParsing`.

    Parameters
    ----------
    encoder, loss, dropout, options
        See :class:`HeadConfig`.
    size
        Length of the vectors of heads and of modifiers.
    relations
        Names of the relations of arcs; empty for trees without them.
    single_root
        Whether exactly one arc leaves the root.
    """

    model_type = "colgen-tree"

    def __init__(
        self,
        encoder: Any = None,
        *,
        size: int = 256,
        relations: Sequence[str] = (),
        single_root: bool = True,
        **options: Any,
    ) -> None:
        super().__init__(encoder, **options)
        self.size, self.relations, self.single_root = size, list(relations), single_root


class BiaffineForDependencyParsing(ExactHead):
    """Dependency trees, projective or not, by biaffine scores of arcs (Dozat and Manning, 2017).

    Parameters
    ----------
    config
        A :class:`TreeConfig`.
    encoder
        See :class:`ExactHead`.
    """

    config_class = TreeConfig

    def __init__(self, config: TreeConfig, encoder: Any = None) -> None:
        super().__init__(config, encoder)
        hidden, size = config.encoder.hidden_size, config.size
        self.root = torch.nn.Embedding(1, hidden)
        self.arcs = Biaffine(hidden, size, 1)
        self.relations = Biaffine(hidden, size, len(config.relations)) if config.relations else None
        self.oracle = Trees(single_root=config.single_root)
        self.post_init()

    def forward(
        self,
        input_ids: Any = None,
        attention_mask: Any = None,
        labels: Any = None,
        words: Any = None,
        relations: Any = None,
        **options: Any,
    ) -> TokenClassifierOutput:
        """Return scores of arcs and, given labels, the mean loss of the sentences.

        Words are numbered from 1 in each sentence; 0 is the root.

        Parameters
        ----------
        input_ids, attention_mask
            Shape (sentences, tokens).
        labels
            Number of each word's head, shape (sentences, tokens); -100 for tokens that are no words.
        words
            True for words; by default the tokens whose label is not -100.  One of the two is needed.
        relations
            Number of the relation of each word to its head, shape (sentences, tokens).
        options
            Further arguments of the encoder.

        Returns
        -------
        TokenClassifierOutput
            With ``loss``, and ``logits``: scores of arcs by head and modifier, shape (sentences, N, N), where N is one
            more than the largest number of words.  If there are relations, a pair of these and of scores of relations,
            shape (sentences, N, N, relations); their cross entropy at the gold heads is added to the loss.
        """
        if words is None and labels is None:
            raise InputError("words: expected a mask of the words, or labels, got neither")
        found = _words(words, labels)
        states, lengths = gather_words(self.states(input_ids, attention_mask, options), found)
        states = torch.cat([self.root.weight.expand(len(states), 1, -1), states], dim=1)
        arcs = self.arcs(states)[..., 0]
        logits = arcs if self.relations is None else (arcs, self.relations(states))
        if labels is None:
            return TokenClassifierOutput(logits=logits)
        gathered, _ = gather_words(labels, found)
        heads = torch.nn.functional.pad(gathered, (1, 0))
        loss = self.structured_loss(self.oracle, arcs, gold=heads, lengths=lengths)
        if self.relations is not None and relations is not None:
            sentence, word = torch.nonzero(
                torch.arange(gathered.shape[1]).to(lengths) < lengths[:, None], as_tuple=True
            )
            scores = logits[1][sentence, gathered[sentence, word], word + 1]
            gold, _ = gather_words(relations, found)
            loss = loss + torch.nn.functional.cross_entropy(scores, gold[sentence, word], ignore_index=IGNORED)
        return TokenClassifierOutput(loss=loss, logits=logits)

    def decode(self, logits: Any, words: Any) -> Any:
        """Return the heads of the best trees, shape (sentences, tokens); -100 for tokens that are no words.

        If there are relations, return a pair of the heads and of the best relation of each chosen arc.

        Parameters
        ----------
        logits
            Those of :meth:`forward`.
        words
            True for words, shape (sentences, tokens).
        """
        mask = words.bool()
        scores = _doubles(logits if self.relations is None else logits[0])
        heads, relations = [], []
        for k, length in enumerate(mask.sum(dim=1).tolist()):
            if not length:
                continue
            own = np.ascontiguousarray(scores[k, : length + 1, : length + 1])
            places, _ = decode(self.oracle, (own,)).parts[0]
            head, modifier = places // (length + 1), places % (length + 1)
            heads.append(head[np.argsort(modifier)])
            if self.relations is not None:
                chosen = logits[1][k, heads[-1], np.arange(1, length + 1)].argmax(dim=-1)
                relations.append(chosen.cpu().numpy())
        found = _scattered(heads, mask)
        return found if self.relations is None else (found, _scattered(relations, mask))


class Biaffine(torch.nn.Module):
    """Scores of pairs of states: a bilinear form of two vectors, plus linear terms.

    Parameters
    ----------
    hidden, size
        Lengths of the states and of the vectors.
    scores
        Number of scores of each pair.
    """

    def __init__(self, hidden: int, size: int, scores: int) -> None:
        super().__init__()
        self.first = torch.nn.Sequential(torch.nn.Linear(hidden, size), torch.nn.ReLU())
        self.second = torch.nn.Sequential(torch.nn.Linear(hidden, size), torch.nn.ReLU())
        self.both = torch.nn.Linear(size, scores * size, bias=False)
        self.alone = torch.nn.Linear(size, scores)
        self.other = torch.nn.Linear(size, scores, bias=False)

    def forward(self, states: Any) -> Any:
        """Return scores of shape (instances, n, n, scores) for states of shape (instances, n, hidden)."""
        first, second = self.first(states), self.second(states)
        turned = self.both(first).unflatten(-1, (-1, first.shape[-1]))
        pairs = torch.einsum("bisd,bjd->bijs", turned, second)
        return pairs + self.alone(first)[:, :, None] + self.other(second)[:, None]


__all__ = [
    "BiaffineForDependencyParsing",
    "ChainConfig",
    "ChainForTokenClassification",
    "ExactHead",
    "HeadConfig",
    "TreeConfig",
    "gather_words",
]

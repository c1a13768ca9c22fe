"""A model of Hugging Face that clusters mentions exactly: coreference by scores of pairs.

It belongs to the models of :mod:`colgen.transformers`, and is trained, saved and loaded like them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from colgen.core.errors import InputError
from colgen.problems.coreference.clustering import cluster
from colgen.problems.learning_oracles import Clusterings

try:
    import torch
    from transformers.modeling_outputs import TokenClassifierOutput

    from colgen.transformers import IGNORED, Biaffine, ExactHead, HeadConfig
except ImportError as error:
    needed = "colgen.problems.learning_heads needs transformers and PyTorch; run: pip install colgen[transformers]"
    raise ModuleNotFoundError(needed, name="transformers") from error


class ClusterConfig(HeadConfig):
    """Configuration of :class:`ClustersForCoreference`.

    Parameters
    ----------
    encoder, loss, dropout, options
        See :class:`colgen.transformers.HeadConfig`.  The loss ``"gibbs"`` does not exist for clusterings.
    size
        Length of the vectors of mentions.
    """

    model_type = "colgen-clusters"

    def __init__(self, encoder: Any = None, *, size: int = 256, loss: str = "hamming", **options: Any) -> None:
        super().__init__(encoder, loss=loss, **options)
        self.size = size


class ClustersForCoreference(ExactHead):
    """Clusters of given mentions by scores of pairs, which depend on the first and last tokens of both mentions.

    Parameters
    ----------
    config
        A :class:`ClusterConfig`.
    encoder
        See :class:`colgen.transformers.ExactHead`.
    """

    config_class = ClusterConfig

    def __init__(self, config: ClusterConfig, encoder: Any = None) -> None:
        super().__init__(config, encoder)
        self.pairs = Biaffine(2 * config.encoder.hidden_size, config.size, 1)
        self.post_init()

    def forward(
        self,
        input_ids: Any = None,
        attention_mask: Any = None,
        labels: Any = None,
        mentions: Any = None,
        **options: Any,
    ) -> TokenClassifierOutput:
        """Return scores of pairs of mentions and, given labels, the mean loss of the texts.

        Parameters
        ----------
        input_ids, attention_mask
            Shape (texts, tokens).
        labels
            Cluster number of each mention, shape (texts, mentions); -100 for missing mentions at the end.
        mentions
            Positions of the first and last token of each mention, shape (texts, mentions, 2); -1 for missing mentions.
        options
            Further arguments of the encoder.

        Returns
        -------
        TokenClassifierOutput
            With ``loss``, and ``logits``: symmetric scores, shape (texts, mentions, mentions).  The diagonal has no
            meaning.
        """
        if mentions is None:
            raise InputError("mentions: expected positions of shape (texts, mentions, 2), got none")
        states = self.states(input_ids, attention_mask, options)
        if mentions.numel() and int(mentions.max()) >= states.shape[1]:
            raise InputError(f"mentions: expected positions from 0 to {states.shape[1] - 1}, got {int(mentions.max())}")
        text = torch.arange(len(states), device=states.device)[:, None, None]
        vectors = states[text, mentions.clamp(min=0)].flatten(2)
        scores = self.pairs(vectors)[..., 0]
        logits = scores + scores.transpose(1, 2)
        loss = None
        if labels is not None:
            lengths = (labels != IGNORED).sum(dim=1)
            loss = self.structured_loss(Clusterings(), logits, gold=labels, lengths=lengths)
        return TokenClassifierOutput(loss=loss, logits=logits)

    def decode(self, logits: Any, present: Any) -> Any:
        """Return cluster numbers of a best clustering, shape (texts, mentions); -100 for missing mentions.

        Parameters
        ----------
        logits
            Scores of pairs, shape (texts, mentions, mentions).
        present
            True for mentions that exist, which come first, shape (texts, mentions).
        """
        scores = logits.detach().cpu().double().numpy()
        result = torch.full(present.shape, IGNORED, dtype=torch.long)
        for k, length in enumerate(present.bool().sum(dim=1).tolist()):
            if length:
                own = np.ascontiguousarray(scores[k, :length, :length])
                result[k, :length] = torch.from_numpy(cluster(own).labels)
        return result.to(logits.device)


__all__ = ["ClusterConfig", "ClustersForCoreference"]

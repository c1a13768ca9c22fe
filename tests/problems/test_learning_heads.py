"""The model that clusters mentions: clusterings and losses by enumeration, saving, and training."""

import sys

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the extra 'transformers' is not installed")
transformers = pytest.importorskip("transformers", reason="the extra 'transformers' is not installed")

from colgen import InputError  # noqa: E402
from colgen.learning import hinge, sparsemap  # noqa: E402
from colgen.problems.learning_heads import ClusterConfig, ClustersForCoreference  # noqa: E402
from colgen.problems.learning_oracles import Clusterings  # noqa: E402
from tests.twins.coreference import partitions  # noqa: E402

MENTIONS = torch.tensor(
    [[[0, 1], [2, 2], [3, 4], [5, 5], [6, 6]], [[1, 1], [2, 4], [5, 5], [-1, -1], [-1, -1]], [[-1, -1]] * 5]
)
LABELS = torch.tensor([[0, 1, 0, 2, 1], [0, 0, 1, -100, -100], [-100] * 5])
PRESENT = LABELS != -100


def inputs():
    generator = torch.Generator().manual_seed(1)
    ids = torch.randint(30, (3, 7), generator=generator)
    return {"input_ids": ids, "attention_mask": torch.ones_like(ids), "mentions": MENTIONS}


def made(**options):
    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    bert = transformers.BertConfig(vocab_size=30, max_position_embeddings=20, **sizes)
    model = ClustersForCoreference(ClusterConfig(bert, size=8, **options)).eval()
    with torch.no_grad():
        for weights in model.pairs.parameters():
            weights *= 20.0
    return model


def test_clusters_are_those_of_enumeration():
    model = made()
    logits = model(**inputs()).logits
    found = model.decode(logits, PRESENT)
    assert logits.shape == (3, 5, 5)
    assert torch.equal(logits, logits.transpose(1, 2))
    assert (found[~PRESENT] == -100).all()
    for k, count in enumerate((5, 3)):
        scores = np.triu(logits[k].detach().double().numpy(), 1)

        def value(labels, scores=scores):
            n = len(labels)
            return scores[:n, :n][labels[:, None] == labels].sum()

        best = max(
            value(np.array([next(j for j, part in enumerate(parts) if i in part) for i in range(count)]))
            for parts in partitions(count)
        )
        assert value(found[k, :count].numpy()) == pytest.approx(best, abs=1e-6)


@pytest.mark.parametrize("loss", ["hamming", "sparsemap"])
def test_losses_are_those_of_arrays(loss):
    model = made(loss=loss)
    output = model(**inputs(), labels=LABELS)
    expected = []
    for k, count in enumerate((5, 3)):
        scores, gold = output.logits[k, :count, :count].detach().double().numpy(), LABELS[k, :count].numpy()
        if loss == "hamming":
            expected.append(hinge(Clusterings(), gold, scores).value)
        else:
            together = (gold[:, None] == gold) & ~np.eye(count, dtype=bool)
            expected.append(sparsemap(Clusterings(), scores).value + 0.5 * together.sum() - scores[together].sum())
    assert output.loss.item() == pytest.approx(np.mean(expected), rel=1e-5, abs=1e-6)


def test_learns_is_saved_and_read_again(tmp_path):
    model = made()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(60):
        optimizer.zero_grad()
        loss = model(**inputs(), labels=LABELS).loss
        loss.backward()
        optimizer.step()
    model.save_pretrained(tmp_path)
    again = ClustersForCoreference.from_pretrained(tmp_path).eval()
    assert torch.equal(again.decode(again(**inputs()).logits, PRESENT), LABELS)


def test_no_mentions():
    output = made()(**{name: array[2:] for name, array in inputs().items()}, labels=LABELS[2:])
    assert output.loss.item() == 0.0
    with pytest.raises(InputError, match="mentions: expected positions of shape"):
        made()(input_ids=inputs()["input_ids"])
    with pytest.raises(InputError, match="mentions: expected positions from 0 to 6, got 7"):
        made()(**{**inputs(), "mentions": MENTIONS + 1})


def test_the_trainer_of_transformers(tmp_path):
    pytest.importorskip("accelerate", reason="the extra 'transformers' is not installed")
    model, columns = made(), {**inputs(), "labels": LABELS}
    data = [{name: column[k] for name, column in columns.items()} for k in range(2)]
    arguments = transformers.TrainingArguments(
        output_dir=str(tmp_path), num_train_epochs=1, report_to=[], disable_tqdm=True, use_cpu=True, save_strategy="no"
    )
    trainer = transformers.Trainer(model, arguments, train_dataset=data, eval_dataset=data)
    assert trainer.train().training_loss > 0.0
    assert trainer.predict(data).predictions.shape == (2, 5, 5)


def test_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers.modeling_outputs", None)
    monkeypatch.delitem(sys.modules, "colgen.problems.learning_heads")
    with pytest.raises(ModuleNotFoundError, match=r"pip install colgen\[transformers\]"):
        import colgen.problems.learning_heads  # noqa: F401

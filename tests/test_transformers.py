"""Models of Hugging Face: exact decoding and losses by enumeration, saving, and the trainer; nothing is downloaded."""

import re
import sys
from itertools import pairwise, product

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the extra 'transformers' is not installed")
transformers = pytest.importorskip("transformers", reason="the extra 'transformers' is not installed")

from colgen import InputError  # noqa: E402
from colgen.transformers import (  # noqa: E402
    IGNORED,
    BiaffineForDependencyParsing,
    ChainConfig,
    ChainForTokenClassification,
    HeadConfig,
    TreeConfig,
    gather_words,
)

TAGS = {
    "BIO": ["O", "B-X", "I-X", "B-Y", "I-Y"],
    "BILOU": ["O", "B-X", "I-X", "L-X", "U-X", "B-Y", "L-Y"],
    None: ["a", "b", "c"],
}
LEGAL = {
    "BIO": r"(O |B-X (I-X )*|B-Y (I-Y )*)*",
    "BILOU": r"(O |U-X |B-X (I-X )*L-X |B-Y L-Y )*",
    None: ".*",
}
LABELS = torch.tensor([[-100, 0, 1, 2, -100, 0, -100], [-100, -100, 1, 0, -100, -100, -100], [-100] * 7])
"""Three sentences of 4, 2 and no words, with tokens between words."""

HEADS = torch.tensor([[-100, 2, 0, 2, -100, 3, -100], [-100, -100, 0, 1, -100, -100, -100], [-100] * 7])
WORDS = LABELS != IGNORED


def bert(**options):
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    return transformers.BertConfig(vocab_size=30, max_position_embeddings=20, **sizes, **options)


def inputs(count=3, tokens=7):
    generator = torch.Generator().manual_seed(1)
    mask = torch.ones((count, tokens), dtype=torch.long)
    mask[1:2, 5:] = 0
    return {"input_ids": torch.randint(30, (count, tokens), generator=generator), "attention_mask": mask}


def chain(scheme="BIO", **options):
    torch.manual_seed(0)
    config = ChainConfig(bert(), scheme=scheme, id2label=dict(enumerate(TAGS[scheme])), **options)
    return enlarged(ChainForTokenClassification(config).eval())


def tree(**options):
    torch.manual_seed(0)
    return enlarged(BiaffineForDependencyParsing(TreeConfig(bert(), size=8, **options)).eval())


def enlarged(model):
    """Multiply the weights of the head, so that structures differ much in score."""
    with torch.no_grad():
        for name, weights in model.named_parameters():
            if not name.startswith("encoder"):
                weights *= 20.0
    return model


# --- chains ----------------------------------------------------------------------------------------------------------


def labellings(model, logits, scheme):
    """Return all legal labellings of one sentence, and their scores."""
    first, last = (model.ends.weight[k].detach().numpy() for k in range(2))
    steps = model.transitions.weight.detach().numpy()
    found = {}
    for own in product(range(logits.shape[1]), repeat=len(logits)):
        if re.fullmatch(LEGAL[scheme], "".join(f"{TAGS[scheme][k]} " for k in own)):
            unary = sum(logits[i, k] for i, k in enumerate(own))
            found[own] = unary + first[own[0]] + last[own[-1]] + sum(steps[i, j] for i, j in pairwise(own))
    return found


@pytest.mark.parametrize("scheme", TAGS)
def test_labels_and_likelihoods_are_those_of_enumeration(scheme):
    model = chain(scheme)
    gold = (
        LABELS
        if scheme != "BILOU"
        else torch.tensor([[-100, 1, 2, 3, -100, 4, -100], [-100, -100, 0, 4, *[-100] * 3], [-100] * 7])
    )
    output = model(**inputs(), labels=gold)
    tags, losses = model.decode(output.logits, WORDS), []
    assert output.logits.shape == (3, 7, len(TAGS[scheme]))
    assert (tags[~WORDS] == IGNORED).all()
    for k in range(2):
        own = labellings(model, output.logits[k][WORDS[k]].detach().numpy(), scheme)
        assert tuple(tags[k][WORDS[k]].tolist()) == max(own, key=own.get)
        losses.append(np.logaddexp.reduce(list(own.values())) - own[tuple(gold[k][WORDS[k]].tolist())])
    assert output.loss.item() == pytest.approx(np.mean(losses), rel=1e-5)


@pytest.mark.parametrize("loss", ["gibbs", "sparsemap", "hamming", "zero_one"])
def test_gradients_of_chains(loss):
    model = chain(loss=loss).double()
    output = model(**inputs(), labels=LABELS)
    output.loss.backward()
    for weights in (model.transitions.weight, model.ends.weight, model.classifier.weight):
        place = int(weights.grad.abs().argmax())
        slope = weights.grad.flatten()[place].item()
        values = []
        for step in (1e-6, -2e-6):
            with torch.no_grad():
                weights.view(-1)[place] += step
            values.append(model(**inputs(), labels=LABELS).loss.item())
        with torch.no_grad():
            weights.view(-1)[place] += 1e-6
        assert (values[0] - values[1]) / 2e-6 == pytest.approx(slope, rel=1e-4)
        assert torch.isfinite(weights.grad).all()


def test_illegal_right_labels_are_refused():
    with pytest.raises(InputError, match="instance 0 of the batch: the gold structure has a forbidden part"):
        chain()(**inputs(1), labels=torch.tensor([[0, 2, 0, 0, 0, 0, 0]]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scheme": "IOB"}, "scheme: expected one of BIO, BILOU, got 'IOB'"),
        ({"scheme": "BIO", "id2label": {0: "O", 1: "X"}}, "labels: expected one of B-X, I-X, O with a type X, got 'X'"),
        ({"scheme": "BIO", "id2label": {0: "O", 1: "L-X"}}, "got 'L-X'"),
        ({"loss": "ridge"}, "loss: expected one of gibbs, sparsemap"),
    ],
)
def test_wrong_configurations_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        ChainForTokenClassification(ChainConfig(bert(), **options))


def test_labels_without_a_legal_sequence_are_refused():
    config = ChainConfig(bert(), scheme="BILOU", id2label={0: "B-X", 1: "I-X"})
    with pytest.raises(InputError, match=r"\['B-X', 'I-X'\] have no legal sequence"):
        ChainForTokenClassification(config).decode(torch.zeros(1, 2, 2), torch.ones(1, 2))


def test_an_encoder_is_needed():
    with pytest.raises(InputError, match="ChainConfig: expected the configuration of an encoder"):
        ChainForTokenClassification(ChainConfig())


# --- trees -----------------------------------------------------------------------------------------------------------


def trees(words, single_root):
    for heads in product(range(words + 1), repeat=words):
        above = [0, *heads]
        for _ in range(words):
            above = [above[k] for k in above]
        if not any(above) and (heads.count(0) == 1 or not single_root):
            yield heads


@pytest.mark.parametrize("single_root", [True, False])
def test_trees_and_likelihoods_are_those_of_enumeration(single_root):
    model = tree(single_root=single_root)
    output = model(**inputs(), labels=HEADS)
    heads, losses = model.decode(output.logits, WORDS), []
    assert output.logits.shape == (3, 5, 5)
    assert (heads[~WORDS] == IGNORED).all()
    for k, words in enumerate((4, 2)):
        scores = output.logits[k].detach().numpy()
        own = {tree: sum(scores[h, m] for m, h in enumerate(tree, 1)) for tree in trees(words, single_root)}
        assert tuple(heads[k][WORDS[k]].tolist()) == max(own, key=own.get)
        losses.append(np.logaddexp.reduce(list(own.values())) - own[tuple(HEADS[k][WORDS[k]].tolist())])
    assert output.loss.item() == pytest.approx(np.mean(losses), rel=1e-5)


def test_relations_of_chosen_arcs():
    model = tree(relations=["subject", "object", "other"])
    relations = torch.where(WORDS, torch.arange(21).reshape(3, 7) % 3, IGNORED)
    output = model(**inputs(), labels=HEADS, relations=relations)
    arcs, scores = output.logits
    heads, chosen = model.decode(output.logits, WORDS)
    expected, gold = [], []
    for k, words in enumerate((4, 2)):
        for m in range(1, words + 1):
            place = WORDS[k].nonzero()[m - 1, 0]
            assert chosen[k, place] == scores[k, heads[k, place], m].argmax()
            expected.append(scores[k, HEADS[k, place], m])
            gold.append(relations[k, place])
    alone = model(**inputs(), labels=HEADS).loss
    both = alone + torch.nn.functional.cross_entropy(torch.stack(expected), torch.stack(gold))
    assert output.loss.item() == pytest.approx(both.item(), rel=1e-5)
    assert (chosen[~WORDS] == IGNORED).all()
    assert torch.equal(model.decode((arcs, scores), WORDS)[0], heads)


def test_words_without_labels():
    model = tree()
    with pytest.raises(InputError, match="words: expected a mask of the words, or labels, got neither"):
        model(**inputs())
    logits = model(**inputs(), words=WORDS.long()).logits
    assert torch.equal(logits, model(**inputs(), labels=HEADS).logits)


# --- all models ------------------------------------------------------------------------------------------------------


def test_gathered_words():
    values = torch.arange(14).reshape(2, 7)
    found, lengths = gather_words(values, torch.tensor([[0, 1, 0, 1, 1, 0, 0], [0, 0, 0, 0, 0, 0, 1]]).bool())
    assert lengths.tolist() == [3, 1]
    assert found[0].tolist() == [1, 3, 4]
    assert found[1, 0] == 13
    assert gather_words(values, torch.zeros((2, 7), dtype=torch.bool))[0].shape == (2, 0)


@pytest.mark.parametrize(("model", "labels"), [(chain(), LABELS), (tree(), HEADS), (chain(loss="hamming"), LABELS)])
def test_no_words(model, labels):
    output = model(**{name: array[2:] for name, array in inputs().items()}, labels=labels[2:])
    assert output.loss.item() == 0.0
    output.loss.backward()
    assert (model.decode(output.logits, labels[2:] != IGNORED) == IGNORED).all()


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float64])
@pytest.mark.parametrize("model", [chain, tree])
def test_types_of_weights(model, dtype):
    made, labels = model().to(dtype), LABELS if model is chain else HEADS
    output = made(**inputs(), labels=labels)
    output.loss.backward()
    assert output.loss.dtype == output.logits.dtype == dtype
    assert made.decode(output.logits, WORDS).shape == labels.shape


@pytest.mark.parametrize("made", [chain(), tree(relations=["a", "b"], single_root=False)])
def test_saved_models_are_read_again(made, tmp_path):
    made.save_pretrained(tmp_path)
    again = type(made).from_pretrained(tmp_path).eval()
    one, other = (model(**inputs(), labels=None, words=WORDS).logits for model in (made, again))
    torch.testing.assert_close(one, other, rtol=0.0, atol=0.0)
    one, other = ({**model.config.to_dict(), "_name_or_path": "", "dtype": ""} for model in (made, again))
    assert one == other
    assert isinstance(again.config.encoder, transformers.BertConfig)


@pytest.mark.parametrize(
    "encoder",
    [
        transformers.DistilBertConfig(vocab_size=30, dim=16, n_layers=1, n_heads=2, hidden_dim=16),
        transformers.RobertaConfig(
            vocab_size=30, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16
        ),
    ],
)
def test_other_encoders(encoder):
    model = ChainForTokenClassification(ChainConfig(encoder, scheme="BIO", id2label=dict(enumerate(TAGS["BIO"]))))
    model(**inputs(), labels=LABELS).loss.backward()
    assert model.classifier.weight.grad.abs().sum() > 0.0


def test_a_pretrained_encoder_keeps_its_weights():
    encoder = transformers.AutoModel.from_config(bert())
    before = {name: weights.clone() for name, weights in encoder.state_dict().items()}
    model = ChainForTokenClassification(ChainConfig(bert(), num_labels=3), encoder)
    assert all(torch.equal(model.encoder.state_dict()[name], weights) for name, weights in before.items())


class Sentences(torch.utils.data.Dataset):
    def __init__(self, **columns):
        self.columns = columns

    def __len__(self):
        return len(self.columns["labels"])

    def __getitem__(self, k):
        return {name: column[k] for name, column in self.columns.items()}


@pytest.mark.parametrize(("made", "labels"), [(chain, LABELS[:2]), (tree, HEADS[:2])])
def test_the_trainer_of_transformers(made, labels, tmp_path):
    pytest.importorskip("accelerate", reason="the extra 'transformers' is not installed")
    torch.manual_seed(0)
    model = type(made())(made().config)
    data = Sentences(labels=labels, **inputs(2))
    trainer = transformers.Trainer(
        model,
        transformers.TrainingArguments(
            output_dir=str(tmp_path),
            num_train_epochs=60,
            learning_rate=0.02,
            per_device_train_batch_size=2,
            per_device_eval_batch_size=1,
            report_to=[],
            disable_tqdm=True,
            use_cpu=True,
            save_strategy="no",
        ),
        train_dataset=data,
        eval_dataset=data,
        preprocess_logits_for_metrics=lambda logits, labels: model.decode(logits, labels != IGNORED),
        compute_metrics=lambda found: {"share": float((found.predictions == found.label_ids).mean())},
    )
    trainer.train()
    measured = trainer.evaluate()
    assert measured["eval_share"] == 1.0
    trainer.save_model(tmp_path / "model")
    again = type(model).from_pretrained(tmp_path / "model").eval()
    words = labels != IGNORED
    assert torch.equal(again.decode(again(**inputs(2), words=words).logits, words), labels)


def test_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    monkeypatch.delitem(sys.modules, "colgen.transformers")
    with pytest.raises(ModuleNotFoundError, match=r"pip install colgen\[transformers\]"):
        import colgen.transformers  # noqa: F401


def test_configurations_have_types_of_their_own():
    assert HeadConfig(bert()).encoder.hidden_size == 16
    assert len({kind.model_type for kind in (ChainConfig, TreeConfig)}) == 2

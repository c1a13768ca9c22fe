"""Training, scoring, saved models, and the input of the command line."""

import dataclasses
import io
import json
import os
from pathlib import Path

import numpy as np
import pytest

from colgen import InputError, solve
from colgen.cli.bench import train_model
from colgen.cli.main import main as cli
from colgen.cli.template import Material, TrainOptions
from colgen.problems.coreference import Coreference
from colgen.problems.coreference.command import TEMPLATE
from colgen.problems.coreference.conll import read_conll, write_conll
from colgen.problems.coreference.document import Document
from colgen.problems.coreference.features import PairFeatures, pair_features
from colgen.problems.coreference.instance import write_matrix
from colgen.problems.coreference.learning import KINDS, LEAST_PROBABILITY, MentionScorer, evaluate, scores_of, train
from colgen.problems.coreference.metrics import agreement
from colgen.problems.coreference.network import Ensemble
from colgen.problems.coreference.training import calibration_error, quality, read_corpus, split, train_from_folder
from tests.cli.stub import scored
from tests.problems.coreference.texts import invented, text

DATA = Path(os.environ.get("COLGEN_DATA", Path(__file__).parents[4] / "shared" / "data")) / "litbank"


@pytest.fixture(scope="module")
def scorer():
    pytest.importorskip("sklearn")
    return train([invented(seed, 6) for seed in range(6)], [invented(20, 6)], num_networks=2)


@pytest.fixture(scope="module")
def model(scorer, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "model.npz"
    scorer.save(path)
    return path


# --- scores ----------------------------------------------------------------------------------------------------------


def random_ensemble(num_unary, num_pair, generator, hidden=3, networks=2):
    def draw(*shape):
        return generator.normal(size=shape).astype(np.float32)

    units = hidden * networks
    return Ensemble(
        draw(num_unary, units),
        draw(num_unary, units),
        draw(num_pair, units),
        draw(units),
        draw(networks, hidden),
        draw(networks),
    )


def test_the_ensemble_agrees_with_its_formula():
    generator = np.random.default_rng(3)
    n, num_unary, num_pair = 6, 4, 5
    features = PairFeatures(
        generator.normal(size=(n, num_unary)).astype(np.float32),
        generator.normal(size=(n * (n - 1) // 2, num_pair)).astype(np.float32),
        ("u",) * num_unary,
        ("v",) * num_pair,
    )
    ensemble = random_ensemble(num_unary, num_pair, generator)
    expected = np.eye(n)
    for row, (i, j) in enumerate(zip(*np.triu_indices(n, 1), strict=True)):
        units = features.unary[i] @ ensemble.earlier + features.unary[j] @ ensemble.later
        units = np.maximum(units + features.pairs[row] @ ensemble.pair + ensemble.hidden, 0.0).reshape(2, 3)
        says = 1.0 / (1.0 + np.exp(-(units * ensemble.output).sum(axis=1) - ensemble.offset))
        expected[i, j] = expected[j, i] = says.mean()
    assert ensemble.probabilities(features) == pytest.approx(expected, abs=1e-5)


def test_scores_of_probabilities():
    p = np.array([[1.0, 0.75], [0.75, 1.0]])
    assert scores_of(p, "probability")[0, 1] == pytest.approx(0.25)
    assert scores_of(p, "probability", 0.1)[0, 1] == pytest.approx(0.35)
    assert scores_of(p, "log_odds")[0, 1] == pytest.approx(np.log(3.0))
    assert scores_of(p, "log_odds", -1.0)[0, 1] == pytest.approx(np.log(3.0) - 1.0)
    extreme = scores_of(np.array([[1.0, 0.0], [0.0, 1.0]]), "log_odds")
    assert extreme[0, 1] == pytest.approx(np.log(LEAST_PROBABILITY / (1.0 - LEAST_PROBABILITY)))
    with pytest.raises(InputError, match="'odds'"):
        scores_of(p, "odds")
    with pytest.raises(InputError, match=r"bias .*inf"):
        scores_of(p, "probability", np.inf)


def test_probabilities_and_instances(scorer):
    document = invented(30)
    p = scorer.probabilities(document)
    assert p.shape == (len(document.mentions),) * 2
    assert (p == p.T).all()
    assert ((p >= 0.0) & (p <= 1.0)).all()
    for kind in KINDS:
        instance = scorer.instance(document, kind, bias=0.25)
        off = ~np.eye(len(p), dtype=bool)
        assert instance.scores[off] == pytest.approx(scores_of(p, kind, 0.25)[off])
        assert instance.labels == document.labels
        assert instance.document is document
        assert instance.name == document.name


def test_a_document_of_one_mention(scorer):
    assert scorer.instance(text("[She] left .")).num_mentions == 1


def test_a_document_without_mentions_raises(scorer):
    with pytest.raises(InputError, match="empty: expected at least one mention"):
        scorer.instance(text("Rain fell .", name="empty"))


def test_training_reduces_the_loss(scorer):
    documents = [invented(seed) for seed in range(40, 44)]
    probabilities = [scorer.probabilities(document) for document in documents]
    assert evaluate(documents, probabilities, "log_odds").conll > 0.9
    alone = sum((agreement(d.gold, [(i,) for i in range(len(d.mentions))]).conll for d in documents), 0.0)
    assert alone / len(documents) < 0.3
    figures = {figure.name: figure.value for figure in quality("test", scorer, documents)}
    assert figures["test.log_loss"] < 0.5 * figures["test.log_loss_constant"]


def test_training_is_a_function_of_the_seed():
    pytest.importorskip("sklearn")
    documents = [invented(seed, 3) for seed in range(3)]
    first, again, other = (train(documents, num_networks=1, seed=seed) for seed in (1, 1, 2))
    assert (first.ensemble.pair == again.ensemble.pair).all()
    assert not (first.ensemble.pair == other.ensemble.pair).all()
    assert first.bias == dict.fromkeys(KINDS, 0.0)  # nothing to tune on


def test_features_that_never_occur_have_no_weight():
    pytest.importorskip("sklearn")
    scorer = train([invented(seed, 3) for seed in range(3)], num_networks=1)
    unseen = scorer.pair_names.index("same entity type")  # the texts have no types
    assert (scorer.ensemble.pair[unseen] == 0.0).all()
    assert scorer.ensemble.pair.any()


def test_training_without_scikit_learn(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"pip install colgen\[learning\]"):
        train([invented(0)])


@pytest.mark.parametrize("documents", [[], [text("[She] left .")], [text("[She]1 said [she]1 left .")]])
def test_training_data_without_both_kinds_of_pairs_raises(documents):
    pytest.importorskip("sklearn")
    with pytest.raises(InputError, match="pairs corefer"):
        train(documents)


def test_calibration_error():
    p = np.array([0.25, 0.25, 0.25, 0.25, 0.75, 0.75])
    assert calibration_error(p, np.array([True, False, False, False, True, False])) == pytest.approx((0 + 2 * 0.25) / 6)
    assert calibration_error(np.array([0.0, 1.0]), np.array([False, True])) == 0.0


# --- models in files -------------------------------------------------------------------------------------------------


def test_saved_models_are_loaded_unchanged(scorer, model):
    again = MentionScorer.load(model)
    document = invented(31)
    assert (again.probabilities(document) == scorer.probabilities(document)).all()
    assert again.bias == scorer.bias


def changed(model, path, **changes):
    """Return the model with modified metadata."""
    with np.load(model) as file:
        arrays = {name: file[name] for name in file.files}
    about = json.loads(bytes(arrays.pop("colgen coreference")).decode())
    text = json.dumps({**about, **changes}).encode()
    np.savez(path, **arrays, **{"colgen coreference": np.frombuffer(text, dtype=np.uint8)})
    return path


def test_models_of_other_features(tmp_path, model):
    with pytest.raises(InputError, match="expected a model"):
        MentionScorer.load(changed(model, tmp_path / "less.npz", bias={}))
    with pytest.raises(InputError, match="expected a model"):
        MentionScorer.load(changed(model, tmp_path / "fewer.npz", unary_names=["height"]))
    names = ["height", *pair_features(invented(0)).unary_names[1:]]
    other = MentionScorer.load(changed(model, tmp_path / "other.npz", unary_names=names))
    with pytest.raises(InputError, match="trained on other features"):
        other.instance(invented(0))


def test_inconsistent_arrays_raise(tmp_path, scorer):
    broken = dataclasses.replace(scorer, ensemble=dataclasses.replace(scorer.ensemble, pair=scorer.ensemble.pair[:-1]))
    broken.save(tmp_path / "broken.npz")
    with pytest.raises(InputError, match="expected a model"):
        MentionScorer.load(tmp_path / "broken.npz")


# --- training from a folder ------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path):
    for seed in range(10):
        document = invented(seed, num_sentences=8)
        write_conll(document, document.gold, tmp_path / f"{document.name}.conll")
    return tmp_path


def test_train_from_a_folder(folder, tmp_path):
    pytest.importorskip("sklearn")
    said = []
    figures = train_model(train_from_folder, TrainOptions(folder, tmp_path / "model.npz", quick=True, say=said.append))
    assert said[0] == "8 documents for training, 1 for tuning, 1 for testing"
    assert any("network 1 of 1" in line for line in said)
    values = {figure.name: figure.value for figure in figures}
    assert values["documents"] == 8
    assert 0.0 <= values["test.conll_f1.log_odds_tuned"] <= 100.0
    assert all(np.isfinite(value) for value in values.values())
    assert MentionScorer.load(tmp_path / "model.npz").instance(invented(9)).num_mentions == len(invented(9).mentions)


def test_the_corpus_is_read_in_the_order_of_the_file_names(folder):
    names = [document.name for document in read_corpus(folder)]
    assert names == sorted(names)
    assert len(names) == 10
    (folder / "more").mkdir()
    with pytest.raises(InputError, match="conll"):
        read_corpus(folder / "more")
    inner = folder / "more" / "litbank"
    inner.mkdir()
    write_conll(invented(0), invented(0).gold, inner / "one.conll")
    assert len(read_corpus(folder / "more")) == 1


@pytest.mark.parametrize(("total", "sizes"), [(100, (80, 10, 10)), (3, (1, 1, 1)), (25, (21, 2, 2))])
def test_split(total, sizes):
    documents = [text("[She] left .", name=str(number)) for number in range(total)]
    parts = split(documents)
    assert tuple(map(len, parts)) == sizes
    assert [document for part in parts for document in part] == documents


def test_too_few_documents():
    with pytest.raises(InputError, match="three documents"):
        split([text("[She] left .")] * 2)


# --- what the command line reads -------------------------------------------------------------------------------------


def test_a_matrix_is_read_without_a_model(tmp_path, scorer):
    instance = scorer.instance(invented(32))
    for name in ("scores.npy", "scores.npz"):
        write_matrix(instance, tmp_path / name)
        assert (TEMPLATE.instance(tmp_path / name).scores == instance.scores).all()


def test_a_text_needs_a_model(folder, tmp_path):
    path = next(folder.glob("*.conll"))
    with pytest.raises(InputError, match="colgen train coreference --data DIR --model"):
        TEMPLATE.instance(path)
    with pytest.raises(InputError, match="No such file"):
        TEMPLATE.instance(tmp_path / "missing.conll")


def test_score_instance(folder, model, scorer):
    path = folder / "invented-3.conll"
    (document,) = read_conll(path)
    assert (scored(TEMPLATE, Material(path), model, {}).scores == scorer.instance(document).scores).all()
    found = scored(TEMPLATE, Material(path), model, {"scores": "log_odds", "bias": "tuned", "mentions": "9"})
    expected = scorer.instance(document.truncated(9), "log_odds", bias=scorer.bias["log_odds"])
    assert (found.scores == expected.scores).all()
    assert found.num_mentions == 9


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"score": "x"}, "there is no option 'score'; did you mean 'scores'?"),
        ({"scores": "odds"}, "option scores: expected probability or log_odds, not 'odds'"),
        ({"bias": "much"}, "option bias: expected tuned or a number, not 'much'"),
        ({"bias": "nan"}, "option bias: expected tuned or a number, not 'nan'"),
        ({"mentions": "0"}, "option mentions: expected an integer ≥ 1, not '0'"),
        ({"document": "x"}, "no document is named 'x'; expected one of invented-3"),
    ],
)
def test_invalid_options_raise(folder, model, options, expected):
    with pytest.raises(InputError) as caught:
        scored(TEMPLATE, Material(folder / "invented-3.conll"), model, options)
    assert expected in str(caught.value)


def test_a_file_of_several_documents(folder, model):
    path = folder / "all.conll"
    path.write_text("".join((folder / f"invented-{k}.conll").read_text(encoding="utf-8") for k in (1, 2, 2)))
    assert scored(TEMPLATE, Material(path), model, {"document": "invented-1"}).name == "invented-1"


def test_all_documents_are_written_with_their_clusters(folder, model, tmp_path, capsys, monkeypatch):
    mentionless = "#begin document (nothing); part 000\n" + "\t".join(["nothing", "0", "0", "Hm", "_", "-"])
    text = "".join((folder / f"invented-{k}.conll").read_text(encoding="utf-8") for k in (1, 2))
    text += mentionless + "\n\n#end document\n"
    monkeypatch.setattr("sys.stdin", io.StringIO(text))
    assert cli(["solve", "coreference", str(model), "--option", "bias=tuned"]) == 0
    shown = capsys.readouterr()
    assert shown.err.startswith("colgen: 3 instances, 3 proved optimal, ")
    (tmp_path / "out.conll").write_text(shown.out, encoding="utf-8")
    found = read_conll(tmp_path / "out.conll")
    assert [document.name for document in found] == ["invented-1", "invented-2", "nothing"]
    for document in found[:2]:
        instance = scored(TEMPLATE, Material(folder / f"{document.name}.conll"), model, {"bias": "tuned"})
        assert document.labels == instance.labels
        assert instance.check(document.gold) == pytest.approx(solve(Coreference(instance)).objective)
    monkeypatch.setattr("sys.stdin", io.StringIO((folder / "invented-1.conll").read_text(encoding="utf-8")))
    assert cli(["solve", "coreference", str(model)]) == 0  # a single one: a report
    assert "Proved optimal.\nobjective" in capsys.readouterr().out
    monkeypatch.setattr("sys.stdin", io.StringIO("no document"))
    assert cli(["solve", "coreference", str(model)]) == 2
    assert "the standard input, line 1: expected '#begin document" in capsys.readouterr().err


def test_parts_of_one_document_are_chosen_by_their_number(tmp_path, model):
    parts = [Document("story", invented(k).sentences, invented(k).mentions, part=f"00{k}") for k in (0, 1)]
    path = tmp_path / "parts.conll"
    for part in parts:
        write_conll(part, part.gold, tmp_path / "part.conll")
        with path.open("a", encoding="utf-8") as file:
            file.write((tmp_path / "part.conll").read_text(encoding="utf-8"))
    found = scored(TEMPLATE, Material(path), model, {"document": "story;001"})
    assert found.labels == parts[1].labels


# --- real data -------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(not DATA.is_dir(), reason="LitBank is not there (COLGEN_DATA names the folder of the corpora)")
def test_litbank():
    pytest.importorskip("sklearn")
    paths = sorted(DATA.glob("*.conll"))
    documents = [read_conll(path)[0].truncated(120) for path in [*paths[:6], *paths[-2:]]]
    scorer = train(documents[:6], num_networks=1)
    figures = {figure.name: figure.value for figure in quality("test", scorer, documents[6:])}
    assert figures["test.log_loss"] < figures["test.log_loss_constant"]
    features = pair_features(documents[0])
    assert np.isfinite(features.pairs).all()
    assert np.isfinite(features.unary).all()

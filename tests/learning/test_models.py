"""The file of a trained model: writing, reading, recognition, and errors."""

import json
import zipfile
from dataclasses import dataclass

import numpy as np
import pytest

from colgen.core.errors import InputError
from colgen.learning.models import SavedModel
from colgen.problems.chain_map.learning import Tagger
from colgen.problems.coreference.learning import MentionScorer
from colgen.problems.dependency import Weights
from colgen.problems.nonlocal_parsing.scoring import Model
from colgen.problems.pipeline.model import Pipeline
from colgen.problems.title_path.learning import TitleModel

MODELS = (Tagger, MentionScorer, Weights, Model, Pipeline, TitleModel)


@dataclass
class Line(SavedModel):
    kind = "line"
    name: str
    slope: np.ndarray

    def data(self):
        return {"name": self.name}, {"slope": self.slope}

    @classmethod
    def from_data(cls, about, arrays):
        return cls(about["name"], arrays["slope"])


def changed(path, kind, **about):
    """Write a model's file again with changed data."""
    with np.load(path) as file:
        arrays = dict(file)
    head = json.loads(bytes(arrays.pop(f"colgen {kind}")).decode())
    text = json.dumps({**head, **about}).encode()
    with path.open("wb") as file:
        np.savez(file, **arrays, **{f"colgen {kind}": np.frombuffer(text, dtype=np.uint8)})


def test_models_are_written_and_read(tmp_path):
    path = tmp_path / "any name"
    Line("größer", np.arange(3.0)).save(path)
    again = Line.load(path)
    assert again.name == "größer"
    assert again.slope.tolist() == [0.0, 1.0, 2.0]
    assert Line.is_model(path)
    assert not any(model.is_model(path) for model in MODELS)


def test_models_of_other_versions_are_refused(tmp_path):
    path = tmp_path / "model"
    Line("x", np.zeros(1)).save(path)
    changed(path, "line", version=99)
    assert Line.is_model(path)
    with pytest.raises(InputError, match=r"version 1, not 99.*`colgen train line`"):
        Line.load(path)
    changed(path, "line", version=1, name=None)
    assert Line.load(path).name is None


@pytest.mark.parametrize("model", [Line, *MODELS])
@pytest.mark.parametrize("content", [b"", b"text", b"PK\x03\x04 no archive", "archive", "arrays", "array", "head"])
def test_other_files_are_no_models(tmp_path, model, content):
    path = tmp_path / "model.npz"
    if content == "archive":
        with zipfile.ZipFile(path, "w") as file:
            file.writestr("x.npy", b"y")
    elif content == "arrays":
        np.savez(path, scores=np.eye(2))
    elif content == "array":
        path = tmp_path / "model.npy"
        np.save(path, np.eye(2))
    elif content == "head":
        np.savez(
            path,
            **{f"colgen {model.kind}": np.frombuffer(json.dumps({"version": model.version}).encode(), dtype=np.uint8)},
        )
    else:
        path.write_bytes(content)
    assert model.is_model(path) == (content == "head")
    with pytest.raises(InputError, match=f"model.np.: expected a model that `colgen train {model.kind}` wrote"):
        model.load(path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(InputError, match="nowhere cannot be read"):
        Line.load(tmp_path / "nowhere")

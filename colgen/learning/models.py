"""Files of trained models: one writer and one reader for the models of all templates."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from colgen.core.array_files import arrays_in, reading
from colgen.core.errors import InputError
from colgen.core.files import parse_json, writing

Arrays = Mapping[str, NDArray[Any]]


class SavedModel(ABC):
    """A model that is kept in a file: data for JSON, and arrays, in one ``.npz``, whatever the file is called.

    Attributes
    ----------
    kind
        Which models these are: the template that trains them.
    version
        Of what the model consists of: files of other versions are refused.
    """

    kind: ClassVar[str]
    version: ClassVar[int] = 1

    @abstractmethod
    def data(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """All that the model is, as plain data and arrays."""

    @classmethod
    @abstractmethod
    def from_data(cls, about: Mapping[str, Any], arrays: Arrays) -> Self:
        """A model of what :meth:`data` returned.

        Any error that the data is to blame for may be raised: :meth:`load` names the file.
        """

    def save(self, path: Path | str) -> None:
        """Write the model to a file."""
        about, arrays = self.data()
        head = json.dumps({"version": self.version, **about}, ensure_ascii=False)
        with writing(path, "wb") as file:
            np.savez(file, **{_head(self.kind): np.frombuffer(head.encode(), dtype=np.uint8), **arrays})  # type: ignore[arg-type]

    @classmethod
    def load(cls, path: Path | str) -> Self:
        """Read a model that :meth:`save` wrote.

        Raises
        ------
        InputError
            If the file is something else, or of another version.
        """
        command = f"`colgen train {cls.kind}`"
        with reading(path, f"a model that {command} wrote") as arrays:
            about = parse_json(bytes(arrays[_head(cls.kind)]).decode(), str(path))
            if about["version"] != cls.version:
                raise InputError(
                    f"{path}: expected a model of version {cls.version}, not {about['version']}: train it again by "
                    f"{command}"
                )
            model = cls.from_data(about, arrays)
        return model

    @classmethod
    def is_model(cls, path: Path | str) -> bool:
        """Whether a file is a model of this kind, of any version."""
        return _head(cls.kind) in arrays_in(path)


def _head(kind: str) -> str:
    """The name of the array that has the plain data."""
    return f"colgen {kind}"

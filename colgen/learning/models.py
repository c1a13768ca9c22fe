"""Files of trained models."""

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
    """A model that is stored in a file: JSON data and arrays in one ``.npz``, with any file name.

    ``kind`` is the name of the template that trains it.  Files of another ``version`` raise an error.
    """

    kind: ClassVar[str]
    version: ClassVar[int] = 1

    @abstractmethod
    def data(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the model's content as plain data and arrays."""

    @classmethod
    @abstractmethod
    def from_data(cls, about: Mapping[str, Any], arrays: Arrays) -> Self:
        """Return a model with the content that :meth:`data` returned.

        Invalid data may raise any error; :meth:`load` adds the name of the file.
        """

    def save(self, path: Path | str) -> None:
        """Write the model to a file."""
        about, arrays = self.data()
        head = json.dumps({"version": self.version, **about}, ensure_ascii=False)
        with writing(path, "wb") as file:
            np.savez(file, **{_head(self.kind): np.frombuffer(head.encode(), dtype=np.uint8), **arrays})  # type: ignore[arg-type]

    @classmethod
    def load(cls, path: Path | str) -> Self:
        """Read a model that :meth:`save` wrote; raise an InputError for other files or versions."""
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
        """Return whether a file is a model of this kind, of any version."""
        return _head(cls.kind) in arrays_in(path)


def _head(kind: str) -> str:
    return f"colgen {kind}"

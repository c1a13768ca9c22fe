"""A checkpoint: a file with everything that a run needs to continue.

Columns, incumbents and dual values in it are guesses, like any warm start: the engine checks solutions, prices, and
proves bounds. *Open nodes with their bounds, bounds of unresolved leaves, and separated rows are trusted*: earlier
proofs depend on them and cannot be repeated. A checksum over all bytes and digests of the instance and of the
restricted master protect the file. A damaged file, or one of another instance, is refused. This does not protect
against forgery: resume only your own files. Reading a file executes nothing from it.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colgen.core.errors import ColgenError, InputError
from colgen.core.files import check_destination
from colgen.core.numbers import real
from colgen.core.serialization import IMPOSSIBLE, backup_of, of_plain, read_sealed
from colgen.core.text import Described

FORMAT = "colgen checkpoint 2"

EVERY = 60.0
"""Default number of seconds between checkpoints."""


@dataclass(frozen=True, repr=False)
class Checkpoint(Described):
    """The file to which a run writes its state, and how often.

    If the file exists, the run continues from it. Ctrl-C and SIGTERM write a last checkpoint. Answers and columns in
    the file are checked. Open nodes, their bounds and cuts are trusted, because proofs depend on them. The file has a
    checksum and the digest of the instance. A damaged file, or one of another instance, is refused.

    Attributes
    ----------
    path
        The file. Its previous version is kept with the suffix ``~``.
    every
        Seconds between checkpoints.
    asked
        Arguments of a command as plain data, so that ``colgen resume`` can repeat it.

    Raises
    ------
    InputError
        If a field is invalid.

    Examples
    --------
    >>> result = solve(problem, checkpoint=Checkpoint("cutting.run", every=30.0))
    """

    path: Path | str
    every: float = EVERY
    asked: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_destination(self.path, "checkpoint")
        if not real(self.every, "every") > 0.0:
            raise InputError(f"every: expected more than 0 seconds, not {self.every}")
        object.__setattr__(self, "path", Path(self.path))


@dataclass(frozen=True)
class SavedRun:
    """The contents of a checkpoint."""

    path: Path
    fields: dict[str, Any]
    arrays: dict[str, NDArray[np.generic]]
    note: str = ""

    @property
    def asked(self) -> dict[str, Any]:
        """The arguments of the command that wrote the file. Empty if a program did."""
        found = self.fields.get("asked", {})
        return dict(found) if isinstance(found, dict) else {}

    def check(self, digest: str, relaxation: bool) -> None:
        """Raise an ``InputError`` for a checkpoint of another instance or another kind of run."""
        if self.fields.get("digest") != digest:
            raise InputError(
                f"{self.path} is a checkpoint of another instance or problem: remove it or use another file name"
            )
        if bool(self.fields.get("relaxation")) != relaxation:
            kind = "a complete run" if relaxation else "a relaxation"
            raise InputError(f"{self.path} is a checkpoint of {kind}: use relaxation={not relaxation} or another file")

    def value(self, name: str) -> Any:
        """Return the original value of a field."""
        try:
            return of_plain(self.fields[name])
        except (*IMPOSSIBLE, ColgenError) as error:
            raise InputError(f"{self.path} has no readable field {name!r} ({error})") from None


def read_checkpoint(path: Path | str) -> SavedRun | None:
    """Read a checkpoint, or the previous one if it is damaged. Return None if neither exists.

    Raises
    ------
    InputError
        If there are files, but none of them can be read.
    """
    place, former = Path(path), backup_of(path)
    if not place.exists() and not former.exists():
        return None
    try:
        return SavedRun(place, *read_sealed(place, FORMAT))
    except InputError as error:
        if not former.exists():
            raise
        fault = error
    with contextlib.suppress(InputError):
        return SavedRun(former, *read_sealed(former, FORMAT), f"{fault}; the previous checkpoint {former} was used.")
    raise InputError(f"{fault}; the previous checkpoint {former} cannot be read either")


def versions() -> dict[str, str]:
    """Return the versions of the packages that a run depends on, for information."""
    found = {}
    for name in ("colgen", "numpy", "highspy"):
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found[name] = importlib.metadata.version(name)
    return found

"""A checkpoint: a file with all that a run needs to continue.

Its content is of two kinds.  Columns, answers and dual values are guesses, like every warm start: the engine checks the
answer, prices, and proves.  *Open nodes with their bounds, the bounds of leaves that were left, and separated rows are
trusted*: earlier proofs rest on them, and cannot be repeated.  A checksum over every byte and the digests of the
instance and of the restricted master protect them: a file that is damaged, or of another instance, is refused.  None of
these protects against forgery: resume your own files only.  Reading a file executes nothing of it.
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
from colgen.core.serialization import IMPOSSIBLE, Sealed, before, of_plain, read_sealed

FORMAT = "colgen checkpoint 2"

EVERY = 60.0
"""Seconds from one checkpoint to the next by default."""


@dataclass(frozen=True)
class Checkpoint:
    """The file that a run writes its state to, and how often.

    If the file exists, the run continues from it.  Ctrl-C and SIGTERM write a last checkpoint.  Answers and columns in
    the file are checked; its open nodes, their bounds and its cuts are trusted, since proofs rest on them.  The file
    has a checksum and the digest of the instance: one that is damaged, or of another instance, is refused.

    Attributes
    ----------
    path
        The file.  Its previous version is kept under its name with a ``~``.
    every
        Seconds from one checkpoint to the next.
    asked
        The arguments of a command, so that ``colgen resume`` can repeat it: plain data.

    Raises
    ------
    InputError
        If a field is out of its domain; the message names it.
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
    """What a file holds."""

    path: Path
    said: dict[str, Any]
    arrays: dict[str, NDArray[np.generic]]
    note: str = ""

    @property
    def asked(self) -> dict[str, Any]:
        """The arguments of the command that wrote it; empty if a program did."""
        found = self.said.get("asked", {})
        return dict(found) if isinstance(found, dict) else {}

    def check(self, digest: str, relaxation: bool) -> None:
        """Refuse a checkpoint of another instance, or of another kind of run.

        Raises
        ------
        InputError
            Naming the file.
        """
        if self.said.get("digest") != digest:
            raise InputError(
                f"{self.path} is a checkpoint of another instance or problem: remove it, or name another file"
            )
        if bool(self.said.get("relaxation")) != relaxation:
            kind = "the relaxation alone" if self.said.get("relaxation") else "a whole run"
            raise InputError(f"{self.path} is a checkpoint of {kind}: ask for the same, or name another file")

    def value(self, name: str) -> Any:
        """Return a field as it was before it became plain data."""
        try:
            return of_plain(self.said[name])
        except (*IMPOSSIBLE, ColgenError) as error:
            raise InputError(f"{self.path} has no readable field {name!r} ({error})") from None


def read_checkpoint(path: Path | str) -> SavedRun | None:
    """Read a checkpoint, the previous one if the file is damaged; return None if there is neither.

    Raises
    ------
    InputError
        If there are files, but none that can be read.
    """
    place, former = Path(path), before(path)
    if not place.exists() and not former.exists():
        return None
    try:
        return _opened(place, read_sealed(place, FORMAT))
    except InputError as error:
        if not former.exists():
            raise
        fault = error
    with contextlib.suppress(InputError):
        return _opened(former, read_sealed(former, FORMAT), f"{fault}; the previous checkpoint, {former}, was used.")
    raise InputError(f"{fault}; nor can the previous checkpoint, {former}, be read")


def _opened(place: Path, sealed: Sealed, note: str = "") -> SavedRun:
    return SavedRun(place, sealed.said, sealed.arrays, note)


def versions() -> dict[str, str]:
    """Return the versions of the packages that a run depends on, for people who look at a file."""
    found = {}
    for name in ("colgen", "numpy", "highspy"):
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found[name] = importlib.metadata.version(name)
    return found

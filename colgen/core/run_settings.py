"""The settings of a run in words, computed when they are first read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any


class RunSettings(Mapping[str, str]):
    """Names and texts that a function returns when first needed: most results never show theirs."""

    def __init__(self, describe: Callable[[], dict[str, str]]) -> None:
        self._describe = describe

    @cached_property
    def _texts(self) -> dict[str, str]:
        return self._describe()

    def __getitem__(self, name: str) -> str:
        return self._texts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)

    def __repr__(self) -> str:
        return repr(self._texts)

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (self._texts,)  # functions of a method may not be pickled

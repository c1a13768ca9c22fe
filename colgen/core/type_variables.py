"""Type variables of user classes; they default to Any, so that first programs need none of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing_extensions import TypeVar  # part of the type checker; nothing is installed for it

    Answer = TypeVar("Answer", default=Any)
    Structure = TypeVar("Structure", default=Any)
else:
    from typing import TypeVar

    Answer, Structure = TypeVar("Answer"), TypeVar("Structure")

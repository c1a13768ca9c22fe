"""Type variables of what users write: left out, they are Any, and a first program needs none of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing_extensions import TypeVar  # of the type checker's own: nothing is installed for it

    Answer = TypeVar("Answer", default=Any)
    Structure = TypeVar("Structure", default=Any)
else:
    from typing import TypeVar

    Answer, Structure = TypeVar("Answer"), TypeVar("Structure")

"""``python -m colgen.proof FILE [INSTANCE]``: the checker, without anything else of colgen."""

from __future__ import annotations

import sys

from colgen.proof.checker import main

sys.exit(main(sys.argv[1:]))

"""``python -m colgen.certificate FILE [INSTANCE]``: the checker, without the rest of colgen."""

from __future__ import annotations

import sys

from colgen.certificate.checker import main

sys.exit(main(sys.argv[1:]))

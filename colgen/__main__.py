"""``python -m colgen.cli``."""

import sys

from colgen.cli.main import main

sys.exit(main())

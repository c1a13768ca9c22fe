"""``python -m colgen``: the command line."""

import sys

from colgen.cli.main import main

sys.exit(main())

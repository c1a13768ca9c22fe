"""`colgen demo` prints a line at once."""

import subprocess
import sys


def test_the_first_line_is_printed_before_slow_imports():
    code = (
        "import sys; from colgen.cli import demo; print(sorted({'numpy', 'pyomo', 'numba', 'rich'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"

"""Look for failures: ``python -m problems.truth --minutes 10 --seed 1``; run one again with ``--replay FILE``."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from colgen.fuzz.campaign import Tally, fuzz_engine, replay_engine, write_failures


def main(argv: list[str] | None = None) -> int:
    """0: nothing failed."""
    parser = argparse.ArgumentParser(prog="python -m problems.truth", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0, help="how long (1)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("results/failures"), help="folder of what fails")
    parser.add_argument("--replay", type=Path, metavar="FILE", help="run one failure again")
    asked = parser.parse_args(argv)
    if asked.replay is not None:
        failure = replay_engine(json.loads(asked.replay.read_text(encoding="utf-8")))
        print("it holds" if failure is None else f"{failure.fault.value}: {failure.words}")
        return 0 if failure is None else 1
    tally = Tally()
    tally.add(fuzz_engine(asked.seed, seconds=60 * asked.minutes, say=print))
    files = write_failures(tally.failed, asked.out)
    print(f"{tally.runs} runs, {len(tally.failed)} failures")
    for path in files:
        print(f"  {path}")
    return 1 if files else 0


if __name__ == "__main__":
    sys.exit(main())

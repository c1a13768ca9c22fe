"""Search for failures: ``python -m tests.fuzz --minutes 10 --seed 1``; replay one with ``--replay FILE``."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from tests.fuzz.harness import SUBJECTS, Tally, fuzz, replay, write_failures


def main(argv: list[str] | None = None) -> int:
    """Return 0 if there are no failures, else 1."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0, help="duration (1)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=list(SUBJECTS), help="the engine or one template")
    parser.add_argument("--out", type=Path, default=Path("results/failures"), help="folder of failures")
    parser.add_argument("--replay", type=Path, metavar="FILE", help="replay one failure")
    options = parser.parse_args(argv)
    if options.replay is not None:
        failure = replay(json.loads(options.replay.read_text(encoding="utf-8")))
        print("no failure" if failure is None else f"{failure.fault.value}: {failure.words}")
        return 0 if failure is None else 1
    tally = Tally()
    chosen = [options.only] if options.only else list(SUBJECTS)
    weights = {name: 1 if options.only or name != "engine" else len(chosen) - 1 for name in chosen}
    for name, weight in weights.items():  # half of the time is for the engine, unless it is chosen alone
        seconds = 60.0 * options.minutes * weight / sum(weights.values())
        tally.add(fuzz(name, options.seed, seconds=seconds, say=print))
    files = write_failures(tally.failed, options.out)
    print(f"{tally.runs} answers, {len(tally.failed)} failures")
    for path in files:
        print(f"  {path}")
    return 1 if files else 0


if __name__ == "__main__":
    sys.exit(main())

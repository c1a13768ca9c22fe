"""Look for failures: ``python -m tests.fuzz --minutes 10 --seed 1``; run one again with ``--replay FILE``."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from tests.fuzz.engine.campaign import Tally, fuzz_engine, replay_engine, write_failures
from tests.fuzz.templates import TEMPLATES, fuzz_template, replay_template


def main(argv: list[str] | None = None) -> int:
    """0: nothing failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0, help="how long (1)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=["engine", *TEMPLATES], help="the engine, or one template")
    parser.add_argument("--out", type=Path, default=Path("results/failures"), help="folder of what fails")
    parser.add_argument("--replay", type=Path, metavar="FILE", help="run one failure again")
    asked = parser.parse_args(argv)
    if asked.replay is not None:
        data = json.loads(asked.replay.read_text(encoding="utf-8"))
        failure = replay_engine(data) if data["what"] == "engine" else replay_template(data)
        print("it holds" if failure is None else f"{failure.fault.value}: {failure.words}")
        return 0 if failure is None else 1
    seconds, tally = 60.0 * asked.minutes, Tally()
    if asked.only in (None, "engine"):  # half of the time, if templates are to come
        tally.add(fuzz_engine(asked.seed, seconds=seconds / (1 if asked.only else 2), say=print))
    chosen = [name for name in TEMPLATES if asked.only in (None, name)]
    for name in chosen:
        share = 1 if asked.only else 2 * len(chosen)
        tally.add(fuzz_template(name, asked.seed, seconds=seconds / share, say=print))
    files = write_failures(tally.failed, asked.out)
    print(f"{tally.runs} answers, {len(tally.failed)} failures")
    for path in files:
        print(f"  {path}")
    return 1 if files else 0


if __name__ == "__main__":
    sys.exit(main())

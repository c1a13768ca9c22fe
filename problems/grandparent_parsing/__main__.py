"""Parse a file: ``python -m problems.grandparent_parsing MODEL < in.conllu > out.conllu``, heads filled in."""

from __future__ import annotations

import io
import sys

from colgen import InputError
from problems.dependency.conll import parse_conll, write_conll
from problems.dependency.scorer import Weights
from problems.grandparent_parsing.reading import parse_sentences


def main(arguments: list[str]) -> int:
    """Read sentences from standard input, write them with heads to standard output; 2 for bad input."""
    if len(arguments) != 1:
        print("usage: python -m problems.grandparent_parsing MODEL < FILE.conllu", file=sys.stderr)
        return 2
    try:
        weights = Weights.load(arguments[0])
        source = io.TextIOWrapper(sys.stdin.buffer, encoding="utf-8-sig")
        target = io.TextIOWrapper(sys.stdout.buffer, encoding="utf-8", newline="\n", write_through=True)
        for sentence, _ in parse_sentences(parse_conll(source, name="standard input"), weights):
            write_conll([sentence], target)
        target.detach()
    except (InputError, UnicodeDecodeError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

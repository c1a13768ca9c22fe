"""Tagged sentences from a small grammar that a tagger can learn."""

import numpy as np

from colgen.problems.chain_map.features import NUM_KINDS, UNKNOWN, features

WORDS = {
    "D": ["the", "a", "every", "no"],
    "A": ["green", "old", "quick", "sleepy", "tall"],
    "N": ["walker", "runner", "painter", "garden", "window", "stone"],
    "V": ["paints", "sees", "finds", "walks", "runs"],
    "P": ["Anna", "Ben", "Clara", "Dora"],
}


def sentence(rng):
    """``[(word, tag, BIO, BILOU), ...]``."""

    def noun():
        if rng.random() < 0.3:
            return ["P"]
        return ["D", *(["A"] if rng.random() < 0.5 else []), "N"]

    tags = [*noun(), "V", *(noun() if rng.random() < 0.7 else [])]
    return [(str(rng.choice(WORDS[tag])), tag, *(("B-PER", "U-PER") if tag == "P" else ("O", "O"))) for tag in tags]


def write_corpus(folder, counts=(200, 30, 30), seed=0):
    """Files ``toy-train.tsv``, ``toy-dev.tsv`` and ``toy-test.tsv``."""
    rng = np.random.default_rng(seed)
    for part, count in zip(("train", "dev", "test"), counts, strict=True):
        lines = ["\n".join("\t".join(token) for token in sentence(rng)) + "\n" for _ in range(count)]
        (folder / f"toy-{part}.tsv").write_text("\n".join(lines), encoding="utf-8")
    return folder


def look_up(sentences, index):
    """Feature numbers by way of the features' names, shape (tokens of all sentences, kinds of features)."""
    rows = [[index.get(name, UNKNOWN) for name in token] for words in sentences for token in features(words)]
    return np.array(rows, dtype=np.int32).reshape(len(rows), NUM_KINDS)

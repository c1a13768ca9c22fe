"""Invented sections: the title of each is a thing and a property, which the text is about."""

import json

import numpy as np

from colgen.problems.title_path.sections import Section

THINGS = ("tree", "heap", "list", "queue", "stack", "graph", "table", "array", "set", "map", "string", "matrix")
PROPERTIES = (
    "sorting",
    "searching",
    "balancing",
    "hashing",
    "merging",
    "splitting",
    "traversal",
    "insertion",
    "storage",
)
FILLER = ("often", "we", "see", "that", "some", "large", "program", "uses", "small", "steps", "before", "it", "ends")


def invented(count, seed=0):
    """Return sections whose title words occur early and often in their text."""
    rng = np.random.default_rng(seed)
    sections = []
    for k in range(count):
        thing, prop = str(rng.choice(THINGS)), str(rng.choice(PROPERTIES))
        parts = [f"The {prop} of a {thing} is what this part explains."]
        for _ in range(int(rng.integers(3, 7))):
            other = str(rng.choice(THINGS))
            filler = " ".join(rng.choice(FILLER, 6))
            parts.append(f"A {thing} {filler} the {prop} of the {thing} {filler} a {other}.")
        title = f"{prop.capitalize()} of a {thing.capitalize()}" if k % 4 else thing.capitalize()
        sections.append(Section(title, " ".join(parts), f"invented:{k}"))
    return sections


def write(sections, path):
    lines = [json.dumps({"title": one.title, "text": one.text}) for one in sections]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")

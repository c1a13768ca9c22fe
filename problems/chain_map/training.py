"""``colgen train chain_map``: train a tagger on a folder of tagged sentences, and measure its accuracy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from colgen.cli.option import Number, Option
from colgen.cli.template import Figure, TrainedModel, TrainOptions
from colgen.core.errors import InputError
from colgen.core.text import plural
from colgen.problems.chain_map.corpus import TASKS, Tagged, Task, read_tagged
from colgen.problems.chain_map.learning import TaggedExamples, train_perceptron, train_svm

OPTIONS = {
    "task": Option(f"{', '.join(TASKS)}; pos by default", TASKS),
    "column": Option("of files in CoNLL-U: UPOS (the default), XPOS, FEATS, DEPREL or a key of MISC, such as NER"),
    "learner": Option("perceptron (the default) or svm", ("perceptron", "svm")),
    "epochs": Option("passes over the sentences", number=Number.WHOLE),
    "emission_l2": Option(
        "svm: strength of the regularisation of emission weights, 0.1 by default", number=Number.NOT_NEGATIVE
    ),
    "transition_l2": Option("svm: the same for transition weights", number=Number.NOT_NEGATIVE),
}

_QUICK = 600
"""Sentences used for quick training."""


def read_corpus(folder: Path, task: Task, part: str) -> list[Tagged]:
    """Read the file ``*-PART.tsv`` or ``*-PART.conllu`` in a folder or in its subfolder ``english_ewt``."""
    folders = (folder, folder / "english_ewt")
    suffixes = ("conllu", "tsv") if task.column else ("tsv", "conllu")
    found = (sorted(place.glob(f"*-{part}.{suffix}")) for suffix in suffixes for place in folders)
    paths = next((named for named in found if named), [])
    if len(paths) != 1:
        raise InputError(
            f"{folder}: expected one file named *-{part}.tsv (word, part of speech, entity in BIO and in BILOU, "
            f"one token per line) or *-{part}.conllu, found {len(paths) or 'none'}"
        )
    return read_tagged(paths[0], task)


def examples_of(sentences: list[Tagged], task: Task) -> TaggedExamples:
    """Return the examples of sentences, with all tags of the task."""
    return TaggedExamples.of(sentences, task.tags(tag for sentence in sentences for tag in sentence.tags))


def _task(chosen: Mapping[str, Any]) -> Task:
    """Return the chosen task, or that of a column."""
    task: Task = chosen.get("task", TASKS["pos"])
    if "column" not in chosen:
        return task
    if task.entities is not None:
        raise InputError(f"option column: expected without task={task.name}, whose tags have files of their own")
    return replace(task, name=chosen["column"], column=chosen["column"])


def train_from_folder(options: TrainOptions) -> TrainedModel:
    """Train a tagger, and test it on the development and on the test sentences."""
    chosen = options.options
    strength = {name: chosen[name] for name in ("emission_l2", "transition_l2") if name in chosen}
    if strength and chosen.get("learner") != "svm":
        raise InputError("emission_l2 and transition_l2 require learner=svm")
    task = _task(chosen)
    if options.train is not None:
        learn = read_tagged(options.train, task)
        parts = {} if options.dev is None else {"dev": read_tagged(options.dev, task)}
    else:
        learn = read_corpus(options.data, task, "train")
        parts = {part: read_corpus(options.data, task, part) for part in ("dev", "test")}
    if options.quick:
        learn = learn[:_QUICK]
    options.say(
        f"{plural(len(learn), 'sentence')} for training, " + ", ".join(f"{len(s)} {part}" for part, s in parts.items())
    )
    examples = examples_of(learn, task)
    options.say(f"{len(examples.tags)} tags, {len(examples.index):,} features")
    epochs = {"epochs": chosen["epochs"]} if "epochs" in chosen else {"epochs": 2} if options.quick else {}
    if chosen.get("learner", "perceptron") == "perceptron":
        tagger = train_perceptron(task.name, examples, seed=options.seed, say=options.say, **epochs)
    else:
        tagger = train_svm(task.name, examples, seed=options.seed, say=options.say, **epochs, **strength)
    return TrainedModel(
        tagger,
        lambda: (
            Figure(f"accuracy_{part}", 100.0 * tagger.accuracy(sentences), "%", len(sentences), "of the tokens")
            for part, sentences in parts.items()
        ),
    )

"""``colgen train nonlocal_parsing``: a model from annotated sentences, and how good it is."""

from __future__ import annotations

import time
from collections.abc import Sequence

from colgen import InputError
from colgen.cli.option import Number, Option
from colgen.cli.template import Figure, TrainOptions
from colgen.problems.dependency.corpus import corpus_of
from colgen.problems.dependency.evaluation import attachment, attachment_figures
from colgen.problems.dependency.learning import RELATIONS
from colgen.problems.nonlocal_parsing.decoding import labelled, parse, usable
from colgen.problems.nonlocal_parsing.families import COMBINATION, FAMILIES
from colgen.problems.nonlocal_parsing.learning import NonlocalSettings, train
from colgen.problems.nonlocal_parsing.local_parts import BACKBONES

OPTIONS = {
    "backbone": Option(
        f"what the dynamic program scores: {', '.join(BACKBONES)}; {NonlocalSettings.backbone} by default", BACKBONES
    ),
    "families": Option(
        f"what else is scored, joined by +, of {', '.join(FAMILIES)}, or none; {'+'.join(COMBINATION)} by default"
    ),
    "epochs": Option(
        f"passes over the sentences of the backbone alone, {NonlocalSettings.epochs} by default", number=Number.WHOLE
    ),
    "family-epochs": Option(
        f"passes of the backbone with the families, {NonlocalSettings.family_epochs} by default", number=Number.WHOLE
    ),
    "least": Option(
        f"how often the right trees must have a feature to get a weight, {NonlocalSettings.least} by default",
        number=Number.WHOLE,
    ),
    "candidates": Option(
        f"candidate heads a word in training, {NonlocalSettings.candidates} by default", number=Number.WHOLE
    ),
    "relations": Option(
        "where they count: in the arcs, each worth what its best relation makes of it; once the tree is found, by what "
        f"several arcs say together; or both: arcs, tree or both; {NonlocalSettings.relations} by default",
        RELATIONS,
    ),
}


NEEDED = ("train", "test")
"""Of a folder's files."""


def settings_of(options: TrainOptions) -> NonlocalSettings:
    """What ``--option`` says.

    Raises
    ------
    InputError
        If a value is none that there is.
    """
    given = options.options
    names = given.get("families", "+".join(COMBINATION))
    families = () if names == "none" else tuple(names.split("+"))
    for name in families:
        if name not in FAMILIES:
            raise InputError(f"option families: expected some of {', '.join(FAMILIES)}, joined by +, not {name!r}")
    return NonlocalSettings(
        given.get("backbone", NonlocalSettings.backbone),
        families,
        1 if options.quick else NonlocalSettings.filter_epochs,
        given.get("epochs", 1 if options.quick else NonlocalSettings.epochs),
        given.get("family-epochs", 1 if options.quick else NonlocalSettings.family_epochs),
        given.get("least", NonlocalSettings.least),
        given.get("candidates", NonlocalSettings.candidates),
        options.seed,
        given.get("relations", NonlocalSettings.relations),
    )


def train_from_files(options: TrainOptions) -> Sequence[Figure]:
    """Train on the sentences of a folder or a file, test, and write the model."""
    started = time.perf_counter()
    settings = settings_of(options)
    corpus = corpus_of(options, NEEDED)
    learn_from = usable(corpus.learn)
    options.say(f"{len(learn_from)} of {len(corpus.learn)} sentences are projective with a single root: learned from")
    state = options.model.with_name(options.model.name + ".training")
    model = train(corpus.learn, settings, state=state, say=options.say)
    model.save(options.model)
    options.say(f"{options.model} is written")
    figures = [Figure("sentences", len(learn_from), "", 1, "learned from")]
    for name, part in (("tune", corpus.tune), ("test", corpus.test)):
        if part:
            found = parse(model, part)
            reached = attachment(zip(part, labelled(model, part, found), strict=True))
            figures += attachment_figures(reached, len(part), f"{name}.{{}}".format)
            without = reached.uas_without_punctuation
            figures.append(Figure(f"{name}.accuracy_words", without, "%", len(part), "without punctuation"))
    figures.append(Figure("seconds", time.perf_counter() - started, "s", 1, "reading, training and testing"))
    return figures

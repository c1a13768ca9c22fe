"""``colgen train nonlocal_parsing``: train a model on annotated sentences, and measure its accuracy."""

from __future__ import annotations

from colgen import InputError
from colgen.cli.option import Number, Option
from colgen.cli.template import Figure, TrainedModel, TrainOptions
from colgen.core.text import plural
from colgen.problems.dependency.corpus import corpus_of
from colgen.problems.dependency.evaluation import attachment, attachment_figures
from colgen.problems.dependency.learning import RELATIONS
from colgen.problems.dependency.sentence import Sentence
from colgen.problems.nonlocal_parsing.decoding import labelled, parse, usable
from colgen.problems.nonlocal_parsing.families import COMBINATION, FAMILIES
from colgen.problems.nonlocal_parsing.learning import NonlocalSettings, train
from colgen.problems.nonlocal_parsing.local_parts import BACKBONES

OPTIONS = {
    "backbone": Option(f"local parts: {', '.join(BACKBONES)}; {NonlocalSettings.backbone} by default", BACKBONES),
    "families": Option(
        f"families of factors, joined by +, of {', '.join(FAMILIES)}, or none; {'+'.join(COMBINATION)} by default"
    ),
    "epochs": Option(
        f"passes over the sentences of the backbone alone, {NonlocalSettings.epochs} by default", number=Number.WHOLE
    ),
    "family-epochs": Option(
        f"passes of the backbone with the families, {NonlocalSettings.family_epochs} by default", number=Number.WHOLE
    ),
    "least": Option(
        f"number of correct trees with a feature that is required for a weight, {NonlocalSettings.least} by default",
        number=Number.WHOLE,
    ),
    "candidates": Option(
        f"candidate heads per word in training, {NonlocalSettings.candidates} by default", number=Number.WHOLE
    ),
    "relations": Option(
        "arcs: the score of each arc includes its best relation; tree: relations are predicted after the tree, "
        f"jointly for its arcs; both; {NonlocalSettings.relations} by default",
        RELATIONS,
    ),
}


NEEDED = ("train", "test")
"""Parts that a folder must have."""


def parse_settings(options: TrainOptions) -> NonlocalSettings:
    """Return the settings from ``--option`` values; raise InputError if one is invalid."""
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


def train_from_files(options: TrainOptions) -> TrainedModel:
    """Train on the sentences of a folder or of files."""
    settings = parse_settings(options)
    corpus = corpus_of(options, NEEDED)
    learn_from = usable(corpus.learn)
    options.say(f"using {len(learn_from)} of {plural(len(corpus.learn), 'sentence')}: projective with a single root")
    model = train(corpus.learn, settings, state=options.state, say=options.say)

    def measure(name: str, part: list[Sentence]) -> list[Figure]:
        reached = attachment(zip(part, labelled(model, part, parse(model, part)), strict=True))
        figures = attachment_figures(reached, len(part), f"{name}.{{}}".format)
        words = reached.uas_without_punctuation
        return [*figures, Figure(f"{name}.accuracy_words", words, "%", len(part), "without punctuation")]

    return TrainedModel(model, lambda: corpus.figures(len(learn_from), measure))

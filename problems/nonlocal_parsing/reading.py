"""What the command line reads: score files, and sentences with a trained model, one of them or all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from colgen import InputError
from colgen.cli.template import Material, check_options, whole_number
from colgen.core.array_files import arrays_in
from colgen.core.files import check_readable
from colgen.problems.dependency.reading import SENTENCE, TREES, WantedTrees, choose_sentence
from colgen.problems.dependency.sentence import Heads, Sentence
from colgen.problems.nonlocal_parsing.families import Words
from colgen.problems.nonlocal_parsing.instance import NonlocalInstance, read
from colgen.problems.nonlocal_parsing.scoring import Model

CANDIDATES = 10

_WORDS = dict(enumerate(("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"), 1))

OPTIONS = {
    "sentence": SENTENCE,
    "candidates": f"candidate heads a word, or 'all'; {CANDIDATES} by default",
    "all_heads": "yes: look at the candidates first, and then prove the tree among all heads; the same as --all-heads",
    **TREES,
}


@dataclass(frozen=True, eq=False)
class NonlocalSentence(NonlocalInstance):
    """A sentence with the scores of a trained model, and how many of its trees are wanted.

    Attributes
    ----------
    candidates
        How many heads a word were looked at, where these are not all.
    narrow
        The same with fewer candidate heads, to be looked at first.
    relations
        Those of a tree's arcs, as far as the model knows any.
    """

    sentence: Sentence | None = None
    best: int = 1
    candidates: int | None = None
    narrow: NonlocalInstance | None = None
    relations: Callable[[Heads], tuple[str, ...] | None] = lambda heads: None

    @property
    def scope(self) -> str:
        """Among which trees the best is found, where that is not all of them."""
        k = self.candidates
        if k is None:
            return ""
        return f"among {_WORDS.get(k, str(k))} candidate head{'' if k == 1 else 's'} a word"


class NonlocalScorer:
    """Scores sentences as the options of the command line say; see ``OPTIONS``.

    Raises
    ------
    InputError
        If an option is unknown or has an impossible value.
    """

    def __init__(self, model: Model, options: Mapping[str, str]) -> None:
        self.model = model
        check_options(options, OPTIONS)
        self.wanted = WantedTrees.of(options)
        if self.wanted.projective is False and model.backbone != "first":
            raise InputError(
                f"option projective: the local parts of this model (backbone={model.backbone}) are those of projective "
                "trees: no needs a model of arcs and factors, which `colgen train nonlocal_parsing --option "
                "backbone=first` makes"
            )
        every = options.get("candidates") == "all"
        self.candidates = None if every else whole_number(options, "candidates", CANDIDATES)
        if options.get("all_heads", "no") not in ("yes", "no"):
            raise InputError(f"option all_heads: expected yes or no, not {options['all_heads']!r}")
        self.proves_all = options.get("all_heads") == "yes"

    def score(self, sentence: Sentence) -> NonlocalSentence:
        """A sentence's scores."""
        model, encoded = self.model, self.model.vocabulary.encode(sentence)
        words = Words(sentence)
        # A word has as many other words as possible heads, the root for one of them.
        few = self.candidates if self.candidates is not None and self.candidates < len(sentence) else None
        instance = model.scored(words, encoded, model.candidates(encoded, few))
        narrow = None
        if self.proves_all and few is not None:
            narrow, few = instance, None
            instance = model.scored(words, encoded, model.candidates(encoded, None))
        wanted = self.wanted
        single_root = instance.single_root if wanted.single_root is None else wanted.single_root
        projective = instance.projective if wanted.projective is None else wanted.projective
        if narrow is not None:
            narrow = replace(narrow, single_root=single_root, projective=projective)
        return NonlocalSentence(
            instance.parts,
            instance.factors,
            instance.allowed,
            single_root=single_root,
            projective=projective,
            words=instance.words,
            sentence=sentence,
            best=wanted.best,
            candidates=few,
            narrow=narrow,
            relations=lambda heads: model.relations(encoded, heads),
        )


def read_instance(path: Path) -> NonlocalInstance:
    """Read scores, ``.npz``.

    Raises
    ------
    InputError
        If the file is something else; of a text it says how to get a model.
    """
    if path.suffix == ".npz":
        return read(path)
    check_readable(path)  # a file that is not there is the first thing to say
    raise InputError(
        f"{path}: sentences need a trained model, `colgen train nonlocal_parsing --data DIR --model FILE` makes "
        f"one and --model FILE takes it; scores end in .npz"
    )


def is_model(path: Path) -> bool:
    """Whether a file is a trained model."""
    return "head" in arrays_in(path)


def score_instance(material: Material, model: Path, options: Mapping[str, str]) -> NonlocalSentence:
    """One of the sentences in CoNLL-U or CoNLL-X, scored by a trained model; options see ``OPTIONS``.

    Raises
    ------
    InputError
        If a file is something else, or an option is unknown or has an impossible value.
    """
    check_options(options, OPTIONS)
    return NonlocalScorer(Model.load(model), options).score(choose_sentence(material, options))

"""What is measured: the source's two tables, and how fast and how good the exact parser is on whole test sets.

The tables compare linear programs of grandparent models, trained without siblings, on the same sentences: brute force
scores all parts and solves the complete program, price and cut starts from the source's initial parts.  Compiling a
model, done once a length, counts in neither.  All on one thread, in one run; training counts in no time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import geometric_mean, mean

from colgen import InputError, solve
from colgen.template import BenchOptions, Figure
from problems.dependency.learning import Settings
from problems.dependency.scorer import SentenceScorer, Weights
from problems.dependency.sentence import Heads, Sentence
from problems.grandparent_parsing.baseline import Relaxed, solve_complete
from problems.grandparent_parsing.drawing import draw_seconds
from problems.grandparent_parsing.instance import as_heads
from problems.grandparent_parsing.model import FORMULATIONS
from problems.grandparent_parsing.parser import Parse, parse
from problems.grandparent_parsing.separation import arc_values
from problems.grandparent_parsing.template import GrandparentParsing
from problems.grandparent_parsing.training import EPOCHS, Corpus, read_corpus, train
from solvers.arborescence import arborescence

LANGUAGES = ("danish", "hungarian", "italian")


@dataclass(frozen=True)
class Plan:
    """How much is measured.

    Attributes
    ----------
    classes
        Largest number of tokens of each length class of the tables.
    sentences
        Of each class and language.
    epochs, table_epochs
        Of the complete model, and of the grandparent model of the tables.
    learn, test
        Sentences to learn from and to test on; None for all.
    """

    classes: tuple[int, ...] = (10, 15, 20, 25)
    sentences: int = 10
    epochs: int = EPOCHS
    table_epochs: int = 3
    learn: int | None = None
    test: int | None = None


QUICK = Plan((6, 8), 2, 1, 1, 100, 20)


@dataclass(frozen=True)
class Compared:
    """One sentence, solved by brute force with each outer bound, by price and cut, and by the exact parser."""

    sentence: Sentence
    complete: dict[str, Relaxed]
    objective: float
    seconds: float
    scored: int
    added: int
    whole: bool
    heads: Heads
    exact: Parse
    exact_seconds: float

    @property
    def speedup(self) -> float:
        """Of price and cut against brute force."""
        return self.complete["all"].seconds / self.seconds


def bench_grandparent_parsing(options: BenchOptions) -> list[Figure]:
    """The source's tables, then speed and accuracy of the exact parser."""
    if options.data is None:
        raise InputError(
            "this benchmark needs treebanks: say --data DIR; a folder with files in CoNLL-U whose names hold train, "
            "dev and test, or one that has such folders " + ", ".join(LANGUAGES)
        )
    folders = [options.data / language for language in LANGUAGES if (options.data / language).is_dir()]
    plan = QUICK if options.quick else Plan()
    figures: list[Figure] = []
    drawn: list[Compared] = []
    for folder in folders or [options.data]:
        corpus = read_corpus(folder)
        if not corpus.test:
            raise InputError(f"{folder}: expected a file in CoNLL-U or CoNLL-X with 'test' in its name, there is none")
        corpus = corpus.cut(plan.learn, plan.test)
        compared = compare(corpus, plan, options.say)
        drawn += compared
        figures += [*table_1(corpus.name, compared, plan), *table_2(corpus.name, compared)]
        figures += whole_test_set(corpus, plan, options.say)
    if options.plot is not None:
        draw_seconds(drawn).savefig(options.plot, dpi=150)
    return figures


def compare(corpus: Corpus, plan: Plan, say: Callable[[str], None]) -> list[Compared]:
    """Solve sentences of each length class in all ways."""
    say(f"{corpus.name}: training the grandparent model of the tables")
    weights = train(corpus.learn, Settings(epochs=plan.table_epochs, kinds=("grandparents",)), say=say)
    chosen = choose(corpus.test, plan)
    _one(chosen[0], weights)  # compiles the kernels, which is nobody's speed
    compared = []
    for number, sentence in enumerate(chosen, 1):
        compared.append(_one(sentence, weights))
        if number % 10 == 0 or number == len(chosen):
            say(f"{corpus.name}: {number} of {len(chosen)} sentences compared, the last of {len(sentence)} tokens")
    return compared


def choose(sentences: Sequence[Sentence], plan: Plan) -> list[Sentence]:
    """Sentences of each length class, spread over the file."""
    chosen: list[Sentence] = []
    least = 2
    for most in plan.classes:
        members = [sentence for sentence in sentences if least <= len(sentence) <= most]
        step = max(1, len(members) // plan.sentences)
        chosen += members[::step][: plan.sentences]
        least = most + 1
    if not chosen:
        raise InputError(f"expected test sentences of 2 to {plan.classes[-1]} tokens, there are none")
    return chosen


def _one(sentence: Sentence, weights: Weights) -> Compared:
    def fresh() -> SentenceScorer:
        scorer = weights.scorer(sentence)
        assert scorer.arcs is not None  # scored once for everybody
        return scorer

    complete = {name: solve_complete(fresh(), name, single_root=weights.single_root) for name in FORMULATIONS}
    GrandparentParsing(fresh(), connectivity="flow", warm=False).formulation()
    scorer = fresh()
    started = time.perf_counter()
    problem = GrandparentParsing(scorer, connectivity="flow", warm=False)
    result = solve(problem, relaxation=True)
    seconds = time.perf_counter() - started
    assert result.solution is not None
    z = arc_values(result.solution, len(sentence))
    tree = arborescence(z, single_root=weights.single_root)
    assert tree is not None
    scorer = weights.scorer(sentence)
    started = time.perf_counter()
    exact = parse(scorer)
    return Compared(
        sentence,
        complete,
        result.objective,
        seconds,
        problem.scored["grandparent"],
        problem.added["grandparent"],
        bool((abs(z - z.round()) <= 1e-6).all()),
        as_heads(tree[0]),
        exact,
        time.perf_counter() - started,
    )


def table_1(name: str, compared: Sequence[Compared], plan: Plan) -> list[Figure]:
    """Price and cut against brute force with the complete formulation."""
    n = len(compared)
    parts = sum(c.complete["all"].parts for c in compared)
    figures = [
        Figure(f"{name}.speedup_vs_brute_force", geometric_mean(c.speedup for c in compared), "x", n, "geometric mean"),
        Figure(f"{name}.scored", sum(c.scored for c in compared) / parts, "", n, "share of the grandparent parts"),
        Figure(f"{name}.added", sum(c.added for c in compared) / parts, "", n, "share of the grandparent parts"),
        Figure(
            f"{name}.objective_difference",
            max(abs(c.objective - c.complete["all"].objective) for c in compared),
            "",
            n,
            "largest, price and cut against brute force",
        ),
        Figure(f"{name}.whole", 100 * mean(c.whole for c in compared), "%", n, "of price and cut's optima are trees"),
        Figure(f"{name}.table_accuracy", _accuracy(compared, [c.heads for c in compared]), "%", n, "price and cut"),
        Figure(
            f"{name}.exact_speedup_vs_brute_force",
            geometric_mean(c.complete["all"].seconds / c.exact_seconds for c in compared),
            "x",
            n,
            "the exact parser, geometric mean",
        ),
    ]
    least = 2
    for most in plan.classes:
        members = [c for c in compared if least <= len(c.sentence) <= most]
        if members:
            value = geometric_mean(c.speedup for c in members)
            figures.append(Figure(f"{name}.speedup_{least}_to_{most}", value, "x", len(members), "tokens"))
        least = most + 1
    return figures


def table_2(name: str, compared: Sequence[Compared]) -> list[Figure]:
    """The three outer bounds: speed against the first, share of trees, accuracy."""
    figures = []
    n = len(compared)
    first = sum(c.complete[FORMULATIONS[0]].seconds for c in compared)
    for formulation in FORMULATIONS:
        runs = [c.complete[formulation] for c in compared]
        label = f"{name}.{formulation}"
        seconds = sum(run.seconds for run in runs)
        figures += [
            Figure(f"{label}.speed", first / seconds, "x", n, f"against {FORMULATIONS[0]}"),
            Figure(f"{label}.whole", 100 * mean(run.is_whole for run in runs), "%", n, "of the optima are trees"),
            Figure(f"{label}.accuracy", _accuracy(compared, [run.heads() for run in runs]), "%", n),
        ]
    return figures


def _accuracy(compared: Sequence[Compared], heads: Sequence[Heads]) -> float:
    right = sum(
        a == b
        for c, found in zip(compared, heads, strict=True)
        for a, b in zip(c.sentence.heads or (), found, strict=True)
    )
    return 100.0 * right / sum(len(c.sentence) for c in compared)


def whole_test_set(corpus: Corpus, plan: Plan, say: Callable[[str], None]) -> list[Figure]:
    """Speed and accuracy of the exact parser, features included, every sentence of the test set."""
    say(f"{corpus.name}: training the model of arcs, grandparents and siblings")
    weights = train(corpus.learn, Settings(epochs=plan.epochs), say=say)
    assert weights.bounds  # offline
    parse(weights.scorer(corpus.test[0]))
    seconds = {"features": 0.0, "search": 0.0}
    right = tokens = 0
    parses = []
    for sentence in corpus.test:
        started = time.perf_counter()
        scorer = weights.scorer(sentence)
        assert scorer.arcs is not None
        scored = time.perf_counter()
        found = parse(scorer)
        seconds["features"] += scored - started
        seconds["search"] += time.perf_counter() - scored
        right += sum(a == b for a, b in zip(sentence.heads or (), found.heads or (), strict=True))
        tokens += len(sentence)
        parses.append(found)
    n, total = len(parses), sum(seconds.values())
    name = corpus.name
    return [
        Figure(f"tokens_per_second_{name}", tokens / total, "tokens/s", n, "features and exact search"),
        Figure(f"accuracy_{name}", 100.0 * right / tokens, "%", n, "unlabeled, punctuation included"),
        Figure(f"{name}.proved", 100.0 * mean(p.is_optimal for p in parses), "%", n, "of the trees are proved optimal"),
        Figure(f"{name}.branched", sum(p.nodes > 0 for p in parses), "sentences", n, "need branch and bound"),
        Figure(f"{name}.features_share", 100.0 * seconds["features"] / total, "%", n, "of the time"),
        Figure(
            f"{name}.candidates",
            sum(p.candidates for p in parses) / tokens,
            "arcs/token",
            n,
            "whose parts are looked at",
        ),
    ]

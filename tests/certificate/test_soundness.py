"""A law: nothing that the checker accepts is contradicted by enumeration, whatever the dual values and the tree are.

Programs are drawn over pricing problems that can be enumerated.  A tree of splits, fixings and claims is drawn without
a thought; dual values climb a little, so that bounds come near to what they must not pass.  What a claim states besides
them is what the checker says that it is: so each claim is accepted, and may be wrong.
"""

import itertools
import json
import random
from fractions import Fraction

import pytest

from colgen.certificate import checker_networks
from colgen.certificate.checker import check
from colgen.certificate.checker_bounds import bound_of, bound_of_uses, check_fixing, point_of
from colgen.certificate.checker_instances import formulation_of
from colgen.certificate.checker_pricing import CheckerState, WrongError, holds
from colgen.certificate.checker_program import Claims, Program
from tests.fuzz.handmade import seal

ROWS = ([0, 1], [1, 1], [1, 1], [2, 2], [1, None], [None, 2], ["1/2", "5/2"])


def knapsack(chance, n):
    size = chance.randint(1, n)
    structures = itertools.product(range(3), repeat=size)
    return {
        "kind": "knapsack",
        "uses": [chance.randint(0, 1), chance.choice([1, 2])],
        "capacity": chance.randint(1, 6),
        "sizes": [chance.randint(1, 4) for _ in range(size)],
        "copies": [chance.randint(0, 2) for _ in range(size)],
        "rows": chance.sample(range(n), size),
        "cost": chance.choice([0, 1, 2, "1/2"]),
        "costs": chance.choice([[], [chance.randint(-2, 4) for _ in range(size)]]),
    }, [[[item, pieces] for item, pieces in enumerate(each) if pieces] for each in structures]


def block(chance, n):
    size = chance.randint(1, 3)
    sides = ([None, 2], [1, None], [0, 3], ["-1/2", "3/2"])
    return {
        "kind": "block",
        "uses": [1, chance.choice([1, 2])],
        "cost": chance.randint(0, 1),
        "variables": [[chance.choice([0, 1, 2, -3]), chance.choice([0, -1]), 1, True] for _ in range(size)],
        "rows": [
            [*chance.choice(sides), [[v, chance.choice([1, 2, -1, "1/2"])] for v in range(size)]]
            for _ in range(chance.randint(0, 2))
        ],
        "entries": [
            [[row, chance.choice([1, 1, -1])] for row in range(n) if chance.random() < 0.6] for _ in range(size)
        ],
    }, [list(values) for values in itertools.product(range(-1, 2), repeat=size)]


def stable_sets(chance, n):
    edges = [list(edge) for edge in itertools.combinations(range(n), 2) if chance.random() < 0.4]
    structures = [list(s) for size in range(n + 1) for s in itertools.combinations(range(n), size)]
    return {"kind": "stable sets", "uses": [0, n], "cost": chance.randint(1, 2), "edges": edges}, structures


def routes(chance, n):
    timed = chance.random() < 0.5
    opens = [0, *(chance.randint(0, 5) for _ in range(n))]
    instance = {
        "kind": "vehicle_routing",
        "ticks": chance.randint(1, 2),
        "distances": [[chance.randint(0, 5) for _ in range(n + 1)] for _ in range(n + 1)],
        "windows": [[early, early + chance.randint(4, 20)] for early in opens] if timed else None,
        "service": [0, *(chance.randint(0, 2) for _ in range(n))] if timed else None,
        "demands": [0, *(chance.randint(0, 3) for _ in range(n))],
        "capacity": chance.randint(3, 7),
        "vehicles": n,
    }
    number = {ends: k for k, ends in enumerate(itertools.permutations(range(n + 1), 2))}
    tours = [(0, *route, 0) for size in range(1, n + 1) for route in itertools.permutations(range(1, n + 1), size)]
    structures = [[number[ends] for ends in itertools.pairwise(tour)] for tour in tours]
    return formulation_of(instance)["pricing"][0], structures


def network(chance, n):
    vertices = n + 2 + (chance.random() < 0.4)  # the last may be another place of a row, or of none
    rows = [None, *range(n), None, *[chance.choice([None, chance.randrange(n)])] * (vertices - n - 2)]
    sink, cyclic = n + 1, chance.random() < 0.7
    ends = [
        (u, v)
        for u, v in itertools.permutations(range(vertices), 2)
        if v != 0 and u != sink and chance.random() < 0.8 and (cyclic or u < v or v == sink)
    ]
    resources = [
        {
            "start": chance.choice([0, 0, 1]),
            "lower": [chance.choice([None, 0, chance.randint(0, 4)]) for _ in range(vertices)],
            "upper": [chance.choice([None, *[chance.randint(2, 9)] * 4]) for _ in range(vertices)],
            "consumption": [chance.choice([-1, 0, 1, 2, "1/2", 3]) for _ in ends],
        }
        for _ in range(chance.randint(0, 2))
    ]
    if chance.random() < 0.6:
        resources.append(
            {
                "start": 0,
                "lower": [0] * vertices,
                "upper": [chance.randint(3, 7)] * vertices,
                "consumption": [chance.randint(1, 3) for _ in ends],
            }
        )
    for each in resources:
        if chance.random() < 0.4:  # a positive rate needs a limit
            each["penalties"] = [
                [chance.randint(-1, 4), 0 if side is None else chance.choice([0, 0, 1, 2, "1/3"])]
                for side in each["upper"]
            ]
    inner = [v for v in range(1, vertices) if v != sink]
    pairs = [list(pair) for pair in itertools.permutations(inner, 2)]
    rules = {
        "sets": [chance.sample(range(vertices), chance.randint(1, 3)) for _ in range(chance.choice([0, 0, 1, 2]))],
        "requests": [chance.choice(pairs) for _ in range(chance.choice([0, 0, 1, 2])) if pairs],
    }
    paths = [[]]
    found = []
    while paths:
        path = paths.pop()
        at = ends[path[-1]][1] if path else 0
        if at == sink:
            found.append(path)
            continue
        seen = {0, *(ends[arc][1] for arc in path)}
        paths += [[*path, arc] for arc, (u, v) in enumerate(ends) if u == at and v not in seen]
    return {
        "kind": "network",
        "uses": [chance.randint(0, 1), chance.choice([1, 2, n])],
        "source": 0,
        "sink": sink,
        "rows": rows,
        "arcs": [[u, v, chance.choice([-2, 0, 1, 2, 3, "1/2"])] for u, v in ends],
        "resources": resources,
        **{name: each for name, each in rules.items() if each},
    }, found


class Drawn:
    """A program, its columns, all its answers, and a tree; ``answers`` are objectives with columns by problem."""

    def __init__(self, seed):
        self.chance = chance = random.Random(seed)
        kinds = chance.choice(
            [[knapsack], [knapsack, knapsack], [knapsack, block], [block], [stable_sets], [routes], [network],
             [network, network]]
        )  # fmt: skip
        alone = kinds[0] in (stable_sets, routes, network)
        n = chance.randint(2, 3) if alone else chance.randint(1, 2)
        rows = [[1, 1] if alone else list(chance.choice(ROWS)) for _ in range(n)]
        pricing, structures = zip(*(kind(chance, n) for kind in kinds), strict=True)
        sense = "minimize" if alone else chance.choice(["minimize", "maximize"])
        self.data = {"sense": sense, "step": None, "rows": rows, "pricing": pricing}
        self.data["step"] = chance.choice([None, *filter(self._steps, (1, "1/2"))])
        self.program = Program(self.data)
        self.columns = [
            list(self._columns(problem, some)) for problem, some in zip(self.program.pricing, structures, strict=True)
        ]
        self.answers = sorted(self._answers(), key=lambda answer: answer[0])
        self.answer = chance.choice([*self.answers[:1], *self.answers[:1], *self.answers, None])
        self.lines, self.bounds, self.nodes = [], [], itertools.count(1)

    def _steps(self, step):
        try:
            return Program({**self.data, "step": step})
        except WrongError:
            return None

    def _columns(self, problem, structures):
        for structure in structures:
            try:
                yield (structure, *problem.column(structure))
            except WrongError:
                continue

    def _answers(self):
        ways = [
            [some for m in range(int(low), int(high) + 1) for some in itertools.combinations_with_replacement(each, m)]
            for (low, high), each in zip(self.program.uses, self.columns, strict=True)
        ]
        for answer in itertools.islice(itertools.product(*ways), 20_000):
            every = list(itertools.chain(*answer))
            sums = [sum(entries.get(row, 0) for *_, entries in every) for row in range(len(self.data["rows"]))]
            if all(map(holds, sums, self.program.rows)):
                yield self.program.sign * sum(cost for _, cost, _ in every), answer

    def certificate(self):
        answer = None
        if self.answer is not None:
            columns = [[k, 1, structure] for k, some in enumerate(self.answer[1]) for structure, *_ in some]
            answer = {"objective": str(self.program.sign * self.answer[0]), "columns": columns}
        self.descend(0, CheckerState(), self.answers, 0)
        bound, objective = None, None if self.answer is None else self.answer[0]
        if None in self.bounds:
            proves = "nothing" if objective is None else "answer"
        else:
            bound = self.program.round_up(min(self.bounds)) if self.bounds else None
            if objective is not None and (bound is None or bound > objective):
                bound = objective
            proves = "infeasible" if bound is None else "optimal" if bound == objective else "bound"
        told = [None if x is None else str(self.program.sign * x) for x in (objective, bound)]
        leaves = sum("claim" in line for line in self.lines)
        head = [{"certificate": "colgen", "version": 1}, {"instance": {"kind": "drawn"}, "sha256": ""}]
        head += [{"formulation": self.data}, {"answer": answer}]
        end = {"proves": proves, "objective": told[0], "bound": told[1], "lines": 0, "leaves": leaves}
        return [json.dumps(line) for line in seal([*head, *self.lines, {"end": end}])]

    def descend(self, node, state, answers, depth):
        """``answers`` are those of the node, and better than the one at hand if something was fixed."""
        chance = self.chance
        if self.answer is not None and chance.random() < 0.3 and self.fix(node, state):
            answers = [answer for answer in answers if answer[0] < self.answer[0]]
        drawn = self.split(state) if depth < 2 and chance.random() < 0.6 else None
        if drawn is None:
            return self.leaf(node, state, answers)
        split, states, belongs = drawn
        children = [next(self.nodes) for _ in states]
        self.lines.append({"node": node, "split": split, "children": children})
        for place, (child, below) in enumerate(zip(children, states, strict=True)):
            self.descend(child, below, [each for each in answers if belongs(each) == place], depth + 1)
        assert {belongs(each) for each in answers} <= set(range(len(states)))
        return None

    def split(self, state):
        """A split, the children's states, and which child an answer belongs to."""
        chance, k = self.chance, self.chance.randrange(len(self.columns))
        data, most = self.data["pricing"][k], chance.choice([0, 0, 1])
        if data["kind"] == "knapsack":
            item, first = chance.randrange(len(data["sizes"])), chance.choice([0, chance.randint(0, data["capacity"])])
            last = chance.randint(first, data["capacity"])
            split = {"pieces": [k, item, first, last], "at_most": most}

            def number(structure):
                before = sum(data["sizes"][other] * pieces for other, pieces in structure if other < item)
                pieces = dict(structure).get(item, 0)
                return sum(first <= before + data["sizes"][item] * piece <= last for piece in range(pieces))

        elif data["kind"] == "block":
            some = sorted(chance.sample(range(len(data["variables"])), chance.randint(1, len(data["variables"]))))
            box = [[v, chance.choice([None, 0, 1]), chance.choice([None, 0, 1])] for v in some]
            split = {"within": [k, box], "at_most": most}

            def number(structure):
                return all(holds(structure[v], (low, high)) for v, low, high in box)

        else:
            pair = chance.sample(range(len(self.data["rows"])), 2)
            split = {"pair": pair}

        def belongs(answer):
            if "pair" in split:
                return int(not any(set(pair) <= set(entries) for some in answer[1] for *_, entries in some))
            return int(sum(number(structure) for structure, *_ in answer[1][k]) > most)

        for children in chance.choice([(1, 2), (2,)]):
            try:
                return split, self.program.split(state, split, children, Claims()), belongs
            except WrongError:
                continue
        return None

    def claim(self, state, weight):
        """A claim at dual values that climb, and what it is worth; None if the first ones are refused."""
        chance, best = self.chance, None
        duals, unit = [0] * len(self.data["rows"]), chance.randint(1, 2) if weight else 1
        counts, cuts = dict.fromkeys(state.counts, 0), []
        if chance.random() < 0.3 and (
            state.listed is not None or {each["kind"] for each in self.data["pricing"]} == {"knapsack"}
        ):
            rows = [k for k, (_, high) in enumerate(self.program.rows) if high and high.denominator == 1]
            cuts = [{"cut": [2, rows], "dual": 0}] if rows else []
        for _ in range(chance.choice([10, 80])):
            to, among, pays = duals.copy(), counts.copy(), [{**cut, "dual": -chance.randint(0, 2)} for cut in cuts]
            if best is not None:
                for _ in range(chance.randint(1, 2)):
                    to[chance.randrange(len(to))] += chance.choice([-2, -1, 1, 2])
                if among and chance.random() < 0.5:
                    among[chance.choice(list(among))] += chance.choice([-1, 1])
            told = {"unit": unit, "duals": to, "counts": [[*_lists(place), dual] for place, dual in among.items()]}
            told |= {"cuts": pays} if pays else {}
            try:
                worth, told["least"] = self.worth(state, told, unit * weight)
            except WrongError:
                continue
            if best is None or worth >= best[0]:
                best, duals, counts = (worth, told), to, among
        if best is None or (not weight and best[0] <= 0):
            return None
        worth, told = best
        if weight:
            return {"weight": 1, **told, "bound": str(self.program.sign * worth / unit)}, worth / unit
        return {"weight": 0, **told, "bound": None, "worth": str(worth)}, None

    def worth(self, state, told, unit):
        """What dual values come to, and the least reduced costs, as the checker finds them."""
        point, least = point_of(self.program, state, told, unit), []
        for k, problem in enumerate(self.program.pricing):
            arguments = point.duals, point.unit, point.counts, state
            if state.listed is not None:
                some = {
                    frozenset(row for row in range(len(point.duals)) if rows >> row & 1): cost
                    for rows, cost in state.listed[k].items()
                }
                paid = [
                    point.unit * cost
                    - sum(point.duals[row] for row in rows)
                    - sum(dual * (len(rows & set(weights)) // q) for q, weights, dual in point.cuts)
                    for rows, cost in some.items()
                ]
                least.append(min(paid, default=Fraction(0)))
            elif point.cuts:
                least.append(problem.at_least(*arguments, point.cuts, problem.least(*arguments) + 2))
            else:
                least.append(problem.least(*arguments))
        return point.total + sum(bound_of_uses(self.program, k, each) for k, each in enumerate(least)), list(
            map(str, least)
        )

    def fix(self, node, state):
        """A fixing below the node; whether there is one."""
        listed = self.data["pricing"][0]["kind"] == "network"
        what = "columns" if listed else self.chance.choice(["positions", "items"])
        claim, _ = self.claim(state, 1) or (None, None)
        if claim is None:
            return False
        number = "left" if what == "columns" else "closed"
        fix = {"what": what, **{key: value for key, value in claim.items() if key != "weight"}, number: -1}
        try:
            check_fixing(self.program, state.copy(), fix, self.answer[0], Claims())
        except WrongError as told:
            first = str(told).split()[0]
            if not first.isdigit():
                return False
            fix[number] = int(first)
        check_fixing(self.program, state, fix, self.answer[0], Claims())
        self.lines.append({"node": node, "fix": fix})
        return True

    def leaf(self, node, state, answers):
        claim, bound = self.claim(state, self.chance.choice([0, 1, 1])) or self.claim(state, 1) or (None, None)
        self.lines.append({"node": node, "claim": claim})
        if claim is None:  # a node that is left open
            self.bounds.append(None)
            return
        assert bound_of(self.program, state, claim, Claims()) == bound
        if bound is not None:
            self.bounds.append(bound)
        for cost, _ in answers[:1]:  # the best
            assert bound is not None
            assert bound <= cost


def _lists(record):
    return [_lists(each) if isinstance(each, tuple) else each for each in record]


@pytest.mark.parametrize("seed", range(500))
def test_what_is_accepted_is_true_of_all_answers(seed, monkeypatch):
    monkeypatch.setattr(checker_networks, "NEAR", 1 + seed % 3)  # so that neighbourhoods are small
    drawn = Drawn(seed)
    verdict = check(drawn.certificate())
    best = drawn.answers[0][0] * drawn.program.sign if drawn.answers else None
    if verdict.proves == "optimal":
        assert verdict.objective == best
    elif verdict.proves == "infeasible":
        assert best is None
    elif verdict.proves == "bound" and best is not None:
        assert drawn.program.sign * (best - verdict.bound) >= 0

"""A learner for tests, which answers by a function and records its calls."""


class Scripted:
    __hash__ = None  # learners need not be hashable

    def __init__(self, answer):
        self.answer, self.seen = answer, []

    def keep(self, offered):
        self.seen.append(offered)
        return self.answer(offered)

"""The trainer: passes, progress, the best pass on development data, and continuing an interrupted training."""

import numpy as np
import pytest

from colgen.core.errors import InputError
from colgen.learning import SavedTraining, train


class Coins:
    """Counts its calls: averaged weights whose quality rises, then falls."""

    batch = 2

    def __init__(self):
        self.seen = []

    def __len__(self):
        return 5

    def learn(self, examples):
        self.seen += examples.tolist()
        return float(len(examples)), 4.0 * len(examples)

    def averaged(self):
        return Kept(len(self.seen) // 5)

    def state(self):
        return {"seen": np.array(self.seen)}

    def restore(self, arrays):
        self.seen = arrays["seen"].tolist()


class Kept:
    def __init__(self, passes):
        self.passes = passes

    def save(self, path):
        path.write_text(str(self.passes))


def load(path):
    return Kept(int(path.read_text()))


def quality(model):
    return [0.0, 50.0, 70.0, 60.0, 70.0][model.passes]


def test_each_pass_has_all_examples_in_an_order_of_its_own():
    coins, lines = Coins(), []
    trained = train(coins, 4, seed=(3, 1), name="coins", say=lines.append)
    passes = np.reshape(coins.seen, (4, 5))
    assert (np.sort(passes) == np.arange(5)).all()
    assert len({tuple(each) for each in passes.tolist()}) > 1
    assert trained.losses == (0.25,) * 4
    assert trained.weights.passes == 4
    assert lines[0] == "coins, pass 1 of 4: mean loss 0.25"


def test_the_first_of_the_best_passes_on_development_data_is_returned():
    lines = []
    trained = train(Coins(), 4, validate=quality, say=lines.append)
    assert trained.weights.passes == 2
    assert trained.scores == (50.0, 70.0, 60.0, 70.0)
    assert [line.endswith("the best so far") for line in lines] == [True, True, False, False]


@pytest.mark.parametrize("stopped", [1, 2, 3])
def test_an_interrupted_training_continues(tmp_path, stopped):
    whole, lines = Coins(), []
    train(whole, 4)

    class Interrupted(Coins):
        def learn(self, examples):
            if len(self.seen) >= 5 * stopped:
                raise KeyboardInterrupt
            return super().learn(examples)

    saved = SavedTraining(tmp_path / "state", "coins", load)
    with pytest.raises(KeyboardInterrupt):
        train(Interrupted(), 4, validate=quality, saved=saved, say=lines.append)
    assert lines[-1].endswith("has the state after the last pass: repeat the command to continue from there")
    again = Coins()
    trained = train(again, 4, validate=quality, saved=saved)
    assert again.seen == whole.seen
    assert trained.scores == (50.0, 70.0, 60.0, 70.0)
    assert trained.weights.passes == 2
    later = train(Coins(), 2, saved=saved, stage=1)  # another stage begins afresh
    assert later.passes == 2
    assert train(Coins(), 4, saved=saved).passes == 0  # a finished stage is skipped
    assert train(Coins(), 1, saved=SavedTraining(tmp_path / "state", "others", load)).passes == 1
    saved.remove()
    assert not list(tmp_path.iterdir())


def test_a_broken_state_is_refused(tmp_path):
    (tmp_path / "state").write_text("nothing")
    with pytest.raises(InputError, match="interrupted training"):
        train(Coins(), 1, saved=SavedTraining(tmp_path / "state", "coins", load))

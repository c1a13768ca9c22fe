import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colgen import InputError
from colgen.problems.grandparent_parsing import GrandparentInstance, from_scores, random, read, tree_objective, write
from tests.problems.grandparent_parsing.trees import all_trees, instances, worth


@given(instance=instances(), data=st.data())
def test_objective_matches_its_definition(instance, data):
    heads = data.draw(st.sampled_from(all_trees(len(instance))))
    assert instance.objective(heads) == pytest.approx(worth(instance, heads))
    assert tree_objective(instance, heads) == pytest.approx(worth(instance, heads))


def test_check_refuses_wrong_trees():
    arcs = np.zeros((3, 3))
    arcs[0, 2] = -np.inf
    instance = GrandparentInstance(arcs, single_root=True)
    assert instance.check((0, 1)) == 0.0
    with pytest.raises(InputError, match="cycle"):
        instance.check((2, 1))
    with pytest.raises(InputError, match=r"not allowed: .*-inf"):
        GrandparentInstance(arcs).check((0, 0))
    with pytest.raises(InputError, match="whose head is 0"):
        GrandparentInstance(np.zeros((3, 3)), single_root=True).check((0, 0))
    with pytest.raises(InputError, match="2 tokens"):
        instance.check((0,))


@pytest.mark.parametrize(
    ("arcs", "grandparents", "message"),
    [
        (np.zeros((2, 3)), None, "shape"),
        (np.zeros((1, 1)), None, "n ≥ 1"),
        (np.full((3, 3), np.nan), None, "NaN"),
        (np.full((3, 3), np.inf), None, "NaN or"),
        (np.zeros((3, 3)), np.zeros((2, 2, 2)), "grandparent_scores of shape"),
        (np.zeros((3, 3)), np.full((3, 3, 3), np.nan), "grandparent_scores contain NaN"),
        (np.zeros((3, 3)), np.full((3, 3, 3), np.inf), "grandparent_scores contain NaN or"),
    ],
)
def test_scores_are_refused(arcs, grandparents, message):
    with pytest.raises(InputError, match=message):
        GrandparentInstance(arcs, grandparents)


@given(instance=instances())
def test_bounds_hold_for_every_part(instance):
    size = len(instance) + 1
    grandparents = instance.grandparent_scores
    for p in range(size):
        for c in range(size):
            assert grandparents[:, p, c].max() == instance.parent_child_bounds[p, c]
            assert grandparents[p, c].max() == instance.grandparent_parent_bounds[p, c]
    if instance.sibling_scores is None:
        assert not instance.head_modifier_bounds.any()
    else:
        assert (instance.sibling_scores <= instance.head_modifier_bounds[:, None, :]).all()
        assert (instance.sibling_scores <= instance.head_sibling_bounds[:, :, None]).all()


@pytest.mark.parametrize("siblings", [False, True])
def test_files_keep_everything(tmp_path, siblings):
    instance = random(4, 3, siblings=siblings, single_root=siblings)
    write(instance, tmp_path / "scores.npz")
    again = read(tmp_path / "scores.npz")
    assert np.array_equal(again.arc_scores, instance.arc_scores)
    assert np.array_equal(again.grandparent_scores, instance.grandparent_scores)
    assert (again.sibling_scores is None) is not siblings
    assert again.single_root is siblings
    assert again.name == "scores"


def test_malformed_files(tmp_path):
    (tmp_path / "text.npz").write_text("no arrays")
    with pytest.raises(InputError, match="expected arrays 'arcs'"):
        read(tmp_path / "text.npz")
    np.savez(tmp_path / "other.npz", scores=np.zeros(3))
    with pytest.raises(InputError, match="'arcs'"):
        read(tmp_path / "other.npz")
    with pytest.raises(InputError, match="cannot be read"):
        read(tmp_path / "missing.npz")


@given(instance=instances(4))
def test_from_scores_preserves_tree_scores(instance):
    again = from_scores(instance, siblings=instance.sibling_scores is not None, single_root=instance.single_root)
    for heads in all_trees(len(instance)):
        assert worth(again, heads) == pytest.approx(worth(instance, heads))


def test_no_tokens():
    with pytest.raises(InputError, match="at least 1, not 0"):
        random(0, 0)

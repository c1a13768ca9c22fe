import pytest

pytest.importorskip("matplotlib")

from benchmarks.coreference.drawing import bin_runs, draw
from benchmarks.coreference.methods import ALL_LINK, GENERATED, NEEDED_ROWS
from benchmarks.harness import Run
from colgen import InputError, solve
from colgen.problems.coreference import Coreference, CoreferenceInstance, communities, random
from colgen.problems.coreference.drawing import _numbers, draw_clustering, draw_matrix
from colgen.reporting.axes import COLOURS
from tests.problems.coreference.texts import invented, text


def made_up(way, size, seconds, *, proved=True, rounds=1):
    return Run(way, "a", seconds, 1.0, 1.0, proved, rounds, 1, size=size)


def drawn(axes):
    return [artist.get_text() for artist in axes.texts if artist.get_text()]


def test_bins_end_at_tens():
    bins = bin_runs([made_up(GENERATED, size, 1.0) for size in (10, 1, 11, 20, 21)])
    assert [size for size, _ in bins] == [5.5, 15.5, 21.0]
    assert [len(runs) for _, runs in bins] == [2, 2, 1]


def test_first_figure_has_seconds_and_rounds(tmp_path):
    runs = [made_up(way, size, size / 10) for way in (GENERATED, ALL_LINK) for size in (10, 20, 30)]
    figure = draw(runs)
    left, right = figure.axes
    assert left.get_yscale() == "log"
    assert left.get_ylabel() == "average time (seconds)"
    assert [line.get_label() for line in left.lines] == [GENERATED, ALL_LINK]
    assert list(left.lines[0].get_ydata()) == [1.0, 2.0, 3.0]
    assert list(right.lines[0].get_ydata()) == [1.0, 1.0, 1.0]
    figure.savefig(tmp_path / "times.png")


def test_bins_with_limits_are_marked(tmp_path):
    figure = draw([made_up(GENERATED, 10, 1.0), made_up(NEEDED_ROWS, 10, 60.0, proved=False)])
    assert [line.get_label() for line in figure.axes[0].lines][-1] == "some runs reached their limit"
    assert len(figure.axes[0].texts) == 1
    figure.savefig(tmp_path / "times.png")


def test_missing_measurements_raise():
    with pytest.raises(InputError, match="at least one run"):
        draw([])


def test_two_clusterings_have_the_same_colours_where_they_agree():
    document = text("[a]1 [b]1 [c]1 [d]2 [e]2 [f]3 [g]3 .")
    names = list(document.tokens)
    of = {names[mention.start]: k for k, mention in enumerate(document.mentions)}
    gold = [[of[n] for n in "abc"], [of[n] for n in "de"], [of[n] for n in "fg"]]
    found = [[of[n] for n in "defg"], [of[n] for n in "bc"], [of["a"]]]
    first, second = draw_clustering(document, gold).axes[0], draw_clustering(document, found, like=gold).axes[0]
    assert drawn(first)[len(names) :] == ["1", "1", "1", "2", "2", "3", "3"]
    assert drawn(second)[len(names) :] == ["1", "1", "2", "2", "2", "2"]
    look = [(line.get_color(), line.get_linestyle()) for line in first.lines]
    assert {colour for colour, _ in look} == set(COLOURS[:3])
    again = [(line.get_color(), line.get_linestyle()) for line in second.lines]
    assert [k for k in range(7) if look[k] == again[k]] == [1, 2, 3, 4]


def test_unmatched_clusters_have_new_numbers():
    assert _numbers([[0, 1], [2, 3], [4]], []) == [1, 2, 3]
    assert _numbers([[0, 1], [2, 3]], [[2, 3], [4, 5]]) == [3, 1]
    assert _numbers([], [[1]]) == []


def test_clustering_is_drawn_over_its_words(tmp_path):
    document = text("[Ada]1 fed [[her]1 cat]2 .", "[She]1 likes [it]2 and [rain]3 .")
    figure = draw_clustering(document, document.gold, title="Annotated")
    (axes,) = figure.axes
    words = drawn(axes)
    assert words[0] == "Annotated"
    assert words[1 : 1 + len(document.tokens)] == list(document.tokens)
    assert words[1 + len(document.tokens) :] == ["1", "2", "1", "1", "2"]  # the singleton has no number
    assert len(axes.lines) == len(document.mentions)
    outer, inner = (axes.lines[k].get_ydata()[0] for k in (1, 2))
    assert outer > inner  # further below the words
    figure.savefig(tmp_path / "clustering.png")


def test_a_mention_over_two_lines_is_underlined_on_both():
    document = text("[Ada " + "of the long name " * 8 + "]1 fed [herself]1 .")
    (axes,) = draw_clustering(document, document.gold, width=5.0).axes
    assert len({line.get_ydata()[0] for line in axes.lines}) >= 3


def test_words_stay_on_the_page():
    document = invented(0)
    (axes,) = draw_clustering(document, document.gold, width=6.0).axes
    assert all(line.get_xdata()[1] <= 6.0 for line in axes.lines)


def test_an_instance_with_a_document_is_drawn():
    document = text("[Ada]1 fed [her]1 .")
    instance = CoreferenceInstance(random(2, 0).scores, "a", document.labels, document)
    assert drawn(draw_clustering(instance, [(0, 1)]).axes[0])


def test_an_instance_without_a_document_raises():
    with pytest.raises(InputError, match="needs a document"):
        draw_clustering(random(2, 0), [(0, 1)])


def test_unknown_mentions_raise():
    with pytest.raises(InputError, match="other mention numbers"):
        draw_clustering(text("[Ada]1 ran ."), [(0, 1)])


def test_the_matrix_is_ordered_by_cluster(tmp_path):
    instance = communities(9, 0)
    clusters = solve(Coreference(instance)).answer
    figure = draw_matrix(instance, clusters, title="communities")
    axes = figure.axes[0]
    order = [mention for cluster in sorted(clusters, key=lambda c: (-len(c), c)) for mention in cluster]
    assert [label.get_text() for label in axes.get_yticklabels()] == [str(instance.labels[k]) for k in order]
    assert [patch.get_width() for patch in axes.patches[1::2]] == sorted(map(len, clusters), reverse=True)
    figure.savefig(tmp_path / "matrix.png")
    with pytest.raises(InputError, match="each of 9 mentions"):
        draw_matrix(instance, [(0, 1)])

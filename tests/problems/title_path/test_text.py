import pytest

from colgen import InputError
from colgen.problems.title_path.sections import Section, docstrings, read_file, read_sections, split
from colgen.problems.title_path.text import FUNCTION_WORDS, has_stemmer, is_content, sentences, stem, words
from colgen.problems.title_path.training import longest_common_subsequence, rouge_l

# --- words -----------------------------------------------------------------------------------------------------------


def test_sentences_and_words():
    text = "Well-kept trees, don’t fall. In 3 of 4 cases: none fell!\n\nA heading\n\n  42"
    assert sentences(text) == [
        ["Well-kept", "trees", "don't", "fall"],
        ["In", "of", "cases"],
        ["none", "fell"],
        ["A", "heading"],
    ]
    assert words("The Tree.") == ["the", "tree"]
    assert sentences("") == sentences("1 2 3 ...") == []


def test_content_words():
    assert [word for word in words("The analysis of an algorithm x is in chapter two") if is_content(word)] == [
        "analysis",
        "algorithm",
        "chapter",
        "two",
    ]
    assert {"the", "of", "between", "is", "don't"} <= FUNCTION_WORDS


@pytest.mark.skipif(not has_stemmer(), reason="needs snowballstemmer")
def test_variants_share_a_stem():
    assert stem("sorting") == stem("sorts") == stem("sorted") == "sort"
    assert stem("trees") == stem("tree")
    assert stem("queue") != stem("tree")


# --- ROUGE-L ---------------------------------------------------------------------------------------------------------


def test_worked_cases_of_the_definition():
    """Lin (2004), section 3: recall and precision have the same denominator, so F equals both."""
    reference = ["police", "killed", "the", "gunman"]
    assert rouge_l(["police", "kill", "the", "gunman"], reference).f == pytest.approx(3 / 4)
    assert rouge_l(["the", "gunman", "kill", "police"], reference).f == pytest.approx(2 / 4)
    assert rouge_l(["the", "gunman", "police", "killed"], reference).f == pytest.approx(2 / 4)


def test_recall_and_precision_differ():
    found = rouge_l(["a", "b", "c", "d"], ["a", "d"])
    assert (found.recall, found.precision) == (1.0, 0.5)
    assert found.f == pytest.approx(2 / 3)
    assert rouge_l(["a", "b", "c", "d"], ["a", "d"], beta=2.0).f == pytest.approx(5 * 0.5 / (1.0 + 4 * 0.5))


def test_nothing_in_common():
    assert rouge_l([], ["a"]) == rouge_l(["b"], ["a"]) == (0.0, 0.0, 0.0)


def test_longest_common_subsequence_is_symmetric_and_no_substring():
    assert longest_common_subsequence("abcbdab", "bdcaba") == longest_common_subsequence("bdcaba", "abcbdab") == 4


# --- sections --------------------------------------------------------------------------------------------------------


def test_sections_of_a_folder(tmp_path):
    (tmp_path / "b.jsonl").write_text('{"title": "Heaps", "text": "A heap."}\n\n{"title": "A", "text": "Of it."}\n')
    (tmp_path / "a.jsonl").write_text('{"title": "Trees", "text": ""}\n{"title": "Lists", "text": "x", "more": 1}\n')
    files = read_sections(tmp_path)
    assert [[one.title for one in file] for file in files] == [["Lists"], ["Heaps"]]
    assert files[1][0].name == "b:1"
    inner = tmp_path / "data" / "titles"
    inner.mkdir(parents=True)
    (inner / "c.jsonl").write_text('{"title": "Graphs", "text": "A graph."}\n')
    assert read_sections(tmp_path / "data")[0][0].title == "Graphs"


@pytest.mark.parametrize("line", ["x", "[]", '{"title": "a"}', '{"title": 1, "text": "b"}'])
def test_malformed_lines_are_named(tmp_path, line):
    (tmp_path / "a.jsonl").write_text('{"title": "Heaps", "text": "A heap."}\n' + line + "\n")
    with pytest.raises(InputError, match=r"a\.jsonl, line 2: expected"):
        read_sections(tmp_path)


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(InputError, match="names ending in jsonl"):
        read_sections(tmp_path)
    with pytest.raises(InputError, match="cannot be read"):
        read_file(tmp_path / "a.jsonl")
    (tmp_path / "a.jsonl").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="not a text file"):
        read_file(tmp_path / "a.jsonl")


def test_two_thirds_of_each_file_train():
    files = [[Section(f"{name}{k}", "text") for k in range(size)] for name, size in (("a", 6), ("b", 4))]
    train, test = split(files)
    assert [one.title for one in train] == ["a0", "a1", "a2", "a3", "b0", "b1"]
    assert [one.title for one in test] == ["a4", "a5", "b2", "b3"]
    with pytest.raises(InputError, match="training and testing, got 0 and 1"):
        split([[Section("a", "b")]])


def test_docstrings_are_sections():
    sections = docstrings(("networkx",), most=20)
    assert len(sections) == 20
    assert docstrings(("networkx",), most=20) == sections
    for section in sections:
        assert section.name.startswith("networkx.")
        assert section.num_content_words >= 1
        assert "\n" not in section.title
        assert len(words(section.text)) >= 40
    with pytest.raises(InputError, match="not installed"):
        docstrings(("no_such_package_at_all",))


def test_every_installation_has_docstrings():
    for package in ("networkx", "numpy", "scipy"):
        assert len(docstrings((package,), most=5)) == 5

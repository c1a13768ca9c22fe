"""Grapheme clusters, against examples from Unicode's own test."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from colgen.problems.pipeline.clusters import cluster_begins, letters_of, outline

# from GraphemeBreakTest.txt: clusters as code points, separated by bars
STANDARD = """
0061 0308
0646 200D
1100 1100
AC00 11A8 | 1100
AC01 11A8 | 1100
AC00 1160
1F1E6 1F1E7 | 1F1E8 | 0062
0061 | 1F1E6 1F1E7 | 1F1E8 | 0062
0061 | 1F1E6 1F1E7 200D | 1F1E8 | 0062
0061 | 1F1E6 200D | 1F1E7 1F1E8 | 0062
0061 | 1F1E6 1F1E7 | 1F1E8 1F1E9 | 0062
0061 200D
0061 0308 | 0062
0061 0903 | 0062
0061 | 0600 0062
1F476 1F3FF | 1F476
0061 1F3FF | 1F476
0061 1F3FF | 1F476 200D 1F6D1
1F476 1F3FF 0308 200D 1F476 1F3FF
1F6D1 200D 1F6D1
0061 200D | 1F6D1
0061 200D | 2701
0915 | 0924
0915 094D 0924
0915 094D 094D 0924
0915 094D 200D 0924
0915 093C 200D 094D 0924
0915 093C 094D 200D 0924
0915 094D 0924 094D 092F
0915 094D | 0061
0061 094D | 0924
003F 094D | 0924
0AB8 0AFB 0ACD 0AB8 0AFB
1004 103A 1039 1011 1039 1011
1B12 1B01 | 1B32 1B44 1B2F | 1B32 1B44 1B22 1B44 1B2C | 1B32 1B44 1B22 1B38
179F 17D2 178F 17D2 179A 17B8
1795 17D2 17AF | 1798
17A0 17D2 17AB | 1791 17D0 | 1799
"""

JOINED = [  # the standard breaks these further: marks, format characters and symbols that word rules ignore or join
    ("1019 1039 1018 102C 1037", 1),
    ("2701 200D 2701", 1),
    ("0063 00AD 0061", 2),
    ("05D0 200F | 0020 | 200E 05D1", 3),
]


def parse_line(line):
    clusters = ["".join(chr(int(code, 16)) for code in part.split()) for part in line.split("|")]
    return "".join(clusters), clusters


@pytest.mark.parametrize("line", STANDARD.strip().split("\n"))
def test_clusters_of_the_standard(line):
    text, clusters = parse_line(line)
    begins = cluster_begins(text)
    assert [text[a:b] for a, b in zip(begins, [*begins[1:], None], strict=True)] == clusters


@pytest.mark.parametrize(("line", "count"), JOINED)
def test_characters_ignored_by_word_rules_are_joined(line, count):
    assert len(cluster_begins(parse_line(line)[0])) == count


@given(
    st.text(
        st.sampled_from("aé́\u0308\u00ad\u200d\u200c\ufe0f 我\u0e44\u0e33\u094dक🇩🇰👩🏽❤\u1100\u1161\u11a8한\u0600\n")
    )
)
def test_marks_only_begin_clusters_after_blanks(text):
    begins = cluster_begins(text)
    assert begins == sorted({*begins})
    assert begins[:1] == [0] * bool(text)
    for begin in begins[1:]:
        assert text[begin] not in "\u0301\u0308\u00ad\u200d\u200c\ufe0f\u0e33\u094d" or text[begin - 1].isspace()
    assert len(outline(text, begins)) == len(begins)


def test_letters_of_forms():
    assert letters_of("cafe\u0301") == "cafe"
    assert letters_of("\u200fשלום\u200e") == "שלום"
    assert letters_of("हिन्दी").isalpha()
    signs = letters_of("👩\u200d👧👩\u200d👦👩\u200d👧")
    assert signs[0] == signs[2] != signs[1]

"""The measures of pii.py on cases that can be counted by hand."""

import pytest

from pii_measures import IGNORE, Counts, Span, addresses, characters, exact, interval, joined, match, places, unannotated


def span(text: str, part: str, kind: str = "PERSON") -> Span:
    start = text.index(part)
    return Span(start, start + len(part), kind)


TEXT = "Mr. John Doe of 12 Elm Street, Springfield met Ann."
JOHN, ANN = span(TEXT, "John Doe"), span(TEXT, "Ann")


@pytest.mark.parametrize(
    ("name", "found", "counts"),
    [
        ("the same span", [JOHN], (1, 0, 1)),
        ("with the title: overlapping is enough", [span(TEXT, "Mr. John Doe"), ANN], (2, 0, 0)),
        ("another type is a miss and a false alarm", [span(TEXT, "John Doe", "LOCATION"), ANN], (1, 1, 1)),
        ("two pieces of one entity: one of them is a false alarm", [span(TEXT, "John"), span(TEXT, "Doe")], (1, 1, 1)),
        ("one finding over two entities hits one", [Span(JOHN.start, ANN.end, "PERSON")], (1, 0, 1)),
        ("the same finding twice counts once", [JOHN, JOHN], (1, 0, 1)),
        ("neighbours do not overlap", [Span(JOHN.end, JOHN.end + 3, "PERSON")], (0, 1, 2)),
        ("nothing", [], (0, 0, 2)),
    ],
)
def test_overlapping(name, found, counts):
    assert match(found, [JOHN, ANN]).total() == Counts(*counts), name


def test_the_pair_with_most_in_common_comes_first():
    # The finding touches both entities. Taking the first one would leave the second finding without an entity.
    gold = [Span(0, 5, "PERSON"), Span(6, 20, "PERSON")]
    found = [Span(4, 20, "PERSON"), Span(0, 3, "PERSON")]
    assert match(found, gold).total() == Counts(2, 0, 0)


def test_exact_needs_both_ends():
    assert match([span(TEXT, "Mr. John Doe"), ANN], [JOHN, ANN], exact).total() == Counts(1, 1, 1)


def test_a_finding_on_an_ignored_part_is_no_false_alarm():
    title = span(TEXT, "Mr.", IGNORE)
    assert match([span(TEXT, "Mr."), JOHN, ANN], [title, JOHN, ANN]).total() == Counts(2, 0, 0)
    assert match([span(TEXT, "Mr. John Doe"), ANN], [title, JOHN, ANN]).total() == Counts(2, 0, 0)


def test_f_weighs_recall():
    counts = Counts(hits=8, alarms=2, misses=4)
    assert counts.precision == 0.8
    assert counts.recall == pytest.approx(2 / 3)
    assert counts.f(1) == pytest.approx(16 / 22)
    assert counts.f(2) == pytest.approx(5 * 8 / (5 * 8 + 4 * 4 + 2))
    assert Counts().f(2) is None


def test_micro_average_adds_counts():
    a = match([JOHN], [JOHN])
    b = match([], [span(TEXT, "Springfield", "LOCATION")])
    assert (a + b).total() == Counts(1, 0, 1)
    assert (a + b).types["LOCATION"] == Counts(0, 0, 1)


def test_characters_forget_types():
    assert characters([span(TEXT, "John", "LOCATION")], [JOHN]) == Counts(4, 0, 4)
    assert characters([span(TEXT, "Mr. John")], [span(TEXT, "Mr.", IGNORE), JOHN]) == Counts(4, 1, 4)


def test_pieces_of_an_address_are_one_address():
    address = span(TEXT, "12 Elm Street, Springfield", "ADDRESS")
    pieces = [span(TEXT, "Elm Street", "LOCATION"), span(TEXT, "Springfield", "LOCATION"), JOHN]
    assert match(addresses(pieces, [address, JOHN]), [address, JOHN]).total() == Counts(2, 0, 0)
    place = span(TEXT, "Springfield", "LOCATION")
    assert addresses([place], [place]) == [place]


def test_interval_of_groups_that_agree_is_a_point():
    assert interval({"a": [Counts(1, 0, 1)], "b": [Counts(2, 0, 2)]}, 1) == pytest.approx((2 / 3, 2 / 3))
    low, high = interval({i: [Counts(i % 2, 0, (i + 1) % 2)] for i in range(20)}, 1)
    assert low < 2 / 3 < high


def test_false_alarms_overlap_nothing_annotated():
    found = [span(TEXT, "Elm", "PERSON"), span(TEXT, "Doe", "ORGANIZATION")]
    assert unannotated(found, [JOHN]) == {"PERSON": 1}



def test_neighbours_of_a_type_are_one_span():
    text = "12, Elm Street\n Springfield Ann"
    parts = [span(text, "12", "ADDRESS"), span(text, "Elm Street", "ADDRESS"), span(text, "Springfield", "LOCATION"), span(text, "Ann")]
    assert [text[s.start : s.end] for s in joined(parts, text)] == ["12, Elm Street", "Springfield", "Ann"]
    assert [text[s.start : s.end] for s in joined(places(parts), text)] == ["12, Elm Street\n Springfield", "Ann"]

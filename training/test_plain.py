"""Training and measurement see texts through the product's own functions.

    python -m pytest training/test_plain.py
"""

import numpy as np

import data
import entities_text
import plain


def test_texts_are_the_products():
    (text, origin), (same, none), (names, _) = *plain.texts(["Don’t… see https://example.org/a", "It's plain."]), *plain.texts(["Tom’s https://example.org/a"], "names")
    assert text == "Don't... see \n" and list(origin) == [0, 1, 2, 3, 4, 5, 5, 5, 6, 7, 8, 9, 10, 11]
    assert (same, none) == ("It's plain.", None)
    assert names == "Tom's https://example.org/a"


def test_votes_follow_their_letters():
    given = "so… &quot;idiot&quot;"
    votes = np.zeros((5, len(given)), np.float32)
    votes[1, given.index("idiot") : given.index("idiot") + 5] = 1
    (row,) = plain.rows([data.Row(given, "jigsaw", "train", np.zeros(7, np.float32), votes)])
    assert row.text == 'so... "idiot"'
    assert "".join(c for c, v in zip(row.text, row.votes[1]) if v) == "idiot"


def test_names_follow_their_letters():
    (example,) = plain.examples([entities_text.Example("1", "btc", "train", "“Tom\u00a0O’Hara”", ((1, 11, "PERSON"),), frozenset(["PERSON"]))])
    assert example.text == '"Tom O\'Hara"' and example.text[slice(*example.spans[0][:2])] == "Tom O'Hara"


def test_offsets_lead_back():
    given = "&quot;You’re&quot;"
    ((text, origin),) = plain.texts([given])
    assert text == '"You\'re"'
    back = plain.in_original(np.array([[1, 4], [5, 7], [0, 0]]), origin)
    assert given[slice(*back[0])] == "You" and given[slice(*back[1])] == "re" and list(back[2]) == [0, 0]

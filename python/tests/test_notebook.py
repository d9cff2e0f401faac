"""What a result looks like where it is printed, and in a notebook."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from toxscreen import Entity, Result, Screener, Span

IDIOT = "You are a stupid idiot, and so is your edit."


def test_repr_is_one_short_line_without_the_text(screener: Screener) -> None:
    """Lists of results are readable, and texts do not get into logs by accident."""
    assert re.fullmatch(r"<Result score=0\.\d{3} (moderate|severe), flagged for toxicity, insult[a-z, ]*>", repr(screener.score(IDIOT)))
    rows = [(7, "Thank you."), ("b", None)]
    harmless, missing = screener.score_many(rows)
    assert re.fullmatch(r"<Result id=7 score=0\.0\d\d not flagged>", repr(harmless))
    assert repr(missing) == "<Result id='b' not scored: the text is missing>"
    finnish = screener.score("Tänään on todella kaunis ilma, joten lähdemme iltapäivällä kävelylle metsään ja sen jälkeen syömään.")
    assert re.fullmatch(r"<Result score=0\.\d{3} not decided: .+>", repr(finnish))
    assert repr(Result()) == "<Result not decided>"


class Page(HTMLParser):
    """An HTML fragment as a browser reads it."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []  # tag, name, value
        self.open: list[str] = []
        self.text = ""
        self.marked: list[str] = []
        self.region = ""
        self._in_region = 0
        self.feed(source)
        self.close()
        assert self.open == [], "an element has no end"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.open.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if ("role", "region") in attrs:
            self._in_region = len(self.open)
        if tag == "mark":
            self.marked.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag
        if len(self.open) < self._in_region:
            self._in_region = 0

    def handle_data(self, data: str) -> None:
        self.text += data
        if self._in_region:
            self.region += data
        if "mark" in self.open:
            self.marked[-1] += data


def test_a_notebook_shows_the_marked_text_and_a_bar_for_each_attribute(screener: Screener) -> None:
    result = screener.score(IDIOT)
    source = result._repr_html_()
    page = Page(source)
    assert page.region == IDIOT
    assert page.marked == ["stupid idiot"]
    assert f"{result.score:.3f}" in page.text
    assert "flagged for toxicity, insult" in page.text
    assert page.tags.count("tr") == 1 + len(result.attributes)
    insult = result.attributes["insult"]
    assert f"width:{insult.score:.1%}" in source
    assert f"left:{insult.threshold:.1%}" in source


def test_nothing_is_told_by_colour_alone(screener: Screener) -> None:
    """Each score, threshold, decision and mark is in words, too. Colours are the page's own, or translucent."""
    result = screener.score(IDIOT)
    page = Page(result._repr_html_())
    for name, attribute in result.attributes.items():
        assert name.replace("_", " ") in page.text
        assert f"{attribute.score:.3f}" in page.text
    assert page.text.count("flagged") == 1 + sum(attribute.flagged is True for attribute in result.attributes.values())
    assert "stupid idiot: " in page.text
    styles = " ".join(value for _, name, value in page.attributes if name == "style")
    assert set(re.findall(r"(?<![-a-z])color:([^;\" ]+)", styles)) <= {"inherit"}
    assert all(float(alpha) < 1 for alpha in re.findall(r"rgba\([^)]*,([^)]+)\)", styles))
    assert "#" not in styles


def test_a_text_cannot_become_part_of_the_page(screener: Screener) -> None:
    text = 'You <script>alert(1)</script> idiot & "><img src=x onerror=alert(1)> \x00 \ud83d fool'
    result = screener.score(text)
    source = result._repr_html_()
    page = Page(source)
    assert page.region == text.replace("\x00", "\ufffd").replace("\ud83d", "\ufffd")
    assert not {"script", "img", "style", "link", "a", "iframe"} & set(page.tags)
    assert {name for _, name, _ in page.attributes} <= {"style", "title", "role", "aria-label", "aria-hidden", "tabindex", "dir", "scope"}
    assert "url(" not in source
    source.encode()
    assert "<b>" not in Result(id="<b>", error="<b>", text="<b>")._repr_html_()


def test_marks_of_words_and_of_personal_data_may_overlap() -> None:
    result = Result(text="🙂 you idiot@example.com!", spans=(Span(2, 11, {"insult": 0.7}),), entities=(Entity("EMAIL_ADDRESS", 6, 23, 0.95, ()),))
    page = Page(result._repr_html_())
    assert page.region == result.text
    assert page.marked == ["you ", "idiot", "@example.com"]
    assert ("mark", "title", "insult 0.700; EMAIL_ADDRESS 0.950") in page.attributes
    assert "you idiot: insult 0.700" in page.text
    assert Page(result.in_unit("byte")._repr_html_()).marked == page.marked, "offsets in another unit mark the same words"


def test_personal_data_is_marked_too() -> None:
    with Screener(pii=True) as screener:
        page = Page(screener.score("Write to jim@example.com, you idiot.")._repr_html_())
    assert page.marked == ["jim@example.com", "idiot"]
    assert "jim@example.com: EMAIL_ADDRESS" in page.text


def test_what_has_no_scores_says_why(screener: Screener) -> None:
    [missing] = screener.score_many([None])
    assert Page(missing._repr_html_()).text == "not scored: the text is missing"
    early = screener.score("Thank you.")
    assert early.exit is not None
    assert "its scores are estimates" in Page(early._repr_html_()).text
    assert "U+FFFD" in Page(screener.score("\ud83d thanks")._repr_html_()).text, "a warning is shown"

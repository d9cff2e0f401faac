"""A result as HTML for notebooks.

Styles are inline, since some notebooks remove style sheets. Colours are translucent or the page's own, and so fit light and dark pages.
Whatever a colour says stands beside it in words.
"""

from __future__ import annotations

import html
import itertools
import re
from collections import defaultdict
from collections.abc import Mapping

from toxscreen._results import Entity, Result, Span, outcome


def fragment(result: Result) -> str:
    """Returns an element that needs nothing from elsewhere."""
    result = result.in_unit("code_point")
    parts = [f"<p><strong>{'' if result.score is None else f'{result.score:.3f}, '}{_escaped(outcome(result))}</strong></p>"]
    if result.text is not None:
        parts.append(f'<div role="region" aria-label="Text" tabindex="0" dir="auto" style="{_TEXT}">{_marked(result)}</div>')
    if (marks := _marks(result)) and result.text is not None:
        items = "".join([f"<li><bdi>{_escaped(result.text[mark.start : mark.end])}</bdi>: {_escaped(_label(mark))}</li>" for mark in marks])
        parts.append(f"<details><summary>Marked places: {len(marks)}</summary><ul>{items}</ul></details>")
    if result.attributes:
        parts.append(_table(result))
    notes = [*result.warnings]
    if result.exit is not None:
        notes.insert(0, "The text is clearly harmless and left the network early: its scores are estimates.")
    if result.judge is not None and result.judge.error is not None:
        notes.append(f"The judge gave no verdict: {result.judge.error}")
    parts += [f"<p>{_escaped(note)}</p>" for note in notes]
    return f"<div>{''.join(parts)}</div>"


_TEXT = "max-height:20em;overflow:auto;white-space:pre-wrap;overflow-wrap:anywhere;padding:.5em;margin-bottom:.5em;border:1px solid rgba(128,128,128,.5)"


_Mark = Span | Entity


def _marks(result: Result) -> list[_Mark]:
    return [*(result.spans or ()), *(result.entities or ())]


def _marked(result: Result) -> str:
    """Returns the text with the words of spans and entities marked. Both may cover the same words."""
    text = result.text or ""
    begins: defaultdict[int, list[_Mark]] = defaultdict(list)
    cuts = {0, len(text)}
    for mark in _marks(result):
        begins[mark.start].append(mark)
        cuts |= {mark.start, mark.end}
    parts: list[str] = []
    open_marks: list[_Mark] = []
    for start, end in itertools.pairwise(sorted(cuts)):
        open_marks = [mark for mark in open_marks if mark.end > start] + begins[start]
        piece = _escaped(text[start:end])
        if open_marks:
            style = _SPAN if any(isinstance(mark, Span) for mark in open_marks) else _ENTITY
            piece = f'<mark style="{style}" title="{_escaped("; ".join(map(_label, open_marks)))}">{piece}</mark>'
        parts.append(piece)
    return "".join(parts)


_SPAN = "color:inherit;background:rgba(255,110,0,.3);border-bottom:2px solid"
_ENTITY = "color:inherit;background:rgba(0,130,255,.2);border-bottom:2px dotted"


def _label(mark: _Mark) -> str:
    scores: Mapping[str, float] = mark.attributes if isinstance(mark, Span) else {mark.type: mark.score}
    return ", ".join(f"{name.replace('_', ' ') if isinstance(mark, Span) else name} {score:.3f}" for name, score in scores.items())


def _table(result: Result) -> str:
    rows = []
    for name, attribute in result.attributes.items():
        fill = "rgba(225,80,0,.9)" if attribute.flagged else "rgba(110,130,160,.9)"
        bar = (
            f'<div aria-hidden="true" style="{_BAR}"><div style="width:{attribute.score:.1%};height:100%;background:{fill}"></div>'
            f'<div style="position:absolute;top:0;left:{attribute.threshold:.1%};height:100%;border-left:2px solid"></div></div>'
        )
        rows.append(
            f'<tr><th scope="row" style="{_CELL}">{_escaped(name.replace("_", " "))}</th><td style="{_CELL}">{bar}{attribute.score:.3f}</td>'
            f'<td style="{_CELL}">{attribute.threshold:.3f}</td><td style="{_CELL}">{"flagged" if attribute.flagged else ""}</td></tr>'
        )
    heads = "".join(f'<th scope="col" style="{_CELL}">{head}</th>' for head in ("Attribute", "Score", "Threshold", "Decision"))
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


_CELL = "text-align:left;padding:.2em 1em .2em 0"
_BAR = "display:inline-block;position:relative;width:10em;height:.7em;margin-right:.6em;background:rgba(128,128,128,.25)"


def _escaped(text: str) -> str:
    """Returns text for HTML. Halves of characters cannot be written as UTF-8, and control characters are not part of HTML."""
    return html.escape(_UNWRITABLE.sub("\ufffd", text))


_UNWRITABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")

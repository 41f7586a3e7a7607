"""Tables that fold: where there is no room for columns, each row becomes a block of labels and values.

The style sheet folds them, by what stands in the markup: a cell says its column's head as its label, and roles say
that it is still a table, which browsers forget of what is not laid out as one.
"""

import re
from collections.abc import Iterator

from markupsafe import Markup

_HEAD = re.compile(r"<thead.*?</thead>", re.DOTALL)
_HEAD_CELL = re.compile(r"<th\b([^>]*)>(.*?)</th>", re.DOTALL)
# A head for those who hear the table: who sees it sees what is in the column, folded as well.
_UNSEEN = re.compile(r'<span class="unseen">.*?</span>', re.DOTALL)
_MARK = re.compile(r"<[^>]*>")
_OPENING = re.compile(r"<(thead|tbody|tfoot|tr|th|td)\b([^>]*)>")
_SPAN = re.compile(r'colspan="(\d+)"')
_ROLES = {"thead": "rowgroup", "tbody": "rowgroup", "tfoot": "rowgroup", "tr": "row", "td": "cell", "th": "rowheader"}


def folded(inside: str) -> Markup:
    """Return the inside of a table, its cells with roles and with the heads of their columns. No table is within.

    What follows the head is the body where the markup names none.
    """
    head = _HEAD.search(inside)
    if head and "<tbody" not in inside:
        inside = f"{inside[: head.end()]}\n<tbody>{inside[head.end() :]}</tbody>"
    heads = list(_heads(head[0])) if head else []
    end_of_head = head.end() if head else 0
    column = 0

    def marked(found: re.Match[str]) -> str:
        nonlocal column
        name, said = found[1], found[2]
        if found.start() < end_of_head and name == "th":
            return f'<th{said} role="columnheader">'
        if name not in ("td", "th"):
            column = 0
            return f'<{name}{said} role="{_ROLES[name]}">'
        span = _span(said)
        label = heads[column] if span == 1 and name == "td" and column < len(heads) else ""
        column += span
        return f'<{name}{said} role="{_ROLES[name]}"{f" data-l={_quoted(label)}" if label else ""}>'

    return Markup(_OPENING.sub(marked, inside))  # noqa: S704  # what was escaped stays so


def _heads(head: str) -> Iterator[str]:
    """Yield the words of each column's head; what stands there is escaped already."""
    for said, words in _HEAD_CELL.findall(head):
        yield from [" ".join(_MARK.sub("", _UNSEEN.sub("", words)).split())] * _span(said)


def _span(said: str) -> int:
    found = _SPAN.search(said)
    return int(found[1]) if found else 1


def _quoted(words: str) -> str:
    return '"' + words.replace('"', "&#34;") + '"'

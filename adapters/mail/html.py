"""Cleans HTML that a brand wrote for its emails, and converts it to text.

Source: core spec, "Affiliate invites", invite rules (the tags, and only https in links).
"""

import re
from html.parser import HTMLParser

import nh3

from domain import urls

_TAGS = {"p", "br", "strong", "b", "em", "i", "u", "ul", "ol", "li", "a"}
# Without the star nh3 keeps title and lang on every tag.
_ATTRIBUTES: dict[str, set[str]] = {"a": {"href"}, "*": set()}
_HTTPS = re.compile(r"https://\S", re.IGNORECASE)
_MERGE_TAG = re.compile(r"\{\{[^{}]*\}\}")
_BLOCKS = ("p", "ul", "ol")


def clean(html: str) -> str:
    """Return the HTML with only the allowed tags. Merge tags in double braces stay as they are.

    The text of other tags stays; scripts, styles and comments are removed with their contents.
    """
    return nh3.clean(
        html,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        attribute_filter=_https_only,
        url_schemes={"https"},
        link_rel=None,
    )


def to_text(cleaned: str) -> str:
    """Return cleaned HTML as plain text: paragraphs, list items, links with their URLs."""
    reader = _Reader()
    reader.feed(cleaned)
    reader.close()
    lines = [" ".join(line.split()) for line in "".join(reader.parts).split("\n")]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def _https_only(tag: str, attribute: str, value: str) -> str | None:
    # nh3 allows a URL without a scheme, and a merge tag in front could become one.
    address = value.strip()
    is_https = _HTTPS.match(address) is not None and urls.is_http(_MERGE_TAG.sub("x", address))
    return address if is_https else None


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "a":
            self._addresses.append(dict(attrs).get("href") or "")
        self.parts.append({"br": "\n", "li": "\n- "}.get(tag, "\n\n" if tag in _BLOCKS else ""))

    def handle_endtag(self, tag: str) -> None:
        if tag == "a" and self._addresses:
            address = self._addresses.pop()
            self.parts.append(f" ({address})" if address else "")
        self.parts.append("\n\n" if tag in _BLOCKS else "")

    def handle_data(self, data: str) -> None:
        self.parts.append(data.replace("\n", " "))

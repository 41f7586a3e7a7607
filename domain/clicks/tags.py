"""Parses the tags that load our script, and the content security policies, from the HTML of a brand's page.

After a tag that is never closed the rest of the page is not read; that keeps the time linear in the length for any
input.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import urljoin, urlsplit

# The script finds its own tag by the same text.
_OUR_SCRIPT = "/r/loader.js"

# Above any real page; the excess is not read.
_MAX_POLICIES = 10
_MAX_POLICY_CHARS = 4096

_Attributes = Sequence[tuple[str, str | None]]


@dataclass(frozen=True, slots=True)
class LoaderTag:
    """A tag that loads our script: its `origin` (lower case), its program, and its other attributes."""

    origin: str
    program_id: str
    custom_params: str
    nonce: str | None


@dataclass(slots=True)
class PageTags:
    """The tags of our script on a page, and the `policies` of its `meta` elements."""

    tags: list[LoaderTag] = field(default_factory=list)
    policies: list[str] = field(default_factory=list)


def read(html: str, *, page: str) -> PageTags:
    """Return the tags in the HTML of the page at a URL. Time is linear in its length."""
    reader = _Reader(page)
    reader.feed(html)  # no close(): it would parse an unclosed tag again from each `<` on
    return reader.result


class _Reader(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.result = PageTags()
        self._base = page

    def handle_starttag(self, tag: str, attrs: _Attributes) -> None:
        attributes = {name: value or "" for name, value in reversed(attrs)}  # of two of one name the first counts
        if tag == "script":
            self._add_tag(attributes)
        elif tag == "meta" and attributes.get("http-equiv", "").strip().lower() == "content-security-policy":
            if len(self.result.policies) < _MAX_POLICIES:
                self.result.policies.append(attributes.get("content", "")[:_MAX_POLICY_CHARS])
        elif tag == "base" and attributes.get("href"):
            self._base = _join(self._base, attributes["href"])

    def parse_marked_section(self, i: int, report: int = 1) -> int:
        # In HTML this is a comment up to the next `>`; the library's parser treats it as a section of other languages.
        return self.parse_bogus_comment(i)

    def _add_tag(self, attributes: dict[str, str]) -> None:
        address = _join(self._base, attributes.get("src", "").strip())
        parts = urlsplit(address)
        if _OUR_SCRIPT not in parts.path:
            return
        self.result.tags.append(
            LoaderTag(
                origin=f"{parts.scheme}://{parts.netloc}".lower(),
                program_id=attributes.get("data-program-id", "").strip().lower(),
                custom_params=attributes.get("data-custom-params", "").strip(),
                nonce=attributes.get("nonce") or None,
            )
        )


def _join(base: str, address: str) -> str:
    try:
        return urljoin(base, address)
    except ValueError:  # an invalid host
        return base

"""Reads the tags that load our script, and the content policies, out of the HTML of a brand's page.

What is not closed is no tag, so the rest of such a page is not read; that keeps the time in line with the length,
whatever somebody wrote.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import urljoin, urlsplit

# What the script itself looks for when it wants to know its own tag.
_OUR_SCRIPT = "/r/loader.js"

# No page that means it has more policies, or longer ones, than this; what is beyond is not read.
_MOST_POLICIES = 10
_LONGEST_POLICY = 4096

_Attributes = Sequence[tuple[str, str | None]]


@dataclass(frozen=True, slots=True)
class FoundTag:
    """A tag that loads our script: from where (`origin`, lower case), for which program, and with what on it."""

    origin: str
    program_id: str
    custom_params: str
    nonce: str | None


@dataclass(slots=True)
class PageTags:
    """What a page holds of what matters to us. `policies` are those of its `meta` elements."""

    tags: list[FoundTag] = field(default_factory=list)
    policies: list[str] = field(default_factory=list)


def read(html: str, *, page: str) -> PageTags:
    """Return what the HTML of the page at a URL holds. Time is linear in its length."""
    reader = _Reader(page)
    reader.feed(html)  # and no close(): it would take what was never closed apart again from each `<` on
    return reader.found


class _Reader(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.found = PageTags()
        self._base = page

    def handle_starttag(self, tag: str, attrs: _Attributes) -> None:
        said = {name: value or "" for name, value in reversed(attrs)}  # of two of one name the first counts
        if tag == "script":
            self._keep(said)
        elif tag == "meta" and said.get("http-equiv", "").strip().lower() == "content-security-policy":
            if len(self.found.policies) < _MOST_POLICIES:
                self.found.policies.append(said.get("content", "")[:_LONGEST_POLICY])
        elif tag == "base" and said.get("href"):
            self._base = _joined(self._base, said["href"])

    def parse_marked_section(self, i: int, report: int = 1) -> int:
        # In HTML it is a comment up to the next `>`; the parser of the library knows sections of other languages.
        return self.parse_bogus_comment(i)

    def _keep(self, said: dict[str, str]) -> None:
        address = _joined(self._base, said.get("src", "").strip())
        parts = urlsplit(address)
        if _OUR_SCRIPT not in parts.path:
            return
        self.found.tags.append(
            FoundTag(
                origin=f"{parts.scheme}://{parts.netloc}".lower(),
                program_id=said.get("data-program-id", "").strip().lower(),
                custom_params=said.get("data-custom-params", "").strip(),
                nonce=said.get("nonce") or None,
            )
        )


def _joined(base: str, address: str) -> str:
    try:
        return urljoin(base, address)
    except ValueError:  # a host that is none
        return base

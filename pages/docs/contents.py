"""The chapters of the documentation and their addresses, and where the anchors of the former single page are now."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from api.description import guide
from api.description.page import Section

#: Names of chapters that are neither guides nor groups of operations.
EVENTS, ERRORS = "events", "errors"
#: The operations that the button "Try it" sends besides those that only read: with a test key they create records that
#: are marked as tests, or nothing.
SAFE_WRITES = frozenset(
    {"createAffiliate", "createConversion", "previewAffiliateImport", "previewConversionImport", "previewPayouts"}
)
#: The anchors that guides had on the single page, by the guide's name.
FORMER_ANCHORS: Mapping[str, str] = {
    "authentication": "keys",
    "signed-sales": "signing",
    "receiving-webhooks": "webhook-events",
    "rate-limits": "limits",
    EVENTS: "event-types",
}


@dataclass(frozen=True, slots=True)
class Chapter:
    """A chapter: its name in the address, and its heading."""

    name: str
    heading: str

    @property
    def path(self) -> str:
        """Return the address of the chapter."""
        return f"/docs/{self.name}"


def list_guides() -> list[Chapter]:
    """Return the chapters that explain how to use the interface."""
    guides = [Chapter(name, heading) for name, (heading, _) in guide.CHAPTERS.items()]
    return [*guides, Chapter(EVENTS, "Event types"), Chapter(ERRORS, "Errors")]


def list_groups(sections: Sequence[Section]) -> list[Chapter]:
    """Return the chapters of the reference: one per group of operations."""
    return [Chapter(section.tag, section.heading) for section in sections]

"""The base of the fake platforms: it serves an API over HTTP, returns faults on request, and stores people."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from adapters.platforms.base import PlatformAdapter
from tests.support.gateways.stage import ApiCall, PlayedApi


@dataclass(frozen=True, slots=True)
class Person:
    """A person who signed up; `fields` are custom fields, `page` the URL of the sign-up, `marks` UTM parameters."""

    email: str
    fields: Mapping[str, str] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    page: str | None = None
    marks: Mapping[str, str] = field(default_factory=dict)


class PlatformStage(PlayedApi):
    """A fake platform on a port of this machine, from creation to `stop`. Its faults are those of `PlayedApi`."""

    platform: PlatformAdapter
    credentials: Mapping[str, str]
    #: The data that this platform does not store: tags, page, marks.
    unsupported: frozenset[str] = frozenset()

    def __init__(self, port: int = 0) -> None:
        super().__init__(port)
        self.people: dict[str, Person] = {}

    def add_person(self, email: str, *, slug: str | None = None, **more: Any) -> Person:
        """Add a person; the slug is stored in the custom field that this platform usually has for it."""
        fields = {self.platform.slugs.fields[0]: slug} if slug else {}
        self.people[email.lower()] = person = Person(email, **{"fields": fields, **more})
        return person

    def count_lookups(self) -> int:
        """Return how many calls looked up a person."""
        return sum(map(self.is_lookup, self.calls))

    @abstractmethod
    def is_lookup(self, call: ApiCall) -> bool:
        """Return whether a call looks up a person."""

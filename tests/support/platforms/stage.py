"""What every platform of the tests can do: answer its API over HTTP, misbehave when told, and know people."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from adapters.platforms.base import PlatformAdapter
from tests.support.gateways.stage import ApiCall, PlayedApi


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who signed up; `fields` are custom fields, `page` where they signed up, `marks` utm fields."""

    email: str
    fields: Mapping[str, str] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    page: str | None = None
    marks: Mapping[str, str] = field(default_factory=dict)


class PlatformStage(PlayedApi):
    """A platform on a port of this machine, from creation to `stop`. Faults as those of every played API."""

    platform: PlatformAdapter
    credentials: Mapping[str, str]
    #: What this platform keeps nothing of: tags, page, marks.
    unsupported: frozenset[str] = frozenset()

    def __init__(self, port: int = 0) -> None:
        super().__init__(port)
        self.people: dict[str, Person] = {}

    def add_person(self, email: str, *, slug: str | None = None, **more: Any) -> Person:
        """Let somebody sign up; a slug stands in the custom field that this platform usually has for it."""
        fields = {self.platform.slugs.fields[0]: slug} if slug else {}
        self.people[email.lower()] = person = Person(email, **{"fields": fields, **more})
        return person

    def count_lookups(self) -> int:
        """Return how often the platform was asked for a person."""
        return sum(map(self.is_lookup, self.calls))

    @abstractmethod
    def is_lookup(self, call: ApiCall) -> bool:
        """Return whether a call asks for a person."""

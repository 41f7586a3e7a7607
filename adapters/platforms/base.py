"""The base of every platform's adapter. Nothing here is called inside a transaction."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from adapters.gateways.base import CredentialField
from adapters.platforms import records
from domain.platforms.signups import SLUG_FIELDS, SignupRecord

#: How long a platform may take to answer a person who waits for it, in seconds.
PATIENT_S = 10.0


class PlatformUnreachable(Exception):
    """No usable answer came: worth another try later. The message is short and holds no secret.

    `wait_s` is how long the platform requests not to be called, in seconds; None without such a request.
    """

    def __init__(self, words: str, wait_s: int | None = None) -> None:
        super().__init__(words)
        self.wait_s = wait_s


@dataclass(frozen=True, slots=True)
class PlatformAccount:
    """A connection as its adapter needs it: the typed credentials, and how long all calls of one act may take."""

    credentials: Mapping[str, str]
    within_s: float = PATIENT_S


@dataclass(frozen=True, slots=True)
class SlugPlace:
    """Where a platform keeps the slug: the custom fields that are read, and how long such a name may be.

    `beside` names the other fields that are read, in words for people.
    """

    fields: tuple[str, ...] = SLUG_FIELDS
    longest: int = 100
    beside: tuple[str, ...] = ()


class PlatformAdapter(ABC):
    """One platform. Its acts raise adapters.gateways.base.CredentialsRefused (401, 403) and PlatformUnreachable."""

    name: str
    label: str
    fields: tuple[CredentialField, ...]
    slugs: SlugPlace

    @abstractmethod
    def check(self, account: PlatformAccount) -> str | None:
        """Prove the credentials by a call. Return the problem with the objects that they name, or None."""

    @abstractmethod
    def find(self, account: PlatformAccount, email: str, *, names: Sequence[str]) -> SignupRecord | None:
        """Return the platform's record of the person who has this email, in any case; None for an unknown person.

        `names` are the custom fields that matter.
        """


class SearchAdapter(PlatformAdapter):
    """A platform that finds people by their email, together with the fields that matter."""

    email_field = "email"

    @abstractmethod
    def search(self, account: PlatformAccount, email: str, names: Sequence[str]) -> Iterable[Any]:
        """Return the people whom the platform finds by an email, with the custom fields of these names."""

    @abstractmethod
    def read(self, person: Mapping[str, Any]) -> SignupRecord:
        """Return the record of a person."""

    def find(self, account: PlatformAccount, email: str, *, names: Sequence[str]) -> SignupRecord | None:
        """Return the record of the person whom the search finds."""
        person = records.find_by_email(self.search(account, email, names), email, self.email_field)
        return None if person is None else self.read(person)

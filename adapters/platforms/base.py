"""What every platform's adapter offers. Nothing here is called inside a transaction."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from adapters.gateways.base import CredentialField
from domain.platforms.signups import SLUG_FIELDS, SignupRecord

#: How long a platform may take to answer a person who waits for it, in seconds.
PATIENT_S = 10.0


class PlatformUnreachable(Exception):
    """No usable answer came: worth another try later. The message is short and holds no secret.

    `wait_s` is how long the platform asks to be left alone, in seconds; None where it did not say.
    """

    def __init__(self, words: str, wait_s: int | None = None) -> None:
        super().__init__(words)
        self.wait_s = wait_s


@dataclass(frozen=True, slots=True)
class PlatformAccount:
    """A connection as its adapter needs it: what the brand typed, and how long all calls of one act may take."""

    credentials: Mapping[str, str]
    within_s: float = PATIENT_S


@dataclass(frozen=True, slots=True)
class SlugPlace:
    """Where a platform keeps the slug: the custom fields that are looked into, and how long such a name may be.

    `beside` is what else is read, in words for people.
    """

    fields: tuple[str, ...] = SLUG_FIELDS
    longest: int = 100
    beside: tuple[str, ...] = ()


class PlatformAdapter(Protocol):
    """One platform. Its acts raise adapters.gateways.base.CredentialsRefused (401, 403) and PlatformUnreachable."""

    name: str
    label: str
    fields: tuple[CredentialField, ...]
    slugs: SlugPlace

    def check(self, account: PlatformAccount) -> str | None:
        """Prove the credentials by a call. Return what is wrong with what they lead to, None where all is well."""

    def find(self, account: PlatformAccount, email: str, *, names: Sequence[str]) -> SignupRecord | None:
        """Return what the platform knows of a person, None while it does not know them.

        `names` are the custom fields that matter. The person is who has this email, in any case.
        """

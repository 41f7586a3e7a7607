"""What the codes of every played gateway can be asked: which stand there, what they take off, whose they are."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from tests.support.gateways.stage import ApiCall, Purchase

Answer = tuple[int, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayedTerms:
    """What a code takes off, as the gateway's books have it: a percentage, or an amount in minor units.

    `duration` is once, repeating (`months`) or forever. Without products it is off everything.
    """

    percent: int | None = None
    cents: int | None = None
    currency: str | None = None
    duration: str = "once"
    months: int | None = None
    cap: int | None = None
    expires_at: datetime | None = None
    products: tuple[str, ...] = ()


class CodeBooks(ABC):
    """The codes of one played gateway. `product` and `other_product` can be named; AmountOff is in `currency`."""

    product = "11"
    other_product = "12"
    currency = "USD"
    #: An id that no code has.
    unknown_id = "999999"

    def __init__(self, number: Callable[[], int]) -> None:
        self.number = number
        self.rows: list[dict[str, Any]] = []

    @abstractmethod
    def answer(self, call: ApiCall) -> Answer | None:
        """Act on a call about codes; None for any other."""

    @abstractmethod
    def list_live_ids(self, code: str) -> list[str]:
        """Return the ids of what buyers can redeem under a text, in any case."""

    def redeemed_id(self, purchase: Purchase) -> str | None:
        """Return the id of the code that a purchase redeems; that of no code where none stands under its text."""
        if purchase.code is None:
            return None
        return purchase.code_id or next(iter(self.list_live_ids(purchase.code)), self.unknown_id)

    @abstractmethod
    def create_as_brand(self, code: str) -> str:
        """Let the brand make a code itself, and return its id."""

    @abstractmethod
    def terms(self, code: str) -> PlayedTerms:
        """Return what the one living code with a text takes off."""

    def list_by_code(self, code: str, name: str = "code") -> list[dict[str, Any]]:
        """Return what is kept under a text, in any case."""
        return [row for row in self.rows if str(row[name]).upper() == code.upper()]

    def get_by_code(self, code: str, name: str = "code") -> dict[str, Any]:
        """Return the only one that is kept under a text."""
        (matches,) = self.list_by_code(code, name)
        return matches


def time_from_text(text: str) -> datetime:
    """Return a time of a gateway's words: with a zone, or UTC."""
    payload = datetime.fromisoformat(text)
    return payload if payload.tzinfo else payload.replace(tzinfo=UTC)


def cents_from_text(text: object) -> int:
    """Return minor units of decimal text with two places at most."""
    payload = Decimal(str(text)) * 100
    assert payload == int(payload)
    return int(payload)

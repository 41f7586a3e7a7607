"""The base of the discount codes of the fake gateways."""

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
    """The discount of a code as the gateway stores it: a percentage, or an amount in minor units.

    `duration` is once, repeating (`months`) or forever. Without products it applies to all.
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
    """The codes of one fake gateway. Codes may apply to `product` or `other_product`; AmountOff is in `currency`."""

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
        """Handle a call about codes; return None for any other call."""

    @abstractmethod
    def list_live_ids(self, code: str) -> list[str]:
        """Return the ids of the active codes with a text, ignoring case."""

    def redeemed_id(self, purchase: Purchase) -> str | None:
        """Return the id of the code that a purchase redeems, or `unknown_id` if no active code has its text."""
        if purchase.code is None:
            return None
        return purchase.code_id or next(iter(self.list_live_ids(purchase.code)), self.unknown_id)

    @abstractmethod
    def create_as_brand(self, code: str) -> str:
        """Create a code as the brand does at the gateway itself, and return its id."""

    @abstractmethod
    def terms(self, code: str) -> PlayedTerms:
        """Return the discount of the only active code with a text."""

    def list_by_code(self, code: str, name: str = "code") -> list[dict[str, Any]]:
        """Return the stored codes with a text, ignoring case."""
        return [row for row in self.rows if str(row[name]).upper() == code.upper()]

    def get_by_code(self, code: str, name: str = "code") -> dict[str, Any]:
        """Return the only stored code with a text."""
        (row,) = self.list_by_code(code, name)
        return row


def time_from_text(text: str) -> datetime:
    """Return the time in a text; without a time zone it is UTC."""
    time = datetime.fromisoformat(text)
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def cents_from_text(text: object) -> int:
    """Return the minor units of a decimal text with at most two decimal places."""
    cents = Decimal(str(text)) * 100
    assert cents == int(cents)
    return int(cents)

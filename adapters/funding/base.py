"""The interface of funding sources, and how the answer of a call is looked up when none came.

The errors on our side are those of payout rails: `adapters.rails.base`.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Protocol

import structlog

from adapters.rails import base
from domain.deals.funding import FundingCall
from domain.payouts.transfers import Answer, NotFound, Unknown
from domain.restores.charges import ListedCharge

_log = structlog.get_logger(__name__)


class FundingSource(Protocol):
    """Charges a brand and refunds charges. Calls an external system: never inside a transaction.

    `key_lasts` is how long the other side promises to take a repeated key for the same call. `books` names the account
    that collects, on the other side: a source with another account knows none of the keys.
    """

    key_lasts: timedelta
    books: str

    def ask(self, call: FundingCall) -> Answer:
        """Carry out a call. The same key again, while `key_lasts`, is the same call and never a second one.

        Never raises for what the other side does. Raises RailMisconfigured and KeyTaken.
        """

    def look_up(self, call: FundingCall) -> Answer:
        """Return what became of a call; moves nothing. Raises RailMisconfigured and KeyTaken."""

    def list_charges(self, since: datetime) -> Iterator[ListedCharge]:
        """Return the charges for deals that were made at that time or later and not given back, in any order.

        Raises CannotList and RailMisconfigured, also after some were returned: the list is then not complete.
        """


def resolve(source: FundingSource, call: FundingCall, *, age: timedelta, books: str) -> Answer:
    """Return what became of a call whose answer was Unknown; `age` is since it was first sent to `books`.

    Where a look-up finds nothing, the same key is sent again as long as the other side surely still knows it; after
    that, and where the source has other books now, the answer stays NotFound and is an operator's to settle.
    """
    answer = source.look_up(call)
    may_ask = isinstance(answer, NotFound) and books == source.books and age < source.key_lasts * 3 / 4
    return source.ask(call) if may_ask else answer


def report_unknown(why: str, call: FundingCall) -> Unknown:
    """Return Unknown and leave a line in the log."""
    reason = base.clean_message(why)
    _log.warning("funding.unknown", kind=call.kind, key=call.key, why=reason)
    return Unknown(reason)

"""The interface of rails, their errors, and the clean-up of their messages for display."""

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Protocol

import structlog

from domain.payouts import destinations
from domain.payouts.transfers import Answer, Method, NotFound, Transfer, Unknown
from domain.restores.transfers import RailTransfer

_MESSAGE_CHARACTERS = 300
_CODE_CHARACTERS = 64
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]+")

_log = structlog.get_logger(__name__)


class RailMisconfigured(Exception):
    """The rail refuses our credentials: this call moved nothing, and an operator has to act."""


class KeyTaken(Exception):
    """The rail knows this key for another amount or recipient: a person has to look, and nothing may be sent again."""


class RailMissing(Exception):
    """No rail is configured for the method."""


class CannotList(Exception):
    """The rail has no list of its payments, or did not return all of it now, as the message says."""


class NotSigned(Exception):
    """A confirmation that the rail did not sign, or whose signature could not be verified now."""


@dataclass(frozen=True, slots=True)
class RailEvent:
    """A notification by a rail, its signature verified.

    `id` is the rail's and the same when it is sent twice. `key` is ours, None when the event does not carry it;
    `references` then identify the transfer.
    """

    id: str
    key: str | None
    references: Mapping[str, str]
    answer: Answer


class Rail(Protocol):
    """Moves money by one method. Calls the outside: never inside a transaction.

    `key_lasts` is how long the other side promises to take a repeated key for the same transfer. `finds_by_key` says
    whether a look-up works with the key alone; else it needs the references of an earlier answer. `books` names the
    account that pays: a rail with other books knows none of the keys, and a transfer that it does not find may be paid.
    """

    method: Method
    key_lasts: timedelta
    finds_by_key: bool
    books: str

    def send(self, transfer: Transfer) -> Answer:
        """Request the transfer. The same key again, while `key_lasts`, is the same transfer and never a second one.

        Never raises for acts of the other side. Raises RailMisconfigured and KeyTaken.
        """

    def look_up(self, transfer: Transfer) -> Answer:
        """Return what became of the transfer; moves nothing. Raises RailMisconfigured and KeyTaken."""

    def list_since(self, since: datetime) -> Iterator[RailTransfer]:
        """Return our transfers that were made at that time or later, in any order.

        Raises CannotList and RailMisconfigured, also after some were returned: the list is then not complete.
        """

    def parse_event(self, headers: Mapping[str, str], body: bytes) -> RailEvent | None:
        """Return the event of a confirmation; None when the rail signed it and it is not about one of our transfers.

        `headers` must be found by any case, as Flask's are. Raises NotSigned and RailMisconfigured.
        """


def resolve(rail: Rail, transfer: Transfer, *, age: timedelta, books: str | None = None) -> Answer:
    """Return what became of a transfer whose answer was Unknown; `age` is since it was first sent to `books`.

    Looks it up. Where that finds nothing, or cannot find by key, the same key is sent again as long as the other
    side surely still knows it; after that, and where the rail has other books now, the answer stays NotFound or
    Unknown and is an operator's to settle. `books` None: they were not written down.
    """
    answer = rail.look_up(transfer)
    cannot_tell = isinstance(answer, NotFound) or (isinstance(answer, Unknown) and _is_blind(rail, transfer))
    may_ask = cannot_tell and books in (None, rail.books) and age < rail.key_lasts * 3 / 4
    return rail.send(replace(transfer, is_repeat=True)) if may_ask else answer


def _is_blind(rail: Rail, transfer: Transfer) -> bool:
    return not rail.finds_by_key and not transfer.known


def report_unknown(why: str, transfer: Transfer) -> Unknown:
    """Return Unknown and leave a line in the log, without the recipient."""
    message = clean_message(why, transfer)
    _log.warning("rail.unknown", rail=transfer.destination.method, key=transfer.key, why=message)
    return Unknown(message)


def clean_message(text: object, transfer: Transfer | None = None) -> str:
    """Return the other side's words in one short line, without the account they may quote."""
    line = _UNPRINTABLE.sub(" ", str(text)).strip()
    account = transfer.destination.account if transfer else ""
    if account:
        line = re.sub(re.escape(account), destinations.mask(account), line, flags=re.IGNORECASE)
    return line[:_MESSAGE_CHARACTERS]


def books(url: str, *account: str) -> str:
    """Return the name of the books of an account at a service, without its credentials."""
    return f"{url} {hashlib.sha256(chr(0).join(account).encode()).hexdigest()[:16]}"


def code(text: object, default: str) -> str:
    """Return a code of theirs in our letters: lower case, a-z, 0-9 and underscore."""
    name = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_") if isinstance(text, str) else ""
    return name[:_CODE_CHARACTERS] or default

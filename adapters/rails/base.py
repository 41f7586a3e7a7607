"""What every rail offers, what may go wrong on our side, and how their words are made fit to be shown."""

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
    """The rail has no list of what it paid, or did not return all of it now; the text says which."""


class NotSigned(Exception):
    """A confirmation that the rail did not sign, or whose signature could not be verified now."""


@dataclass(frozen=True, slots=True)
class RailEvent:
    """What a rail told us by itself, its signature verified.

    `id` is the rail's and the same when it tells us twice. `key` is ours, None when the event does not carry it;
    `references` then say which transfer it is.
    """

    id: str
    key: str | None
    references: Mapping[str, str]
    answer: Answer


class Rail(Protocol):
    """Moves money by one method. Calls the outside: never inside a transaction.

    `key_lasts` is how long the other side promises to take a repeated key for the same transfer. `finds_by_key` says
    whether a look-up works with the key alone; without it a look-up needs what the rail said before. `books` names the
    account that pays: a rail with other books knows none of the keys, and what it does not find may well be paid.
    """

    method: Method
    key_lasts: timedelta
    finds_by_key: bool
    books: str

    def send(self, transfer: Transfer) -> Answer:
        """Ask for the transfer. The same key again, while `key_lasts`, is the same transfer and never a second one.

        Never raises for what the other side does. Raises RailMisconfigured and KeyTaken.
        """

    def look_up(self, transfer: Transfer) -> Answer:
        """Say what became of the transfer; moves nothing. Raises RailMisconfigured and KeyTaken."""

    def list_since(self, since: datetime) -> Iterator[RailTransfer]:
        """Return the transfers of ours that were made at that time or later, in any order.

        Raises CannotList and RailMisconfigured, also after some were returned: what came before is then not all.
        """

    def parse_event(self, headers: Mapping[str, str], body: bytes) -> RailEvent | None:
        """Return what a confirmation says; None when the rail signed it and it is not about a transfer of ours.

        `headers` must be found by any case, as Flask's are. Raises NotSigned and RailMisconfigured.
        """


def resolve(rail: Rail, transfer: Transfer, *, age: timedelta, books: str | None = None) -> Answer:
    """Find out what became of a transfer whose answer was Unknown; `age` is since it was first sent to `books`.

    Asks by look-up. Where that finds nothing, or cannot find by key, the same key is sent again as long as the other
    side surely still knows it; after that, and where the rail has other books now, the answer stays NotFound or
    Unknown and is an operator's to settle. `books` None: they were not written down.
    """
    found = rail.look_up(transfer)
    cannot_tell = isinstance(found, NotFound) or (isinstance(found, Unknown) and _is_blind(rail, transfer))
    may_ask = cannot_tell and books in (None, rail.books) and age < rail.key_lasts * 3 / 4
    return rail.send(replace(transfer, is_repeat=True)) if may_ask else found


def _is_blind(rail: Rail, transfer: Transfer) -> bool:
    return not rail.finds_by_key and not transfer.known


def unknown(why: str, transfer: Transfer) -> Unknown:
    """Return Unknown and leave a line in the log, without whom the money is for."""
    said = shown(why, transfer)
    _log.warning("rail.unknown", rail=transfer.destination.method, key=transfer.key, why=said)
    return Unknown(said)


def shown(text: object, transfer: Transfer | None = None) -> str:
    """Return the other side's words in one short line, without the account they may quote."""
    line = _UNPRINTABLE.sub(" ", str(text)).strip()
    account = transfer.destination.account if transfer else ""
    if account:
        line = re.sub(re.escape(account), destinations.mask(account), line, flags=re.IGNORECASE)
    return line[:_MESSAGE_CHARACTERS]


def books(url: str, *account: str) -> str:
    """Name the books of an account at a service, without what it is reached by."""
    return f"{url} {hashlib.sha256(chr(0).join(account).encode()).hexdigest()[:16]}"


def code(text: object, default: str) -> str:
    """Return a code of theirs in our letters: lower case, a-z, 0-9 and underscore."""
    found = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_") if isinstance(text, str) else ""
    return found[:_CODE_CHARACTERS] or default

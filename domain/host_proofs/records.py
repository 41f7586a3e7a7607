"""The DNS records that prove a host name, and what a reading of DNS comes to.

A CNAME that leads to the service proves a name, and so does a TXT record that names its holder. A TXT record that names
somebody else shuts the CNAME out: many brands lead to one service, and it says which of them is meant. Addresses prove
nothing: behind a host that thousands share, everybody has them.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

#: The label in front of the name whose holder a TXT record names.
LABEL = "_finderfee"

_MARK = "finderfee-verify="
_LONGEST_SHOWN = 120
_MOST_SHOWN = 4


class ReplyKind(StrEnum):
    """What name servers say to one question. The last two say nothing about the name."""

    Found = "Found"
    Empty = "Empty"
    NoName = "NoName"
    Failed = "Failed"
    Silent = "Silent"


class LookOutcome(StrEnum):
    """What a look at DNS comes to. Taken: it is proved, and somebody else has proved it before."""

    Proved = "Proved"
    Missing = "Missing"
    Silent = "Silent"
    Taken = "Taken"


class ProofKind(StrEnum):
    """What proves a name: a record, or the word of whoever runs the service."""

    Cname = "CNAME"
    Txt = "TXT"
    Operator = "Operator"


@dataclass(frozen=True, slots=True)
class DnsReply:
    """The values of the records of one kind, host names in lower case without a dot at the end."""

    kind: ReplyKind
    values: tuple[str, ...] = ()

    @property
    def is_definite(self) -> bool:
        """Whether somebody who knows has answered."""
        return self.kind not in (ReplyKind.Failed, ReplyKind.Silent)


@dataclass(frozen=True, slots=True)
class DnsReading:
    """What was read of a name: the names that its CNAME records lead through, what the last of them said to the
    question for one more, the addresses of a name that has no CNAME, and its TXT records below LABEL.

    Where a TXT record names the holder, also all addresses of the name and of the service's own host: else Silent.
    """

    chain: tuple[str, ...]
    end: DnsReply
    addresses: DnsReply
    texts: DnsReply
    all_addresses: DnsReply = DnsReply(ReplyKind.Silent)
    own_addresses: DnsReply = DnsReply(ReplyKind.Silent)


@dataclass(frozen=True, slots=True)
class WantedProof:
    """What a name is looked through for. `target` is the service's own host, None where it has no name."""

    name: str
    target: str | None
    text: str

    @property
    def text_name(self) -> str:
        """Where the TXT record stands."""
        return f"{LABEL}.{self.name}"


@dataclass(frozen=True, slots=True)
class Sighting:
    """What was seen: the outcome, what proves the name (None: nothing), and the words for both places."""

    outcome: LookOutcome
    proved_by: ProofKind | None
    found_at_name: str
    found_in_text: str


def text_for(*, organization_id: UUID, holder_id: UUID, name: str) -> str:
    """Return the TXT record that names this holder, and no other, for this name.

    It is no secret: who can write it below a name decides about that name. `holder_id` is a program's id, or the
    organization's own for its tracking domain.
    """
    digest = hashlib.sha256(f"host proof {organization_id} {holder_id} {name}".encode()).hexdigest()
    return f"{_MARK}{digest[:32]}"


def judge(reading: DnsReading, wanted: WantedProof) -> Sighting:
    """Say what a reading of a name comes to. Silence of any server that could have proved it is silence."""
    texts = [_unquoted(text) for text in reading.texts.values]
    leads_here = wanted.target is not None and wanted.target in reading.chain
    proved_by: ProofKind | None = None
    if has_text(reading, wanted):
        outcome, proved_by = LookOutcome.Proved, ProofKind.Txt
    elif not reading.texts.is_definite:
        outcome = LookOutcome.Silent
    elif leads_here and not any(text.startswith(_MARK) for text in texts):
        outcome, proved_by = LookOutcome.Proved, ProofKind.Cname
    elif leads_here or reading.end.is_definite:
        outcome = LookOutcome.Missing
    else:
        outcome = LookOutcome.Silent
    return Sighting(outcome, proved_by, _at_name(reading), _in_text(reading.texts, texts, wanted.text))


def has_text(reading: DnsReading, wanted: WantedProof) -> bool:
    """Return whether a TXT record names the holder."""
    return wanted.text in map(_unquoted, reading.texts.values)


def leads_elsewhere(reading: DnsReading, wanted: WantedProof) -> bool:
    """Return whether it is certain that neither a CNAME nor an address record of the name leads to the service."""
    if wanted.target is None or wanted.target in reading.chain or not reading.end.is_definite:
        return False
    if reading.all_addresses.kind in (ReplyKind.Empty, ReplyKind.NoName):
        return True
    if reading.all_addresses.kind != ReplyKind.Found or reading.own_addresses.kind != ReplyKind.Found:
        return False
    return not set(reading.all_addresses.values) & set(reading.own_addresses.values)


def _at_name(reading: DnsReading) -> str:
    if reading.chain:
        said = f"CNAME {_shown(reading.chain, ' → ')}"
        return said if reading.end.is_definite else f"{said}; behind it {_no_records(reading.end)}"
    if reading.end.is_definite and reading.addresses.kind == ReplyKind.Found:
        return f"A {_shown(reading.addresses.values, ', ')}"
    return _no_records(reading.end)


def _in_text(reply: DnsReply, texts: Sequence[str], wanted: str) -> str:
    if reply.kind != ReplyKind.Found:
        return _no_records(reply)
    if wanted in texts:
        return f"TXT {wanted}"
    if any(text.startswith(_MARK) for text in texts):
        return f"TXT of another program or organization: {_shown([t for t in texts if t.startswith(_MARK)], ', ')}"
    return f"TXT {_shown(texts, ', ')}"


def _no_records(reply: DnsReply) -> str:
    if reply.kind == ReplyKind.Silent:
        return "DNS is silent: try again"
    if reply.kind == ReplyKind.Failed:
        return "DNS fails: try again, or ask whoever runs the name servers"
    return "no such name" if reply.kind == ReplyKind.NoName else "no record"


def _shown(values: Sequence[str], between: str) -> str:
    """Return values that anybody may have written, cut and without characters that do not print."""
    shown = ["".join(letter if letter.isprintable() else "?" for letter in value[:_LONGEST_SHOWN]) for value in values]
    return between.join(shown[:_MOST_SHOWN]) + (" …" if len(shown) > _MOST_SHOWN else "")


def _unquoted(text: str) -> str:
    # People copy the quotation marks of their provider's example along.
    return text.strip().strip('"').strip()

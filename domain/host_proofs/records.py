"""The DNS records that prove a host name, and the outcome of a lookup.

A CNAME that leads to the service proves a name, and so does a TXT record that names its holder. A TXT record that names
another holder overrides the CNAME, since many brands lead to one service. Addresses prove nothing, since thousands of
names can share a host.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

#: The label in front of the name whose holder a TXT record names.
LABEL = "_finderfee"

_MARK = "finderfee-verify="
_MAX_VALUE_CHARS = 120
_MAX_VALUES = 4


class ReplyKind(StrEnum):
    """The name servers' reply to one query. The last two say nothing about the name."""

    Found = "Found"
    Empty = "Empty"
    NoName = "NoName"
    Failed = "Failed"
    Silent = "Silent"


class CheckOutcome(StrEnum):
    """The outcome of a lookup. Taken: it is proved, but another holder has proved it before."""

    Proved = "Proved"
    Missing = "Missing"
    Silent = "Silent"
    Taken = "Taken"


class ProofKind(StrEnum):
    """The proof of a name: a record, or the operator's confirmation."""

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
        """Whether an authoritative reply was received."""
        return self.kind not in (ReplyKind.Failed, ReplyKind.Silent)


@dataclass(frozen=True, slots=True)
class DnsReading:
    """The DNS records of a name, as read.

    `chain` are the names that its CNAME records lead through, `end` the reply of the last of them to the query for a
    further CNAME, `addresses` those of a name without a CNAME, `texts` the TXT records below LABEL. Where a TXT record
    names the holder, also all addresses of the name and of the service's own host: else Silent.
    """

    chain: tuple[str, ...]
    end: DnsReply
    addresses: DnsReply
    texts: DnsReply
    all_addresses: DnsReply = DnsReply(ReplyKind.Silent)
    own_addresses: DnsReply = DnsReply(ReplyKind.Silent)


@dataclass(frozen=True, slots=True)
class ExpectedProof:
    """The records that would prove a name. `target` is the service's own host, None where it has no name."""

    name: str
    target: str | None
    text: str

    @property
    def text_name(self) -> str:
        """The name of the TXT record."""
        return f"{LABEL}.{self.name}"


@dataclass(frozen=True, slots=True)
class DnsCheckResult:
    """The outcome of a lookup, the proof of the name (None: none), and a description of the records at both names."""

    outcome: CheckOutcome
    proved_by: ProofKind | None
    found_at_name: str
    found_in_text: str


def text_for(*, organization_id: UUID, holder_id: UUID, name: str) -> str:
    """Return the TXT record that names this holder, and no other, for this name.

    It is not a secret: anyone who can publish it below a name controls that name. `holder_id` is a program's id, or the
    organization's for its tracking domain.
    """
    digest = hashlib.sha256(f"host proof {organization_id} {holder_id} {name}".encode()).hexdigest()
    return f"{_MARK}{digest[:32]}"


def check(reading: DnsReading, expected: ExpectedProof) -> DnsCheckResult:
    """Return the outcome of a lookup. It is Silent if any server that could have proved the name is silent."""
    texts = [_strip_quotes(text) for text in reading.texts.values]
    leads_here = expected.target is not None and expected.target in reading.chain
    proved_by: ProofKind | None = None
    if has_text(reading, expected):
        outcome, proved_by = CheckOutcome.Proved, ProofKind.Txt
    elif not reading.texts.is_definite:
        outcome = CheckOutcome.Silent
    elif leads_here and not any(text.startswith(_MARK) for text in texts):
        outcome, proved_by = CheckOutcome.Proved, ProofKind.Cname
    elif leads_here or reading.end.is_definite:
        outcome = CheckOutcome.Missing
    else:
        outcome = CheckOutcome.Silent
    return DnsCheckResult(
        outcome, proved_by, _describe_name(reading), _describe_texts(reading.texts, texts, expected.text)
    )


def has_text(reading: DnsReading, expected: ExpectedProof) -> bool:
    """Return whether a TXT record names the holder."""
    return expected.text in map(_strip_quotes, reading.texts.values)


def leads_elsewhere(reading: DnsReading, expected: ExpectedProof) -> bool:
    """Return whether it is certain that neither a CNAME nor an address record of the name leads to the service."""
    if expected.target is None or expected.target in reading.chain or not reading.end.is_definite:
        return False
    if reading.all_addresses.kind in (ReplyKind.Empty, ReplyKind.NoName):
        return True
    if reading.all_addresses.kind != ReplyKind.Found or reading.own_addresses.kind != ReplyKind.Found:
        return False
    return not set(reading.all_addresses.values) & set(reading.own_addresses.values)


def _describe_name(reading: DnsReading) -> str:
    if reading.chain:
        chain = f"CNAME {_join(reading.chain, ' → ')}"
        return chain if reading.end.is_definite else f"{chain}; behind it {_describe_missing(reading.end)}"
    if reading.end.is_definite and reading.addresses.kind == ReplyKind.Found:
        return f"A {_join(reading.addresses.values, ', ')}"
    return _describe_missing(reading.end)


def _describe_texts(reply: DnsReply, texts: Sequence[str], expected: str) -> str:
    if reply.kind != ReplyKind.Found:
        return _describe_missing(reply)
    if expected in texts:
        return f"TXT {expected}"
    if any(text.startswith(_MARK) for text in texts):
        return f"TXT of another program or organization: {_join([t for t in texts if t.startswith(_MARK)], ', ')}"
    return f"TXT {_join(texts, ', ')}"


def _describe_missing(reply: DnsReply) -> str:
    if reply.kind == ReplyKind.Silent:
        return "DNS is silent: try again"
    if reply.kind == ReplyKind.Failed:
        return "DNS fails: try again, or ask your DNS provider"
    return "no such name" if reply.kind == ReplyKind.NoName else "no record"


def _join(values: Sequence[str], separator: str) -> str:
    """Return untrusted values as one text, cut and without unprintable characters."""
    safe = ["".join(letter if letter.isprintable() else "?" for letter in value[:_MAX_VALUE_CHARS]) for value in values]
    return separator.join(safe[:_MAX_VALUES]) + (" …" if len(safe) > _MAX_VALUES else "")


def _strip_quotes(text: str) -> str:
    # People also copy the quotation marks of their provider's example.
    return text.strip().strip('"').strip()

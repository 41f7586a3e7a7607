"""Asks name servers what stands at a host name. Who owns the name decides what they say, and how long they take."""

import functools
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import NamedTuple

import dns.exception
import dns.name
import dns.nameserver
import dns.rdata
import dns.rdatatype
import dns.resolver

import settings
from domain.host_proofs import records
from domain.host_proofs.records import DnsReading, DnsReply, ExpectedProof, ReplyKind

#: How long a reading takes at most while somebody waits for it, and in a job, in seconds.
FOR_PEOPLE_S, FOR_JOBS_S = 3.0, 9.0
#: Each question has a third of that, in which a server that says nothing is asked twice.
_QUESTIONS, _TRIES = 3, 2
#: Through how many names a CNAME is followed; who leads further, or in a circle, leads nowhere.
_MOST_NAMES = 8
#: Readings at once that people wait for in one process: silent servers must not hold every thread.
_MOST_AT_ONCE = 3
_TURN_S = 0.25

_free = threading.BoundedSemaphore(_MOST_AT_ONCE)


class TooManyReadings(Exception):
    """As many names as may be are being read at the moment."""


@contextmanager
def turn() -> Iterator[None]:
    """Have one of the few turns of this process. Raises TooManyReadings."""
    if not _free.acquire(timeout=_TURN_S):
        raise TooManyReadings
    try:
        yield
    finally:
        _free.release()


def read(wanted: ExpectedProof, *, longest_s: float) -> DnsReading:
    """Read what stands at a host name and below it, within `longest_s` seconds. Never raises.

    The servers are those of DNS_SERVERS, else the machine's own; without any all of DNS is silent.
    """
    patience = _Patience(time.monotonic() + longest_s, longest_s / _QUESTIONS)
    texts = _ask(wanted.text_name, "TXT", patience)
    chain, end = _follow(wanted, patience)
    addresses = DnsReply(ReplyKind.Empty)
    if not chain and end.kind == ReplyKind.Empty:
        addresses = _addresses(wanted.name, patience)
    reading = DnsReading(chain, end, addresses, texts)
    return _with_addresses(reading, wanted, patience) if records.has_text(reading, wanted) else reading


class _Patience(NamedTuple):
    """Until when everything must be read, by the monotonic clock, and how long one question may take."""

    deadline: float
    question_s: float

    @property
    def left_s(self) -> float:
        return min(self.deadline - time.monotonic(), self.question_s)


def _follow(wanted: ExpectedProof, patience: _Patience) -> tuple[tuple[str, ...], DnsReply]:
    """Return the names behind a name, as far as the wanted one, and what the last of them said."""
    chain: list[str] = []
    while True:
        reply = _ask(chain[-1] if chain else wanted.name, "CNAME", patience)
        if reply.kind != ReplyKind.Found:
            return tuple(chain), reply
        target = reply.values[0]
        if target == wanted.name or target in chain or len(chain) == _MOST_NAMES:
            return tuple(chain), DnsReply(ReplyKind.Empty)
        chain.append(target)
        if target == wanted.target:
            return tuple(chain), DnsReply(ReplyKind.Empty)


def _addresses(name: str, patience: _Patience) -> DnsReply:
    replies = [_ask(name, kind, patience) for kind in ("A", "AAAA")]
    values = tuple(value for reply in replies for value in reply.values)
    return DnsReply(ReplyKind.Found, values) if values else replies[0]


def _with_addresses(reading: DnsReading, wanted: ExpectedProof, patience: _Patience) -> DnsReading:
    """Return a reading with all addresses of the name, behind its CNAME too, and of the service's own host."""
    if wanted.target is None or wanted.target in reading.chain:
        return reading
    addresses = _all_addresses((wanted.name, *reading.chain)[-1], patience)
    own = _all_addresses(wanted.target, patience)
    return replace(reading, all_addresses=addresses, own_addresses=own)


def _all_addresses(name: str, patience: _Patience) -> DnsReply:
    """Return the addresses of both families, or the first reply that leaves one of them unknown."""
    replies = [_ask(name, kind, patience) for kind in ("A", "AAAA")]
    unknown = next((reply for reply in replies if not reply.is_definite), None)
    values = tuple(value for reply in replies for value in reply.values)
    return unknown or (DnsReply(ReplyKind.Found, values) if values else replies[0])


def _ask(name: str, kind: str, patience: _Patience) -> DnsReply:
    resolver, left_s = _resolver(settings.current().web.dns_servers), patience.left_s
    if resolver is None or left_s <= 0:
        return DnsReply(ReplyKind.Silent)
    try:
        asked = dns.name.from_text(name)
    except dns.exception.DNSException:  # with the label in front it is longer than a name can be
        return DnsReply(ReplyKind.NoName)
    try:
        answer = resolver.resolve(asked, kind, lifetime=left_s, search=False, raise_on_no_answer=False)
    except dns.resolver.NXDOMAIN:
        return DnsReply(ReplyKind.NoName)
    except dns.exception.Timeout:
        return DnsReply(ReplyKind.Silent)
    except dns.exception.DNSException:  # the servers fail, refuse, or say what cannot be read
        return DnsReply(ReplyKind.Failed)
    if answer.rrset is None:
        return DnsReply(ReplyKind.Empty)
    return DnsReply(ReplyKind.Found, tuple(_value(record) for record in answer.rrset))


def _value(record: dns.rdata.Rdata) -> str:
    if record.rdtype == dns.rdatatype.TXT:
        # Several texts of one record are one text in parts.
        return b"".join(record.strings).decode("ascii", "replace")  # type: ignore[attr-defined]  # a TXT record
    return record.to_text().lower().removesuffix(".")


@functools.lru_cache(maxsize=4)
def _resolver(servers: tuple[tuple[str, int], ...]) -> dns.resolver.Resolver | None:
    try:
        resolver = dns.resolver.Resolver(configure=not servers)
    except dns.resolver.NoResolverConfiguration:
        return None
    resolver.timeout = FOR_PEOPLE_S / _QUESTIONS / _TRIES
    if servers:
        resolver.nameservers = [dns.nameserver.Do53Nameserver(address, port) for address, port in servers]
    return resolver

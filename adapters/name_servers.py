"""Reads the DNS records of a host name. Its owner controls the responses and how long they take."""

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

#: Time limits of a reading in a request and in a job, in seconds.
REQUEST_LIMIT_S, JOB_LIMIT_S = 3.0, 9.0
#: Each query has a third of that, in which a silent server is queried twice.
_QUERIES, _TRIES = 3, 2
#: The maximum length of a chain of CNAMEs; a longer or circular one counts as empty.
_MAX_NAMES = 8
#: Concurrent readings in requests, per process: silent servers must not block every thread.
_MAX_CONCURRENT = 3
_SLOT_WAIT_S = 0.25

_free = threading.BoundedSemaphore(_MAX_CONCURRENT)


class TooManyReadings(Exception):
    """The limit of concurrent readings is reached."""


@contextmanager
def reading_slot() -> Iterator[None]:
    """Acquire one of this process's reading slots. Raises TooManyReadings."""
    if not _free.acquire(timeout=_SLOT_WAIT_S):
        raise TooManyReadings
    try:
        yield
    finally:
        _free.release()


def read(proof: ExpectedProof, *, limit_s: float) -> DnsReading:
    """Read the records of a host name and of the text name below it, within `limit_s` seconds. Never raises.

    The servers are those of DNS_SERVERS, else the machine's own; without any the reply is Silent.
    """
    time_limit = _TimeLimit(time.monotonic() + limit_s, limit_s / _QUERIES)
    texts = _query(proof.text_name, "TXT", time_limit)
    chain, end = _follow_cnames(proof, time_limit)
    addresses = DnsReply(ReplyKind.Empty)
    if not chain and end.kind == ReplyKind.Empty:
        addresses = _query_addresses(proof.name, time_limit)
    reading = DnsReading(chain, end, addresses, texts)
    return _add_addresses(reading, proof, time_limit) if records.has_text(reading, proof) else reading


class _TimeLimit(NamedTuple):
    """The deadline of the reading, by the monotonic clock, and the time limit of one query."""

    deadline: float
    query_s: float

    @property
    def left_s(self) -> float:
        return min(self.deadline - time.monotonic(), self.query_s)


def _follow_cnames(proof: ExpectedProof, time_limit: _TimeLimit) -> tuple[tuple[str, ...], DnsReply]:
    """Return the CNAMEs of a name, up to the expected target, and the last reply."""
    chain: list[str] = []
    while True:
        reply = _query(chain[-1] if chain else proof.name, "CNAME", time_limit)
        if reply.kind != ReplyKind.Found:
            return tuple(chain), reply
        target = reply.values[0]
        if target == proof.name or target in chain or len(chain) == _MAX_NAMES:
            return tuple(chain), DnsReply(ReplyKind.Empty)
        chain.append(target)
        if target == proof.target:
            return tuple(chain), DnsReply(ReplyKind.Empty)


def _query_addresses(name: str, time_limit: _TimeLimit) -> DnsReply:
    replies = [_query(name, kind, time_limit) for kind in ("A", "AAAA")]
    values = tuple(value for reply in replies for value in reply.values)
    return DnsReply(ReplyKind.Found, values) if values else replies[0]


def _add_addresses(reading: DnsReading, proof: ExpectedProof, time_limit: _TimeLimit) -> DnsReading:
    """Return a reading with all addresses of the name, through its CNAMEs, and of the service's own host."""
    if proof.target is None or proof.target in reading.chain:
        return reading
    addresses = _query_all_addresses((proof.name, *reading.chain)[-1], time_limit)
    own = _query_all_addresses(proof.target, time_limit)
    return replace(reading, all_addresses=addresses, own_addresses=own)


def _query_all_addresses(name: str, time_limit: _TimeLimit) -> DnsReply:
    """Return the addresses of both families, or the first reply that is not definite."""
    replies = [_query(name, kind, time_limit) for kind in ("A", "AAAA")]
    unknown = next((reply for reply in replies if not reply.is_definite), None)
    values = tuple(value for reply in replies for value in reply.values)
    return unknown or (DnsReply(ReplyKind.Found, values) if values else replies[0])


def _query(name: str, kind: str, time_limit: _TimeLimit) -> DnsReply:
    resolver, left_s = _resolver(settings.current().web.dns_servers), time_limit.left_s
    if resolver is None or left_s <= 0:
        return DnsReply(ReplyKind.Silent)
    try:
        dns_name = dns.name.from_text(name)
    except dns.exception.DNSException:  # with the label in front the name is too long
        return DnsReply(ReplyKind.NoName)
    try:
        answer = resolver.resolve(dns_name, kind, lifetime=left_s, search=False, raise_on_no_answer=False)
    except dns.resolver.NXDOMAIN:
        return DnsReply(ReplyKind.NoName)
    except dns.exception.Timeout:
        return DnsReply(ReplyKind.Silent)
    except dns.exception.DNSException:  # the servers fail, refuse, or send an unreadable response
        return DnsReply(ReplyKind.Failed)
    if answer.rrset is None:
        return DnsReply(ReplyKind.Empty)
    return DnsReply(ReplyKind.Found, tuple(_value(record) for record in answer.rrset))


def _value(record: dns.rdata.Rdata) -> str:
    if record.rdtype == dns.rdatatype.TXT:
        # The strings of a TXT record are parts of one text.
        return b"".join(record.strings).decode("ascii", "replace")  # type: ignore[attr-defined]  # a TXT record
    return record.to_text().lower().removesuffix(".")


@functools.lru_cache(maxsize=4)
def _resolver(servers: tuple[tuple[str, int], ...]) -> dns.resolver.Resolver | None:
    try:
        resolver = dns.resolver.Resolver(configure=not servers)
    except dns.resolver.NoResolverConfiguration:
        return None
    resolver.timeout = REQUEST_LIMIT_S / _QUERIES / _TRIES
    if servers:
        resolver.nameservers = [dns.nameserver.Do53Nameserver(address, port) for address, port in servers]
    return resolver

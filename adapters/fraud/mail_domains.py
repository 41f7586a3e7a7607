"""Checks domains of mail addresses: whether they are disposable, and whether they accept mail.

Domains are given as written after the @, internationalized ones too.
"""

import functools
import threading
import time
from collections import OrderedDict
from collections.abc import Callable

import disposable_email_domains
import dns.exception
import dns.name
import dns.resolver

import settings

_LIFETIME_S = 2.0
_CACHE_SIZE = 10_000
_CACHE_S = 3600
#: A domain whose name servers did not respond is not queried again for this long; no domain is if the resolver is down.
_SILENCE_CACHE_S = 30
#: Time limit of the check that the resolver is up: it knows the root zone without other servers.
_PROBE_S = 1.0
#: Concurrent look-ups per process, and how long another one waits: silent domains must not block every thread.
_MAX_CONCURRENT = 4
_SLOT_WAIT_S = 0.25


class MailHosts:
    """Queries name servers whether domains accept mail, with a cache. `clock` is in seconds."""

    def __init__(self, resolver: dns.resolver.Resolver | None, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._resolver = resolver
        self._clock = clock
        self._lock = threading.Lock()
        self._cache: OrderedDict[str, tuple[bool | None, float]] = OrderedDict()  # answer and when it expires
        self._away_until = float("-inf")
        self._free = threading.BoundedSemaphore(_MAX_CONCURRENT)

    def has_mx(self, domain: str) -> bool | None:
        """Return whether a domain accepts mail; None without a response within two seconds."""
        name = _ascii(domain)
        if name is None:
            return False
        now = self._clock()
        with self._lock:
            answer, until = self._cache.get(name, (None, now))
            if now < until:
                self._cache.move_to_end(name)
                return answer
            if self._resolver is None or now < self._away_until:
                return None
        if not self._free.acquire(timeout=_SLOT_WAIT_S):
            return None
        try:
            return self._query_and_cache(self._resolver, name)
        finally:
            self._free.release()

    def _query_and_cache(self, resolver: dns.resolver.Resolver, name: str) -> bool | None:
        answer = _accepts_mail(resolver, name)
        # A domain's owner can make its name servers silent; that must not affect other domains.
        is_unreachable = answer is None and not _is_resolver_up(resolver)
        now = self._clock()
        with self._lock:
            if is_unreachable:
                self._away_until = now + _SILENCE_CACHE_S
            self._cache[name] = (answer, now + (_SILENCE_CACHE_S if answer is None else _CACHE_S))
            self._cache.move_to_end(name)
            while len(self._cache) > _CACHE_SIZE:
                self._cache.popitem(last=False)
        return answer


def is_disposable(domain: str) -> bool:
    """Return whether a domain, or a parent of it, provides disposable addresses. Never raises."""
    name = _ascii(domain)
    if name is None:
        return False
    labels = name.split(".")
    return any(".".join(labels[start:]) in disposable_email_domains.blocklist for start in range(len(labels) - 1))


def has_mx(domain: str) -> bool | None:
    """Return whether a domain accepts mail: it has an MX or an address record (RFC 5321, section 5.1).

    False for a domain that does not exist, refuses all mail (RFC 7505) or is invalid. None if its name servers do not
    respond within two seconds, too many look-ups are in progress, or FRAUD_DNS is off. Responses are cached for an
    hour, missing ones for half a minute, during which a resolver that is down is not queried either. Never raises.
    """
    return _mail_hosts().has_mx(domain)


@functools.cache
def _mail_hosts() -> MailHosts:
    return MailHosts(build_resolver(settings.current().fraud.dns))


def build_resolver(chosen: str) -> dns.resolver.Resolver | None:
    """Return the resolver: None for `off`, the machine's own for `system`, or the one at `IP:PORT`."""
    if chosen == "off":
        return None
    try:
        resolver = dns.resolver.Resolver(configure=chosen == "system")
    except dns.resolver.NoResolverConfiguration:
        return None
    if chosen != "system":
        address, _, port = chosen.rpartition(":")
        resolver.nameservers, resolver.port = [address.strip("[]")], int(port)
    return resolver


def _accepts_mail(resolver: dns.resolver.Resolver, name: str) -> bool | None:
    deadline = time.monotonic() + _LIFETIME_S
    try:
        hosts = _query(resolver, name, "MX", deadline)
        if hosts is None:
            return False
        if hosts:
            return any(host.exchange != dns.name.root for host in hosts)  # type: ignore[attr-defined]  # an MX record
        return any(_query(resolver, name, kind, deadline) for kind in ("A", "AAAA"))
    except dns.exception.DNSException:
        return None


def _is_resolver_up(resolver: dns.resolver.Resolver) -> bool:
    try:
        resolver.resolve(dns.name.root, "NS", lifetime=_PROBE_S, search=False, raise_on_no_answer=False)
    except dns.exception.Timeout:
        return False
    except dns.exception.DNSException:  # it responds with a refusal or a failure
        return True
    return True


def _query(resolver: dns.resolver.Resolver, name: str, kind: str, deadline: float) -> list[object] | None:
    """Return the records of a kind, [] for a name without them, None for a name that does not exist.

    Raises DNSException without a response in time.
    """
    left_s = deadline - time.monotonic()
    if left_s <= 0:
        raise dns.resolver.LifetimeTimeout(timeout=_LIFETIME_S, errors=[])
    try:
        return list(resolver.resolve(name, kind, lifetime=left_s, search=False, raise_on_no_answer=False).rrset or ())
    except dns.resolver.NXDOMAIN:
        return None


def _ascii(domain: str) -> str | None:
    """Return a domain in ASCII form, None for an invalid one."""
    try:
        name = dns.name.from_text(domain.strip().rstrip("."), idna_codec=dns.name.IDNA_2003)
        text = name.to_text(omit_final_dot=True).lower()
    except (dns.exception.DNSException, UnicodeError):
        return None
    return text if "." in text.strip(".") and "\\" not in text else None

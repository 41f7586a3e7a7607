"""What is known about the domain of a mail address: whether it is made to be thrown away, and whether it takes mail.

Domains come as they are written behind the @, also with letters of other scripts.
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
_KEPT = 10_000
_KEPT_S = 3600
#: A domain whose name servers were silent is not asked for again for this long; no domain is, where nobody answers.
_SILENCE_KEPT_S = 30
#: How long the resolver has to show that it is there: it knows the root without asking anybody.
_PROBE_S = 1.0
#: Look-ups at once in one process, and how long another waits for its turn: silent domains must not hold every thread.
_MOST_AT_ONCE = 4
_TURN_S = 0.25


class MailHosts:
    """Asks name servers whether domains take mail, and remembers for a while. `clock` is in seconds."""

    def __init__(self, resolver: dns.resolver.Resolver | None, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._resolver = resolver
        self._clock = clock
        self._lock = threading.Lock()
        self._known: OrderedDict[str, tuple[bool | None, float]] = OrderedDict()  # answer and when it is forgotten
        self._away_until = float("-inf")
        self._free = threading.BoundedSemaphore(_MOST_AT_ONCE)

    def has_mx(self, domain: str) -> bool | None:
        """Return whether a domain takes mail; None when nobody says so within two seconds."""
        name = _ascii(domain)
        if name is None:
            return False
        now = self._clock()
        with self._lock:
            answer, until = self._known.get(name, (None, now))
            if now < until:
                self._known.move_to_end(name)
                return answer
            if self._resolver is None or now < self._away_until:
                return None
        if not self._free.acquire(timeout=_TURN_S):
            return None
        try:
            return self._asked(self._resolver, name)
        finally:
            self._free.release()

    def _asked(self, resolver: dns.resolver.Resolver, name: str) -> bool | None:
        answer = _takes_mail(resolver, name)
        # Who owns a domain can have its name servers be silent; that must say nothing about anybody else's domain.
        is_away = answer is None and not _is_there(resolver)
        now = self._clock()
        with self._lock:
            if is_away:
                self._away_until = now + _SILENCE_KEPT_S
            self._known[name] = (answer, now + (_SILENCE_KEPT_S if answer is None else _KEPT_S))
            self._known.move_to_end(name)
            while len(self._known) > _KEPT:
                self._known.popitem(last=False)
        return answer


def is_disposable(domain: str) -> bool:
    """Return whether a domain, or one above it, gives out addresses to be thrown away. Never raises."""
    name = _ascii(domain)
    if name is None:
        return False
    labels = name.split(".")
    return any(".".join(labels[start:]) in disposable_email_domains.blocklist for start in range(len(labels) - 1))


def has_mx(domain: str) -> bool | None:
    """Return whether a domain takes mail: it names a mail host, or has an address itself (RFC 5321, section 5.1).

    False for a domain that there is not, that refuses all mail (RFC 7505) or that cannot be a domain. None when its
    name servers do not answer within two seconds, too many others are waited for, or FRAUD_DNS is off. Answers are kept
    for an hour, silence for half a minute; a resolver that is silent itself is left alone as long. Never raises.
    """
    return _mail_hosts().has_mx(domain)


@functools.cache
def _mail_hosts() -> MailHosts:
    return MailHosts(resolver_of(settings.current().fraud.dns))


def resolver_of(chosen: str) -> dns.resolver.Resolver | None:
    """Return who is asked: nobody for `off`, the machine's name servers for `system`, or the one at `IP:PORT`."""
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


def _takes_mail(resolver: dns.resolver.Resolver, name: str) -> bool | None:
    deadline = time.monotonic() + _LIFETIME_S
    try:
        hosts = _ask(resolver, name, "MX", deadline)
        if hosts is None:
            return False
        if hosts:
            return any(host.exchange != dns.name.root for host in hosts)  # type: ignore[attr-defined]  # an MX record
        return any(_ask(resolver, name, kind, deadline) for kind in ("A", "AAAA"))
    except dns.exception.DNSException:
        return None


def _is_there(resolver: dns.resolver.Resolver) -> bool:
    try:
        resolver.resolve(dns.name.root, "NS", lifetime=_PROBE_S, search=False, raise_on_no_answer=False)
    except dns.exception.Timeout:
        return False
    except dns.exception.DNSException:  # it refuses or fails, and says so
        return True
    return True


def _ask(resolver: dns.resolver.Resolver, name: str, kind: str, deadline: float) -> list[object] | None:
    """Return the records of a kind, none for a name without them, None for a name that there is not.

    Raises DNSException when nobody answers in time.
    """
    left_s = deadline - time.monotonic()
    if left_s <= 0:
        raise dns.resolver.LifetimeTimeout(timeout=_LIFETIME_S, errors=[])
    try:
        return list(resolver.resolve(name, kind, lifetime=left_s, search=False, raise_on_no_answer=False).rrset or ())
    except dns.resolver.NXDOMAIN:
        return None


def _ascii(domain: str) -> str | None:
    """Return a domain in the form that name servers know, None for what cannot be one."""
    try:
        name = dns.name.from_text(domain.strip().rstrip("."), idna_codec=dns.name.IDNA_2003)
        text = name.to_text(omit_final_dot=True).lower()
    except (dns.exception.DNSException, UnicodeError):
        return None
    return text if "." in text.strip(".") and "\\" not in text else None

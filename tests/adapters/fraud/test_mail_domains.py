"""Detection of disposable domains and of domains that accept email."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from adapters.fraud import mail_domains
from adapters.fraud.mail_domains import MailHosts
from tests.support.outside.name_server import NameServer

_DISPOSABLE = "mailinator.com"
_PRODUCT_TIMEOUTS = {name: getattr(mail_domains, name) for name in ("_LIFETIME_S", "_PROBE_S")}


@pytest.fixture(autouse=True)
def long_timeouts(monkeypatch):
    """Use longer timeouts than the product, because a busy machine may respond late."""
    for name in _PRODUCT_TIMEOUTS:
        monkeypatch.setattr(mail_domains, name, 60.0)


@contextmanager
def _product_timeouts() -> Iterator[None]:
    """Use the product's timeouts."""
    with pytest.MonkeyPatch.context() as patch:
        for name, seconds in _PRODUCT_TIMEOUTS.items():
            patch.setattr(mail_domains, name, seconds)
        yield


@pytest.mark.parametrize(
    "domain", [_DISPOSABLE, "MailInator.COM", "mailinator.com.", "eu.mailinator.com", "a.b." + _DISPOSABLE]
)
def test_disposable_domain_includes_its_subdomains(domain):
    assert mail_domains.is_disposable(domain)


@pytest.mark.parametrize(
    "domain",
    ["example.com", "gmail.com", "not-mailinator.com", "mailinator.com.example.org", "com", "", ".", "..",
     "bücher.example", "a\0b.example", "x" * 64 + ".example", "\ud800.example", "mailinator.com" * 50],
)  # fmt: skip
def test_ordinary_or_malformed_domain_is_not_disposable(domain):
    assert mail_domains.is_disposable(domain) is False


@pytest.fixture
def server():
    server = NameServer()
    server.zone = {
        ("mail.example", "MX"): ["10 mx.mail.example."],
        ("two.example", "MX"): ["0 .", "10 mx.two.example."],
        ("refuses.example", "MX"): ["0 ."],
        ("refuses.example", "A"): ["192.0.2.1"],
        ("host.example", "A"): ["192.0.2.1"],
        ("six.example", "AAAA"): ["2001:db8::1"],
        ("empty.example", "TXT"): ['"nothing else"'],
        ("xn--bcher-kva.example", "MX"): ["10 mx.mail.example."],
    }
    yield server
    server.close()


@pytest.fixture
def hosts(server):
    return MailHosts(mail_domains.build_resolver(server.address))


@pytest.mark.parametrize(
    ("domain", "expected"),
    [
        ("mail.example", True),
        ("MAIL.Example.", True),
        ("two.example", True),
        ("refuses.example", False),
        ("host.example", True),
        ("six.example", True),
        ("empty.example", False),
        ("missing.example", False),
        ("bücher.example", True),
    ],
)
def test_domain_accepts_mail_by_mx_or_address_record(hosts, domain, expected):
    assert hosts.has_mx(domain) is expected


@pytest.mark.parametrize(
    "domain", ["", ".", "localhost", "a..example", "x" * 64 + ".example", "a\0.example", "\ud800.example"]
)
def test_malformed_domain_accepts_no_mail_and_is_not_queried(hosts, server, domain):
    assert hosts.has_mx(domain) is False
    assert server.queries == []


def test_result_is_cached_for_an_hour(server):
    now = [0.0]
    hosts = MailHosts(mail_domains.build_resolver(server.address), clock=lambda: now[0])

    hosts.has_mx("mail.example")
    now[0] = 3599
    hosts.has_mx("Mail.example")
    queries = len(server.queries)
    now[0] = 3601
    hosts.has_mx("mail.example")

    assert (queries, len(server.queries)) == (1, 2)


def test_server_failure_is_inconclusive(hosts, server):
    server.broken = {"mail.example"}

    assert hosts.has_mx("mail.example") is None


def test_silent_server_is_inconclusive_and_not_retried_at_once(server):
    now = [0.0]
    hosts = MailHosts(mail_domains.build_resolver(server.address), clock=lambda: now[0])
    server.silent = {"quiet.example"}
    started = time.monotonic()

    with _product_timeouts():
        result = hosts.has_mx("quiet.example")
    took_s, query_count = time.monotonic() - started, len(server.queries)
    cached_result, new_queries = hosts.has_mx("quiet.example"), len(server.queries) - query_count
    now[0], server.silent = 31, set()
    server.zone["quiet.example", "MX"] = ["10 mx.quiet.example."]
    later_result = hosts.has_mx("quiet.example")

    assert (result, cached_result, new_queries, later_result) == (None, None, 0, True)
    assert took_s > 1.5


def test_silent_domain_does_not_affect_others(hosts, server):
    server.silent = {"quiet.example"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mail_domains, "_LIFETIME_S", _PRODUCT_TIMEOUTS["_LIFETIME_S"])
        results = [hosts.has_mx("quiet.example")]

    results += [hosts.has_mx(domain) for domain in ("mail.example", "missing.example")]

    assert results == [None, True, False]


def test_second_query_does_not_wait_for_an_unreachable_server(server):
    now = [0.0]
    hosts = MailHosts(mail_domains.build_resolver(server.address), clock=lambda: now[0])
    server.silent = {"quiet.example", "."}

    with _product_timeouts():
        first = hosts.has_mx("quiet.example")
    query_count = len(server.queries)
    meanwhile_result = hosts.has_mx("mail.example")
    asked_meanwhile = len(server.queries) - query_count
    now[0] = 31

    assert (first, meanwhile_result, asked_meanwhile) == (None, None, 0)
    assert hosts.has_mx("mail.example") is True


def test_silent_domains_occupy_a_limited_number_of_threads(hosts, server):
    quiet = [f"quiet-{number}.example" for number in range(8)]
    server.silent = set(quiet)
    with ThreadPoolExecutor(4) as threads:
        futures = [threads.submit(hosts.has_mx, domain) for domain in quiet[:4]]
        while len(asked_first := {name for name, _ in server.queries}) < 4:
            time.sleep(0.01)
        results = [hosts.has_mx(domain) for domain in quiet[4:]]
        asked_meanwhile = {name for name, _ in server.queries} - asked_first
        server.silent = set()

    assert (results, asked_meanwhile) == ([None] * 4, set())
    assert [future.result() for future in futures] == [False] * 4  # once the server responds again


def test_cache_size_is_limited(hosts, server, monkeypatch):
    monkeypatch.setattr(mail_domains, "_CACHE_SIZE", 2)
    for domain in ("mail.example", "host.example", "mail.example", "missing.example"):
        hosts.has_mx(domain)
    server.queries.clear()

    assert (hosts.has_mx("mail.example"), server.queries) == (True, [])
    assert (hosts.has_mx("host.example"), len(server.queries)) == (True, 2)


def test_disabled_resolver_is_inconclusive():
    assert MailHosts(mail_domains.build_resolver("off")).has_mx("mail.example") is None


def test_name_server_may_have_an_ipv6_address():
    resolver = mail_domains.build_resolver("[::1]:5353")

    assert resolver is not None
    assert (resolver.nameservers, resolver.port) == (["::1"], 5353)

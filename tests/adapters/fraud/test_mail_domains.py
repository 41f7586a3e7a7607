"""Whether domains are made to be thrown away, and whether they take mail."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from adapters.fraud import mail_domains
from adapters.fraud.mail_domains import MailHosts
from tests.support.outside.name_server import NameServer

_DISPOSABLE = "mailinator.com"
_USUAL = {name: getattr(mail_domains, name) for name in ("_LIFETIME_S", "_PROBE_S")}


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """Wait longer than the product does for a server that answers: a busy machine is no silence."""
    for name in _USUAL:
        monkeypatch.setattr(mail_domains, name, 60.0)


@contextmanager
def _giving_up() -> Iterator[None]:
    """Wait as long as the product does."""
    with pytest.MonkeyPatch.context() as patch:
        for name, seconds in _USUAL.items():
            patch.setattr(mail_domains, name, seconds)
        yield


@pytest.mark.parametrize(
    "domain", [_DISPOSABLE, "MailInator.COM", "mailinator.com.", "eu.mailinator.com", "a.b." + _DISPOSABLE]
)
def test_a_domain_that_is_thrown_away_is_known_also_below_it(domain):
    assert mail_domains.is_disposable(domain)


@pytest.mark.parametrize(
    "domain",
    ["example.com", "gmail.com", "not-mailinator.com", "mailinator.com.example.org", "com", "", ".", "..",
     "bücher.example", "a\0b.example", "x" * 64 + ".example", "\ud800.example", "mailinator.com" * 50],
)  # fmt: skip
def test_other_domains_are_not(domain):
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
def test_a_domain_takes_mail_by_its_mail_host_or_its_own_address(hosts, domain, expected):
    assert hosts.has_mx(domain) is expected


@pytest.mark.parametrize(
    "domain", ["", ".", "localhost", "a..example", "x" * 64 + ".example", "a\0.example", "\ud800.example"]
)
def test_what_cannot_be_a_domain_takes_none_and_is_not_asked_for(hosts, server, domain):
    assert hosts.has_mx(domain) is False
    assert server.asked == []


def test_an_answer_is_kept_for_an_hour(server):
    now = [0.0]
    hosts = MailHosts(mail_domains.build_resolver(server.address), clock=lambda: now[0])

    hosts.has_mx("mail.example")
    now[0] = 3599
    hosts.has_mx("Mail.example")
    kept = len(server.asked)
    now[0] = 3601
    hosts.has_mx("mail.example")

    assert (kept, len(server.asked)) == (1, 2)


def test_a_server_that_says_it_failed_says_nothing(hosts, server):
    server.broken = {"mail.example"}

    assert hosts.has_mx("mail.example") is None


def test_silence_says_nothing_after_two_seconds_and_is_not_waited_for_again_at_once(server):
    now = [0.0]
    hosts = MailHosts(mail_domains.build_resolver(server.address), clock=lambda: now[0])
    server.silent = {"quiet.example"}
    started = time.monotonic()

    with _giving_up():
        first = hosts.has_mx("quiet.example")
    took_s, asked = time.monotonic() - started, len(server.asked)
    again, asked_again = hosts.has_mx("quiet.example"), len(server.asked) - asked
    now[0], server.silent = 31, set()
    server.zone["quiet.example", "MX"] = ["10 mx.quiet.example."]
    later = hosts.has_mx("quiet.example")

    assert (first, again, asked_again, later) == (None, None, 0, True)
    assert took_s > 1.5


def test_a_silent_domain_says_nothing_about_others(hosts, server):
    server.silent = {"quiet.example"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mail_domains, "_LIFETIME_S", _USUAL["_LIFETIME_S"])
        said = [hosts.has_mx("quiet.example")]

    said += [hosts.has_mx(domain) for domain in ("mail.example", "missing.example")]

    assert said == [None, True, False]


def test_where_nobody_answers_at_all_nobody_is_waited_for(server):
    now = [0.0]
    hosts = MailHosts(mail_domains.build_resolver(server.address), clock=lambda: now[0])
    server.silent = {"quiet.example", "."}

    with _giving_up():
        first = hosts.has_mx("quiet.example")
    asked = len(server.asked)
    meanwhile = hosts.has_mx("mail.example")
    asked_meanwhile = len(server.asked) - asked
    now[0] = 31

    assert (first, meanwhile, asked_meanwhile) == (None, None, 0)
    assert hosts.has_mx("mail.example") is True


def test_silent_domains_hold_a_few_threads_and_no_more(hosts, server):
    quiet = [f"quiet-{number}.example" for number in range(8)]
    server.silent = set(quiet)
    with ThreadPoolExecutor(4) as threads:
        waiting = [threads.submit(hosts.has_mx, domain) for domain in quiet[:4]]
        while len(asked := {name for name, _ in server.asked}) < 4:
            time.sleep(0.01)
        said = [hosts.has_mx(domain) for domain in quiet[4:]]
        asked_meanwhile = {name for name, _ in server.asked} - asked
        server.silent = set()

    assert (said, asked_meanwhile) == ([None] * 4, set())
    assert [one.result() for one in waiting] == [False] * 4  # once somebody answers again


def test_no_more_than_some_answers_are_kept(hosts, server, monkeypatch):
    monkeypatch.setattr(mail_domains, "_CACHE_SIZE", 2)
    for domain in ("mail.example", "host.example", "mail.example", "missing.example"):
        hosts.has_mx(domain)
    server.asked.clear()

    assert (hosts.has_mx("mail.example"), server.asked) == (True, [])
    assert (hosts.has_mx("host.example"), len(server.asked)) == (True, 2)


def test_switched_off_nobody_is_asked():
    assert MailHosts(mail_domains.build_resolver("off")).has_mx("mail.example") is None


def test_a_server_at_an_ipv6_address_can_be_named():
    resolver = mail_domains.build_resolver("[::1]:5353")

    assert resolver is not None
    assert (resolver.nameservers, resolver.port) == (["::1"], 5353)

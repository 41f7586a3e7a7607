"""The hosts that may be called: vetted when an endpoint is created and again when it is called."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from adapters.safe_http import client as safe_http
from adapters.safe_http.addresses import UrlRefused
from adapters.safe_http.client import Client, Policy, ReceiverUnreachable
from tests.support.outside.raw_receivers import PlainReceiver, StartReceiver, post
from tests.support.threads import run_in_threads

PUBLIC = "93.184.216.34"

LITERALS = (
    *("127.0.0.1", "localhost", "2130706433", "0x7f.1", "0177.0.0.1", "127.1", "[::1]", "[::ffff:127.0.0.1]"),
    *("[64:ff9b::7f00:1]", "[2002:7f00:1::]", "100.64.0.1", "169.254.169.254", "192.0.0.8", "[fec0::1]"),
)


@pytest.mark.parametrize("host", LITERALS)
def test_non_public_host_is_refused_at_create_and_send(host: str, receive: StartReceiver) -> None:
    receiver = receive()
    policy = Policy(ports=frozenset({receiver.port}))
    url = f"https://{host}:{receiver.port}/"

    with pytest.raises(UrlRefused, match="url_not_allowed"):
        safe_http.check_url(url, policy)
    with pytest.raises(UrlRefused, match="url_not_allowed"):
        post(Client(policy), url)

    assert receiver.connections == 0


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("http://hook.test/", "https_required"),
        ("https://user:pw@hook.test/", "url_not_allowed"),
        ("https://hook.test:22/", "url_not_allowed"),
        ("hook.test", "invalid_url"),
    ],
)
def test_forbidden_url_is_refused_at_create_and_send(url: str, code: str, dns: list[list[str]]) -> None:
    dns.append([PUBLIC])

    with pytest.raises(UrlRefused, match=code):
        safe_http.check_url(url, Policy())
    with pytest.raises(UrlRefused, match=code):
        post(Client(Policy()), url)


@pytest.mark.parametrize("host", ["hook.test", "10.1.2.3", "localhost.test", "0.0.0.0", "[::]"])
def test_plain_http_to_other_hosts_is_refused_even_with_private_addresses_allowed(host: str, client: Client) -> None:
    with pytest.raises(UrlRefused, match="https_required"):
        post(client, f"http://{host}:5001/")


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "127.1"])
@pytest.mark.parametrize("policy", [Policy(), Policy(also_allow=frozenset({("127.0.0.1", 5001)}))])
def test_plain_http_is_refused_without_private_addresses_allowed(host: str, policy: Policy) -> None:
    with pytest.raises(UrlRefused, match="https_required"):
        safe_http.check_url(f"http://{host}:5001/", policy)
    with pytest.raises(UrlRefused, match="https_required"):
        post(Client(policy), f"http://{host}:5001/")


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
def test_plain_http_reaches_loopback_with_private_addresses_allowed(host: str, client: Client) -> None:
    with PlainReceiver() as receiver:
        answers = [post(client, f"http://{host}:{receiver.port}/a?b#c", bytes([n]) * 20_000) for n in range(2)]

    assert [(answer.status, answer.excerpt) for answer in answers] == [(200, "ok")] * 2
    assert receiver.connections == 1
    assert receiver.requests[0][0].split(b"\r\n")[:2] == [
        b"POST /a?b HTTP/1.1",
        f"Host: {host}:{receiver.port}".encode(),
    ]
    assert [body for _, body in receiver.requests] == [bytes(20_000), b"\x01" * 20_000]


def test_plain_http_is_refused_when_localhost_resolves_elsewhere(client: Client, dns: list[list[str]]) -> None:
    dns.append(["127.0.0.1", "10.1.2.3"])

    with pytest.raises(UrlRefused, match="https_required"):
        post(client, "http://localhost:5001/")


def test_plain_connection_is_never_reused_for_tls(client: Client, shorten_timeout: Callable[[], None]) -> None:
    with PlainReceiver() as receiver:
        post(client, f"http://localhost:{receiver.port}/")
        shorten_timeout()
        with pytest.raises(ReceiverUnreachable):
            post(client, f"https://localhost:{receiver.port}/")

        assert [head[:4] for head, _ in receiver.requests] == [b"POST"]


def test_host_that_became_private_after_create_gets_no_packet(dns: list[list[str]], receive: StartReceiver) -> None:
    receiver = receive()
    policy = Policy(ports=frozenset({receiver.port}))
    url = f"https://hook.test:{receiver.port}/"
    dns += [[PUBLIC], ["127.0.0.1"]]

    safe_http.check_url(url, policy)
    with pytest.raises(UrlRefused, match="url_not_allowed"):
        post(Client(policy), url)

    assert receiver.connections == 0


@pytest.mark.parametrize("resolved", [[PUBLIC, "127.0.0.1"], ["127.0.0.1", PUBLIC], [PUBLIC, "::1"], ["fd00::1"]])
def test_one_private_address_among_the_answers_is_refused(resolved: list[str], dns: list[list[str]]) -> None:
    dns.append(resolved)

    with pytest.raises(UrlRefused, match="url_not_allowed"):
        safe_http.check_url("https://hook.test/", Policy())
    with pytest.raises(UrlRefused, match="url_not_allowed"):
        post(Client(Policy()), "https://hook.test/")


def test_unresolvable_name_is_accepted_at_create_and_unreachable_at_send(dns: list[list[str]]) -> None:
    dns.append([])

    safe_http.check_url("https://hook.test/#part", Policy())
    with pytest.raises(ReceiverUnreachable, match="the host name does not resolve"):
        post(Client(Policy()), "https://hook.test/")


@pytest.fixture
def silent_dns(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """A name server that does not answer until the test ends; yields the list of the queried names."""
    queried: list[str] = []
    is_over, slots = threading.Event(), safe_http._early_slots
    resolve = socket.getaddrinfo

    def getaddrinfo(host: str, port: int, **options: int) -> list[object]:
        if not host.endswith(".test"):
            return list(resolve(host, port, **options))
        queried.append(host)
        is_over.wait(60)
        raise socket.gaierror(socket.EAI_AGAIN, "nobody answered")

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    yield queried
    is_over.set()
    with slots, slots:  # the pending queries have ended, so both slots are free for the next test
        pass


def test_silent_name_server_delays_few_callers_briefly(silent_dns: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(safe_http, "_EARLY_S", 3.0)
    before, started = threading.active_count(), time.monotonic()
    waited: list[float] = []

    def check(number: int) -> None:
        check_started = time.monotonic()
        safe_http.check_url(f"https://silent-{number}.test/", Policy())
        waited.append(time.monotonic() - check_started)

    run_in_threads(16, check)
    for number in range(1000):
        safe_http.check_url(f"https://more-{number}.test/", Policy())

    assert len(waited) == 16
    assert len(silent_dns) == 2
    assert sorted(waited)[13] < 2.9 <= sorted(waited)[14]
    assert threading.active_count() <= before + 2
    assert time.monotonic() - started < 50  # the thousand did not wait, and none waited for the name server's minute


def test_private_address_is_refused_while_dns_is_silent(silent_dns: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(safe_http, "_EARLY_S", 0.5)
    run_in_threads(4, lambda number: safe_http.check_url(f"https://silent-{number}.test/", Policy()))

    for host in ("127.0.0.1", "[::1]", "169.254.169.254"):
        with pytest.raises(UrlRefused, match="url_not_allowed"):
            safe_http.check_url(f"https://{host}/", Policy())


def test_names_are_queried_again_after_the_silence(silent_dns: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    slots = threading.BoundedSemaphore(1)
    monkeypatch.setattr(safe_http, "_early_slots", slots)
    with monkeypatch.context() as context:
        context.setattr(safe_http, "_EARLY_S", 0.01)
        context.setattr(socket, "getaddrinfo", lambda *_, **__: time.sleep(0.3))
        safe_http.check_url("https://silent.test/", Policy())
    with slots:  # the pending query has ended
        pass

    with pytest.raises(UrlRefused, match="url_not_allowed"):
        safe_http.check_url("https://localhost/", Policy())


def test_single_allowed_private_address_admits_no_other(
    tls_dir: Path, dns: list[list[str]], receive: StartReceiver
) -> None:
    receiver, neighbour = receive(), receive()
    place = ("127.0.0.1", receiver.port)
    client = Client(Policy(also_allow=frozenset({place}), ca_bundle=str(tls_dir / "ca.pem"), timeout_s=20))
    dns.append(["127.0.0.1"])

    assert post(client, f"https://127.0.0.1:{receiver.port}/hook").status == 200
    safe_http.check_url(f"https://127.0.0.1:{receiver.port}/hook", client._policy)
    for other_url in (
        f"https://127.0.0.1:{neighbour.port}/",
        f"https://127.0.0.2:{receiver.port}/",
        f"https://localhost:{receiver.port}/",
        f"https://hook.test:{receiver.port}/",
        "https://127.0.0.1/",
        "https://hook.test/",
    ):
        with pytest.raises(UrlRefused):
            post(client, other_url)
        with pytest.raises(UrlRefused):
            safe_http.check_url(other_url, client._policy)
    assert (len(receiver.requests), len(neighbour.requests)) == (1, 0)
    client.close()

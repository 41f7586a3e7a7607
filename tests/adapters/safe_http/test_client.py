"""Calls to customers' URLs, against receivers on loopback that behave well and badly; real sockets, real TLS."""

import datetime
import ipaddress
import os
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from itertools import takewhile
from pathlib import Path
from typing import BinaryIO

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from adapters.safe_http import addresses, idle_wires
from adapters.safe_http import client as safe_http
from adapters.safe_http.client import Client, Policy, Refused, Unreachable
from adapters.safe_http.wire import Wire

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
PUBLIC = "93.184.216.34"
Script = Callable[[ssl.SSLSocket, int, bytes], bool]  # answers request number n with this body; True keeps on
StartReceiver = Callable[..., "Receiver"]


def _name(common: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])


def _authority(folder: Path) -> None:
    """Write ca.pem, and leaf.pem for localhost, hook.test and 127.0.0.1."""
    now, ca_key, key = datetime.datetime.now(datetime.UTC), *(ec.generate_private_key(ec.SECP256R1()) for _ in "ab")
    day = datetime.timedelta(days=1)
    names = [x509.DNSName("localhost"), x509.DNSName("hook.test"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]

    def certificate(subject: str, public: ec.EllipticCurvePublicKey, extension: x509.ExtensionType) -> bytes:
        builder = x509.CertificateBuilder(_name("test ca"), _name(subject), public, x509.random_serial_number())
        builder = builder.not_valid_before(now - day).not_valid_after(now + day).add_extension(extension, False)
        return builder.sign(ca_key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)

    pem, pkcs8, plain = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    folder.joinpath("ca.pem").write_bytes(
        certificate("test ca", ca_key.public_key(), x509.BasicConstraints(True, None))
    )
    leaf = certificate("leaf", key.public_key(), x509.SubjectAlternativeName(names))
    folder.joinpath("leaf.pem").write_bytes(leaf + key.private_bytes(pem, pkcs8, plain))


class Receiver:
    """A TLS server on loopback; counts connections and keeps the requests as (head, body)."""

    def __init__(self, leaf: Path, script: Script, address: str = "127.0.0.1", port: int = 0) -> None:
        self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._tls.load_cert_chain(leaf)
        self._script = script
        self.listener = socket.create_server((address, port))
        self.port: int = self.listener.getsockname()[1]
        self.url = f"https://localhost:{self.port}/hook"
        self.connections = 0
        self.requests: list[tuple[bytes, bytes]] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                plain, _ = self.listener.accept()
                self.connections += 1
                threading.Thread(target=self._serve, args=(plain,), daemon=True).start()

    def _serve(self, plain: socket.socket) -> None:
        with (
            plain,
            suppress(OSError),
            self._tls.wrap_socket(plain, server_side=True) as conn,
            conn.makefile("rb") as stream,
        ):
            while head := _head(stream):
                length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
                body = stream.read(length)
                self.requests.append((head, body))
                if not self._script(conn, len(self.requests), body):
                    return


class Plain:
    """A server on loopback without TLS that answers `OK` while the block runs."""

    def __enter__(self) -> "Plain":
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.connections = 0
        self.requests: list[tuple[bytes, bytes]] = []
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                conn, _ = self._listener.accept()
                self.connections += 1
                threading.Thread(target=self._serve, args=(conn,), daemon=True).start()

    def _serve(self, conn: socket.socket) -> None:
        with conn, suppress(OSError), conn.makefile("rb") as stream:
            while (head := _head(stream)).startswith(b"POST"):
                length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
                self.requests.append((head, stream.read(length)))
                conn.sendall(OK)
            if head:
                conn.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")


def _head(stream: BinaryIO) -> bytes:
    lines = list(takewhile(lambda line: line not in (b"\r\n", b""), iter(stream.readline, None)))
    return b"".join(lines)


def answering(*pieces: bytes, keep: bool = True, pause_s: float = 0) -> Script:
    def script(conn: ssl.SSLSocket, number: int, body: bytes) -> bool:
        for piece in pieces:
            conn.sendall(piece)
            time.sleep(pause_s)
        return keep

    return script


def dribbling(head: bytes) -> Script:
    return answering(head, *[b"a"] * 60, pause_s=0.2)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tls")
    _authority(folder)
    return folder


@pytest.fixture
def receive(folder: Path) -> Iterator[StartReceiver]:
    started: list[Receiver] = []

    def start(script: Script = answering(OK), **where: str | int) -> Receiver:  # noqa: B008
        started.append(Receiver(folder / "leaf.pem", script, **where))  # type: ignore[arg-type]  # address, port
        return started[-1]

    yield start
    for receiver in started:
        receiver.listener.shutdown(socket.SHUT_RDWR)  # wakes the thread in accept()
        receiver.listener.close()


@pytest.fixture
def client(folder: Path) -> Iterator[Client]:
    client = Client(Policy(allow_private=True, ca_bundle=str(folder / "ca.pem"), timeout_s=1))
    yield client
    client.close()


@pytest.fixture
def dns(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Answers of DNS, one list of addresses per question; the last one repeats; an empty one is no answer."""
    answers: list[list[str]] = []

    def getaddrinfo(host: str, port: int, **_: object) -> list[object]:
        found = answers.pop(0) if len(answers) > 1 else answers[0]
        if not found:
            raise socket.gaierror(socket.EAI_NONAME, "unknown")
        family = {True: socket.AF_INET6, False: socket.AF_INET}
        return [(family[":" in address], socket.SOCK_STREAM, 6, "", (address, port)) for address in found]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    return answers


def post(client: Client, url: str, body: bytes = b"{}") -> safe_http.Answer:
    return client.post(url, body=body, headers={"Content-Type": "application/json"})


LITERALS = ["127.0.0.1", "localhost", "2130706433", "0x7f.1", "0177.0.0.1", "127.1", "[::1]", "[::ffff:127.0.0.1]"]
LITERALS += ["[64:ff9b::7f00:1]", "[2002:7f00:1::]", "100.64.0.1", "169.254.169.254", "192.0.0.8", "[fec0::1]"]


@pytest.mark.parametrize("host", LITERALS)
def test_host_that_is_not_public_is_refused_at_create_and_at_send(host: str, receive: StartReceiver) -> None:
    receiver = receive()
    policy = Policy(ports=frozenset({receiver.port}))
    url = f"https://{host}:{receiver.port}/"

    with pytest.raises(Refused, match="url_not_allowed"):
        safe_http.check_url(url, policy)
    with pytest.raises(Refused, match="url_not_allowed"):
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
def test_url_is_refused_at_create_and_at_send(url: str, code: str, dns: list[list[str]]) -> None:
    dns.append([PUBLIC])

    with pytest.raises(Refused, match=code):
        safe_http.check_url(url, Policy())
    with pytest.raises(Refused, match=code):
        post(Client(Policy()), url)


@pytest.mark.parametrize("host", ["hook.test", "10.1.2.3", "localhost.test", "0.0.0.0", "[::]"])
def test_plain_http_is_refused_elsewhere_even_where_private_addresses_are_allowed(host: str, client: Client) -> None:
    with pytest.raises(Refused, match="https_required"):
        post(client, f"http://{host}:5001/")


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "127.1"])
@pytest.mark.parametrize("policy", [Policy(), Policy(also_allow=frozenset({("127.0.0.1", 5001)}))])
def test_plain_http_is_refused_where_private_addresses_are_not_allowed(host: str, policy: Policy) -> None:
    with pytest.raises(Refused, match="https_required"):
        safe_http.check_url(f"http://{host}:5001/", policy)
    with pytest.raises(Refused, match="https_required"):
        post(Client(policy), f"http://{host}:5001/")


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
def test_plain_http_reaches_this_machine_where_private_addresses_are_allowed(host: str, client: Client) -> None:
    with Plain() as receiver:
        answers = [post(client, f"http://{host}:{receiver.port}/a?b#c", bytes([n]) * 20_000) for n in range(2)]

    assert [(answer.status, answer.excerpt) for answer in answers] == [(200, "ok")] * 2
    assert receiver.connections == 1
    assert receiver.requests[0][0].split(b"\r\n")[:2] == [
        b"POST /a?b HTTP/1.1",
        f"Host: {host}:{receiver.port}".encode(),
    ]
    assert [body for _, body in receiver.requests] == [bytes(20_000), b"\x01" * 20_000]


def test_plain_http_goes_nowhere_when_localhost_leads_elsewhere(client: Client, dns: list[list[str]]) -> None:
    dns.append(["127.0.0.1", "10.1.2.3"])

    with pytest.raises(Refused, match="https_required"):
        post(client, "http://localhost:5001/")


def test_a_connection_without_tls_is_never_taken_for_one_with_it(client: Client) -> None:
    with Plain() as receiver:
        post(client, f"http://localhost:{receiver.port}/")
        with pytest.raises(Unreachable):
            post(client, f"https://localhost:{receiver.port}/")

        assert [head[:4] for head, _ in receiver.requests] == [b"POST"]


def test_name_that_turns_private_after_create_gets_no_packet(dns: list[list[str]], receive: StartReceiver) -> None:
    receiver = receive()
    policy = Policy(ports=frozenset({receiver.port}))
    url = f"https://hook.test:{receiver.port}/"
    dns += [[PUBLIC], ["127.0.0.1"]]

    safe_http.check_url(url, policy)
    with pytest.raises(Refused, match="url_not_allowed"):
        post(Client(policy), url)

    assert receiver.connections == 0


@pytest.mark.parametrize("found", [[PUBLIC, "127.0.0.1"], ["127.0.0.1", PUBLIC], [PUBLIC, "::1"], ["fd00::1"]])
def test_one_private_address_among_the_answers_is_enough(found: list[str], dns: list[list[str]]) -> None:
    dns.append(found)

    with pytest.raises(Refused, match="url_not_allowed"):
        safe_http.check_url("https://hook.test/", Policy())
    with pytest.raises(Refused, match="url_not_allowed"):
        post(Client(Policy()), "https://hook.test/")


def test_name_without_dns_answer_is_accepted_at_create_and_unreachable_at_send(dns: list[list[str]]) -> None:
    dns.append([])

    safe_http.check_url("https://hook.test/#part", Policy())
    with pytest.raises(Unreachable, match="the host name does not resolve"):
        post(Client(Policy()), "https://hook.test/")


def test_dns_that_hangs_ends_at_the_deadline(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: time.sleep(3))

    _ends_at_deadline(client, "https://hook.test/")


@pytest.fixture
def silent_dns(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """A name server that never answers, until the test is over; the list has the names it was asked for."""
    asked: list[str] = []
    over = threading.Event()
    resolve = socket.getaddrinfo

    def getaddrinfo(host: str, port: int, **options: int) -> list[object]:
        if not host.endswith(".test"):
            return list(resolve(host, port, **options))
        asked.append(host)
        over.wait(60)
        raise socket.gaierror(socket.EAI_AGAIN, "nobody answered")

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    yield asked
    over.set()


def test_name_server_that_is_silent_is_waited_for_by_few_and_for_a_second(silent_dns: list[str]) -> None:
    before, started = threading.active_count(), time.monotonic()
    waited: list[float] = []

    def check(number: int) -> None:
        begun = time.monotonic()
        safe_http.check_url(f"https://silent-{number}.test/", Policy())
        waited.append(time.monotonic() - begun)

    _in_threads(16, check)
    for number in range(1000):
        safe_http.check_url(f"https://more-{number}.test/", Policy())

    assert len(waited) == 16
    assert len(silent_dns) == 2
    assert sorted(waited)[13] < 0.9 <= sorted(waited)[14]
    assert threading.active_count() <= before + 2
    assert time.monotonic() - started < 10


def test_private_address_is_refused_while_name_servers_are_silent(silent_dns: list[str]) -> None:
    _in_threads(4, lambda number: safe_http.check_url(f"https://silent-{number}.test/", Policy()))

    for host in ("127.0.0.1", "[::1]", "169.254.169.254"):
        with pytest.raises(Refused, match="url_not_allowed"):
            safe_http.check_url(f"https://{host}/", Policy())


def test_names_are_asked_for_again_once_the_silence_is_over(
    silent_dns: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(safe_http, "_askers", threading.BoundedSemaphore(1))
    with monkeypatch.context() as brief:
        brief.setattr(safe_http, "_EARLY_S", 0.01)
        brief.setattr(socket, "getaddrinfo", lambda *_, **__: time.sleep(0.3))
        safe_http.check_url("https://silent.test/", Policy())
    time.sleep(0.6)

    with pytest.raises(Refused, match="url_not_allowed"):
        safe_http.check_url("https://localhost/", Policy())


def test_request_goes_to_the_vetted_address_under_its_name(
    client: Client, dns: list[list[str]], receive: StartReceiver
) -> None:
    receiver = receive()
    dns += [["127.0.0.1"], []]  # a second question would fail

    answer = client.post(
        f"https://hook.test:{receiver.port}/a?b=c#d", body=bytes(range(256)) * 1000, headers={"X-Service-Event": "e"}
    )

    head, body = receiver.requests[0]
    assert (answer.status, answer.excerpt, answer.headers["CONTENT-length"]) == (200, "ok", "2")
    assert head.split(b"\r\n")[:2] == [b"POST /a?b=c HTTP/1.1", b"Host: hook.test:%d" % receiver.port]
    assert b"\r\nX-Service-Event: e\r\n" in head
    assert b"\r\nAccept-Encoding: identity\r\n" in head
    assert body == bytes(range(256)) * 1000


def test_next_address_is_tried_when_the_first_refuses(
    client: Client, dns: list[list[str]], receive: StartReceiver
) -> None:
    receiver = receive()
    dns.append(["127.0.0.9", "127.0.0.1"])

    assert post(client, f"https://hook.test:{receiver.port}/").status == 200


def test_redirect_is_an_answer_and_is_not_followed(client: Client, receive: StartReceiver) -> None:
    inner = receive()
    location = b"https://127.0.0.1:%d/" % inner.port
    outer = receive(answering(b"HTTP/1.1 301 Moved\r\nLocation: " + location + b"\r\nContent-Length: 0\r\n\r\n"))

    answer = post(client, outer.url)

    assert (answer.status, answer.headers["location"]) == (301, location.decode())
    assert inner.connections == 0


def test_proxies_and_netrc_of_the_environment_are_ignored(
    client: Client, receive: StartReceiver, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    proxy, receiver = receive(), receive(answering(b"HTTP/1.1 200 OK\r\nSet-Cookie: a=b\r\nContent-Length: 0\r\n\r\n"))
    for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
    tmp_path.joinpath("netrc").write_text("machine localhost login me password secret")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))

    post(client, receiver.url)
    post(client, receiver.url)

    assert (proxy.connections, len(receiver.requests)) == (0, 2)
    assert not any(b"authorization" in head.lower() or b"cookie" in head.lower() for head, _ in receiver.requests)


@pytest.mark.parametrize(
    ("raw", "status", "excerpt"),
    [
        (b"HTTP/1.1 204 No Content\r\n\r\n", 204, ""),
        (b"HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", 304, ""),
        (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + OK, 200, "ok"),
        (b"HTTP/1.1 200\nContent-Length: 2, 2\n\nok", 200, "ok"),
        (
            b"HTTP/1.1 500 Oops\r\nTransfer-Encoding: Chunked\r\n\r\n1;x=y\r\na\r\n2\r\nbc\r\n0\r\nT: v\r\n\r\n",
            500,
            "abc",
        ),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\na\x00\xff\xc3\xa9!", 200, "a\N{REPLACEMENT CHARACTER}\xe9!"),
        (
            b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n\x1f\x8b",
            200,
            "\x1f\N{REPLACEMENT CHARACTER}",
        ),
        (b"HTTP/1.1 400 No\r\nContent-Length: 1500\r\n\r\n" + b"\xe2\x82\xac" * 500, 400, "\N{EURO SIGN}" * 500),
        (b"HTTP/1.1 400 No\r\nContent-Length: 502\r\n\r\n" + b"b" * 502, 400, "b" * 500),
    ],
)
def test_answer_is_read_to_its_end_and_the_connection_kept(
    raw: bytes, status: int, excerpt: str, client: Client, receive: StartReceiver
) -> None:
    receiver = receive(answering(raw))

    answers = [post(client, receiver.url) for _ in range(2)]

    assert [(answer.status, answer.excerpt) for answer in answers] == [(status, excerpt)] * 2
    assert receiver.connections == 1


@pytest.mark.parametrize(
    "raw",
    [
        b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\nConnection: Close\r\nContent-Length: 2\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
        OK + b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nlies",
    ],
)
def test_connection_whose_end_of_answer_is_in_doubt_is_not_kept(
    raw: bytes, client: Client, receive: StartReceiver
) -> None:
    receiver = receive(answering(raw))

    assert [post(client, receiver.url).excerpt for _ in range(2)] == ["ok", "ok"]
    assert receiver.connections == 2


def test_connection_that_speaks_while_idle_is_not_used_again(client: Client, receive: StartReceiver) -> None:
    receiver = receive(answering(OK, b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nlies", pause_s=0.1))
    post(client, receiver.url)
    time.sleep(0.2)

    assert post(client, receiver.url).excerpt == "ok"
    assert receiver.connections == 2


def test_answer_that_ends_with_the_connection(client: Client, receive: StartReceiver) -> None:
    receiver = receive(answering(b"HTTP/1.1 200 OK\r\n\r\nok", keep=False))

    assert post(client, receiver.url).excerpt == "ok"


@pytest.mark.parametrize(
    "raw",
    [
        b"hello\r\n\r\n",
        b"HTTP/2 200\r\n\r\n",
        b"HTTP/1.1 20x OK\r\n\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nA: b\r\n folded\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nA: b\x00\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2, 3\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok!\r\n",
    ],
)
def test_malformed_answer_is_unreachable(raw: bytes, client: Client, receive: StartReceiver) -> None:
    receiver = receive(answering(raw))

    with pytest.raises(Unreachable) as unreachable:
        post(client, receiver.url)

    assert unreachable.value.reason == "the answer is not valid HTTP/1.1"


def test_endless_headers_are_cut(client: Client, receive: StartReceiver) -> None:
    receiver = receive(answering(b"HTTP/1.1 200 OK\r\n", *[b"A: " + b"b" * 1000 + b"\r\n"] * 100))

    with pytest.raises(Unreachable, match="headers are too large"):
        post(client, receiver.url)


@pytest.mark.parametrize(
    "sent", [b"", b"HTTP/1.1 200 OK\r\nContent-Le", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok"]
)
def test_connection_closed_too_early_is_unreachable_and_not_sent_twice(
    sent: bytes, client: Client, receive: StartReceiver
) -> None:
    receiver = receive(answering(sent, keep=False))

    with pytest.raises(Unreachable, match="closed before the answer was complete"):
        post(client, receiver.url)

    assert len(receiver.requests) == 1


def test_reset_after_headers_is_unreachable(client: Client, receive: StartReceiver) -> None:
    def reset(conn: ssl.SSLSocket, number: int, body: bytes) -> bool:
        conn.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n")
        time.sleep(0.1)
        conn.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        return False

    receiver = receive(reset)

    with pytest.raises(Unreachable, match=r"connection reset by peer|closed before the answer was complete"):
        post(client, receiver.url)


def _ends_at_deadline(client: Client, url: str, body: bytes = b"{}") -> None:
    started = time.monotonic()
    with pytest.raises(Unreachable, match="no complete answer within 1 s"):
        post(client, url, body)
    assert 0.9 < time.monotonic() - started < 10  # a busy machine is slow; a receiver without a deadline is not over


@pytest.mark.parametrize(
    "head",
    [b"H", b"HTTP/1.1 200 OK\r\nX-A: ", b"HTTP/1.1 200 OK\r\nContent-Length: 60\r\n\r\n", b"HTTP/1.1 200 OK\r\n\r\n"],
)
def test_slow_answer_ends_at_the_deadline(head: bytes, client: Client, receive: StartReceiver) -> None:
    _ends_at_deadline(client, receive(dribbling(head)).url)


def test_slow_body_of_a_kept_connection_ends_at_the_deadline(client: Client, receive: StartReceiver) -> None:
    def script(conn: ssl.SSLSocket, number: int, body: bytes) -> bool:
        first = answering(OK)
        return (first if number == 1 else dribbling(b"HTTP/1.1 200 OK\r\n\r\n"))(conn, number, body)

    receiver = receive(script)
    post(client, receiver.url)

    _ends_at_deadline(client, receiver.url)
    assert len(receiver.requests) == 2


def test_silent_receiver_ends_at_the_deadline(client: Client, receive: StartReceiver) -> None:
    _ends_at_deadline(client, receive(answering(b"", pause_s=2)).url)


@pytest.mark.parametrize("interval_s", [0.2, 5])
def test_slow_handshake_ends_at_the_deadline(interval_s: float, client: Client) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def dribble() -> None:
            with suppress(OSError):
                conn, _ = listener.accept()
                with conn:
                    for piece in b"\x16\x03\x03\x40\x00" + b"a" * 60:
                        conn.send(bytes([piece]))
                        time.sleep(interval_s)

        threading.Thread(target=dribble, daemon=True).start()

        _ends_at_deadline(client, f"https://localhost:{listener.getsockname()[1]}/")


def test_receiver_that_does_not_read_ends_at_the_deadline(client: Client, folder: Path) -> None:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(folder / "leaf.pem")
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def sip() -> None:
            with suppress(OSError), tls.wrap_socket(listener.accept()[0], server_side=True) as conn:
                while conn.recv(1000):
                    time.sleep(0.2)

        threading.Thread(target=sip, daemon=True).start()

        _ends_at_deadline(client, f"https://localhost:{listener.getsockname()[1]}/", bytes(50_000_000))


@pytest.mark.parametrize("framing", [b"Content-Length: 1073741824\r\n", b"Transfer-Encoding: chunked\r\n", b""])
def test_body_of_a_gigabyte_is_cut(framing: bytes, client: Client, receive: StartReceiver) -> None:
    sent = 0

    def flood(conn: ssl.SSLSocket, number: int, body: bytes) -> bool:
        nonlocal sent
        conn.sendall(b"HTTP/1.1 200 OK\r\n" + framing + b"\r\n")
        piece = b"2000\r\n" + b"b" * 8192 + b"\r\n" if b"chunked" in framing else b"b" * 8192
        while sent < 2**30:
            conn.sendall(piece)
            sent += len(piece)
        return False

    receiver = receive(flood)

    answer = post(client, receiver.url)

    assert (answer.status, answer.excerpt) == (200, "b" * 500)
    time.sleep(0.2)
    assert sent < 2**24


def test_certificate_of_an_unknown_authority_is_unreachable(receive: StartReceiver) -> None:
    receiver = receive()

    with pytest.raises(Unreachable, match="TLS certificate refused: unable to get local issuer certificate"):
        post(Client(Policy(allow_private=True)), receiver.url)

    assert receiver.requests == []


def test_certificate_of_another_name_is_unreachable(
    client: Client, dns: list[list[str]], receive: StartReceiver
) -> None:
    receiver = receive()
    dns.append(["127.0.0.1"])

    with pytest.raises(Unreachable, match="TLS certificate refused: Hostname mismatch"):
        post(client, f"https://other.test:{receiver.port}/")


def test_one_private_address_may_be_let_in_and_no_other_and_no_name_that_leads_there(
    folder: Path, dns: list[list[str]], receive: StartReceiver
) -> None:
    receiver, neighbour = receive(), receive()
    place = ("127.0.0.1", receiver.port)
    client = Client(Policy(also_allow=frozenset({place}), ca_bundle=str(folder / "ca.pem"), timeout_s=1))
    dns.append(["127.0.0.1"])

    assert post(client, f"https://127.0.0.1:{receiver.port}/hook").status == 200
    safe_http.check_url(f"https://127.0.0.1:{receiver.port}/hook", client._policy)
    for other in (
        f"https://127.0.0.1:{neighbour.port}/",
        f"https://127.0.0.2:{receiver.port}/",
        f"https://localhost:{receiver.port}/",
        f"https://hook.test:{receiver.port}/",
        "https://127.0.0.1/",
        "https://hook.test/",
    ):
        with pytest.raises(Refused):
            post(client, other)
        with pytest.raises(Refused):
            safe_http.check_url(other, client._policy)
    assert (len(receiver.requests), len(neighbour.requests)) == (1, 0)
    client.close()


def test_plain_text_receiver_and_closed_port_are_unreachable(client: Client) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]

        def speak_plainly() -> None:
            with listener.accept()[0] as conn:
                conn.send(OK)

        threading.Thread(target=speak_plainly, daemon=True).start()
        with pytest.raises(Unreachable, match=r"TLS failed: wrong version number|connection reset"):
            post(client, f"https://localhost:{port}/")

    with pytest.raises(Unreachable, match="connection refused"):
        post(client, f"https://localhost:{port}/")


def test_request_that_was_read_on_a_kept_connection_is_not_sent_again(client: Client, receive: StartReceiver) -> None:
    receiver = receive(lambda conn, number, body: number != 2 and answering(OK)(conn, number, body))
    post(client, receiver.url)

    with pytest.raises(Unreachable, match="closed before the answer was complete"):
        post(client, receiver.url, b"two")

    assert [body for _, body in receiver.requests] == [b"{}", b"two"]
    assert receiver.connections == 1


def test_kept_connection_that_breaks_before_a_byte_was_sent_is_replaced(
    client: Client, receive: StartReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    def reset_soon(conn: ssl.SSLSocket, number: int, body: bytes) -> bool:
        answering(OK, pause_s=0.2)(conn, number, body)
        if number == 1:
            conn.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        return number != 1

    receiver = receive(reset_soon)
    post(client, receiver.url)
    time.sleep(0.5)
    monkeypatch.setattr(Wire, "is_quiet", lambda wire: True)  # it broke just after it was looked at

    assert post(client, receiver.url, b"two").excerpt == "ok"

    assert [body for _, body in receiver.requests] == [b"{}", b"two"]
    assert receiver.connections == 2


def test_kept_connection_is_not_used_close_to_the_end_that_the_receiver_named(
    client: Client, receive: StartReceiver
) -> None:
    brief = OK.replace(b"\r\n\r\n", b"\r\nKeep-Alive: max=100, timeout=1\r\n\r\n")
    longer = brief.replace(b"timeout=1", b'TimeOut="60"')
    receiver = receive(lambda conn, number, body: answering(brief if number == 1 else longer)(conn, number, body))

    for _ in range(3):
        post(client, receiver.url)

    assert receiver.connections == 2


def test_connection_closed_while_idle_costs_no_second_request(client: Client, receive: StartReceiver) -> None:
    receiver = receive(answering(OK, keep=False))
    post(client, receiver.url)
    time.sleep(0.1)

    post(client, receiver.url)

    assert (receiver.connections, len(receiver.requests)) == (2, 2)


def test_idle_connection_is_not_used_beyond_its_age(
    client: Client, receive: StartReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    receiver = receive()
    monkeypatch.setattr(idle_wires, "_IDLE_S", 0)

    post(client, receiver.url)
    post(client, receiver.url)

    assert receiver.connections == 2


def test_kept_connection_is_vetted_again(
    folder: Path, dns: list[list[str]], receive: StartReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(safe_http, "_VETTED_S", 0)
    monkeypatch.setattr(addresses, "is_public", lambda address: address != "127.0.0.9")
    receiver = receive()
    moved = receive(address="127.0.0.2", port=receiver.port)
    url = f"https://hook.test:{receiver.port}/"
    policy = Policy(ports=frozenset({receiver.port}), ca_bundle=str(folder / "ca.pem"))
    dns += [["127.0.0.1"], ["127.0.0.1"], ["127.0.0.2"], ["127.0.0.2"], ["127.0.0.9"]]

    with closing(Client(policy)) as client:
        for _ in range(3):
            post(client, url)
        with pytest.raises(Refused, match="url_not_allowed"):
            post(client, url)

    assert (receiver.connections, len(receiver.requests)) == (1, 2)
    assert (moved.connections, len(moved.requests)) == (1, 1)


def test_idle_connections_are_bounded_in_all(
    client: Client, receive: StartReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(idle_wires, "_IDLE_IN_ALL", 1)
    older, newer = receive(), receive()

    for receiver in (older, newer, newer, older):
        post(client, receiver.url)

    assert (older.connections, newer.connections) == (2, 1)


def test_idle_connections_are_bounded_per_host(
    client: Client, receive: StartReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(idle_wires, "_IDLE_PER_HOST", 1)
    together = threading.Barrier(2)

    def script(conn: ssl.SSLSocket, number: int, body: bytes) -> bool:
        together.wait(5)
        return answering(OK)(conn, number, body)

    receiver = receive(script)

    _in_threads(2, lambda number: post(client, receiver.url))
    _in_threads(2, lambda number: post(client, receiver.url))

    assert receiver.connections == 3


def test_eight_threads_share_a_client(client: Client, receive: StartReceiver) -> None:
    def echo(conn: ssl.SSLSocket, number: int, body: bytes) -> bool:
        return answering(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)(conn, number, body)

    receiver = receive(echo)

    def call(number: int) -> None:
        for turn in range(25):
            assert post(client, receiver.url, b"%d-%d" % (number, turn)).excerpt == f"{number}-{turn}"

    _in_threads(8, call)

    assert len({body for _, body in receiver.requests}) == len(receiver.requests) == 200
    assert receiver.connections <= 8


def _in_threads(count: int, call: Callable[[int], object]) -> None:
    failures: list[BaseException] = []

    def run(number: int) -> None:
        try:
            call(number)
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_closed_client_opens_new_connections(client: Client, receive: StartReceiver) -> None:
    receiver = receive()

    post(client, receiver.url)
    client.close()
    post(client, receiver.url)

    assert receiver.connections == 2


def test_forked_process_opens_connections_of_its_own(client: Client, receive: StartReceiver) -> None:
    receiver = receive()
    post(client, receiver.url)

    child = os.fork()
    if child == 0:
        os._exit(0 if post(client, receiver.url).status == 200 else 1)
    _, code = os.waitpid(child, 0)
    connections_with_child = receiver.connections
    post(client, receiver.url)

    assert (code, connections_with_child) == (0, 2)
    assert (receiver.connections, len(receiver.requests)) == (2, 3)


@pytest.mark.parametrize(
    ("name", "value"), [("X-A", "b\r\nX-C: d"), ("X A", "b"), ("Host", "x"), ("content-length", "1")]
)
def test_header_that_would_break_the_request_is_a_mistake_of_the_caller(name: str, value: str, client: Client) -> None:
    with pytest.raises(ValueError, match="cannot be sent"):
        client.post("https://localhost/", body=b"", headers={name: value})

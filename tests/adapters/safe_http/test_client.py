"""Calls to customers' URLs on loopback receivers that are well-behaved or faulty; real sockets, real TLS."""

import socket
import threading
from contextlib import closing
from pathlib import Path

import pytest

from adapters.safe_http.client import Client, Policy, ReceiverUnreachable
from tests.support.outside.raw_receivers import OK, StartReceiver, answer_with, post
from tests.support.running import ports


def test_request_goes_to_the_vetted_address_under_its_name(
    client: Client, dns: list[list[str]], receive: StartReceiver
) -> None:
    receiver = receive()
    dns += [["127.0.0.1"], []]  # a second query would fail

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


def test_redirect_is_returned_and_not_followed(client: Client, receive: StartReceiver) -> None:
    inner = receive()
    location = b"https://127.0.0.1:%d/" % inner.port
    outer = receive(answer_with(b"HTTP/1.1 301 Moved\r\nLocation: " + location + b"\r\nContent-Length: 0\r\n\r\n"))

    answer = post(client, outer.url)

    assert (answer.status, answer.headers["location"]) == (301, location.decode())
    assert inner.connections == 0


def test_environment_proxies_and_netrc_are_ignored(
    client: Client, receive: StartReceiver, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    proxy, receiver = (
        receive(),
        receive(answer_with(b"HTTP/1.1 200 OK\r\nSet-Cookie: a=b\r\nContent-Length: 0\r\n\r\n")),
    )
    for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
    tmp_path.joinpath("netrc").write_text("machine localhost login me password secret")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))

    post(client, receiver.url)
    post(client, receiver.url)

    assert (proxy.connections, len(receiver.requests)) == (0, 2)
    assert not any(b"authorization" in head.lower() or b"cookie" in head.lower() for head, _ in receiver.requests)


def test_certificate_of_an_unknown_authority_is_unreachable(receive: StartReceiver) -> None:
    receiver = receive()

    with pytest.raises(ReceiverUnreachable, match="TLS certificate refused: unable to get local issuer certificate"):
        post(Client(Policy(allow_private=True)), receiver.url)

    assert receiver.requests == []


def test_certificate_of_another_name_is_unreachable(
    client: Client, dns: list[list[str]], receive: StartReceiver
) -> None:
    receiver = receive()
    dns.append(["127.0.0.1"])

    with pytest.raises(ReceiverUnreachable, match="TLS certificate refused: Hostname mismatch"):
        post(client, f"https://other.test:{receiver.port}/")


def test_plain_text_receiver_and_closed_port_are_unreachable(client: Client) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]

        def speak_plainly() -> None:
            with listener.accept()[0] as conn:
                conn.send(OK)

        threading.Thread(target=speak_plainly, daemon=True).start()
        with pytest.raises(ReceiverUnreachable, match=r"TLS failed: wrong version number|connection reset"):
            post(client, f"https://localhost:{port}/")

    with closing(ports.hold_port()) as closed_port, pytest.raises(ReceiverUnreachable, match="connection refused"):
        post(client, f"https://localhost:{ports.port_number(closed_port)}/")


@pytest.mark.parametrize(
    ("name", "value"), [("X-A", "b\r\nX-C: d"), ("X A", "b"), ("Host", "x"), ("content-length", "1")]
)
def test_invalid_header_raises_value_error(name: str, value: str, client: Client) -> None:
    with pytest.raises(ValueError, match="cannot be sent"):
        client.post("https://localhost/", body=b"", headers={name: value})

"""A request whose client closes the connection ends at its next check; one whose client waits is answered."""

import json
import socket
from contextlib import closing

import pytest

from api.server.connection import BufferedSocket
from tests.support.installation.raw_web import read_response, read_until

_PREVIEWS = ("/api/v1/affiliates/import/preview", "/api/v1/conversions/import/preview")


@pytest.fixture
def socket_pair():
    server_end, client_end = socket.socketpair()
    with closing(server_end), closing(client_end):
        yield server_end, client_end


def test_waiting_client_has_not_left(socket_pair):
    server_end, client_end = socket_pair
    buffered = BufferedSocket(server_end)

    assert not buffered.has_client_left()
    client_end.sendall(b"the next request")
    assert not buffered.has_client_left()


def test_closed_client_has_left_even_with_unread_bytes(socket_pair):
    server_end, client_end = socket_pair
    client_end.sendall(b"the next request")
    client_end.close()

    assert BufferedSocket(server_end).has_client_left()


@pytest.mark.parametrize("path", _PREVIEWS)
def test_import_preview_ends_when_the_client_leaves(web, brand, path):
    # The client closes only its own half, so it can still read the response.
    with web.socket() as connected:
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 1)  # the end travels with the last byte
        connected.sendall(_request(brand, path))
        connected.shutdown(socket.SHUT_WR)

        assert read_until(connected, b"\r\n").startswith(b"HTTP/1.1 499")


@pytest.mark.parametrize("path", _PREVIEWS)
def test_import_preview_is_answered_while_the_client_waits(web, brand, path):
    with web.socket(_request(brand, path)) as connected:
        assert read_response(connected)[0] == 200


def _request(brand, path):
    header = "email" if "affiliates" in path else "affiliateEmail,amountCents,commissionCents,currency,occurredAt"
    row = "ann@example.com" if "affiliates" in path else "ann@example.com,1,1,USD,2024-01-31"
    body = json.dumps({"programId": str(brand.program()), "file": f"{header}\n{row}\n"}).encode()
    head = (
        f"POST {path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {brand.api_key}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body

"""Misbehaving receivers: how they are handled, and that deliveries are retried (tracking spec, section 6)."""

import socket
import struct
import time

import pytest

from tests.support.endpoints import Endpoint
from tests.support.outside.delivery_timeouts import short_delivery_timeout
from tests.support.outside.receiver import hang, status


def _sell(endpoint, drain):
    assert endpoint.brand.sale().status_code == 200
    drain()


def _retry(endpoint, drain):
    endpoint.make_deliveries_due()
    drain()


def _state(endpoint):
    (row,) = endpoint.deliveries("d.status, attempt_count, response_status, settled_at is not null")
    return row


def _reset(handler):
    """Send half a response, then reset the connection."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
    handler.wfile.flush()
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.connection.close()
    handler.close_connection = True


def _drip(handler):
    """Send one byte after the other without end."""
    handler.close_connection = True
    try:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        for _ in range(1000):
            handler.wfile.write(b"x")
            time.sleep(0.1)
    except OSError:
        return


def _flood(code):
    """Announce and send a gigabyte."""

    def answer(handler):
        handler.close_connection = True
        try:
            handler.wfile.write(f"HTTP/1.1 {code} OK\r\nContent-Length: 1073741824\r\n\r\n".encode())
            for _ in range(16_384):
                handler.wfile.write(b"y" * 65_536)
                handler.server.owner.flooded = getattr(handler.server.owner, "flooded", 0) + 65_536
        except OSError:
            return

    return answer


@pytest.mark.parametrize("script", [hang(60), _drip], ids=["silence", "a byte at a time"])
def test_slow_response_is_abandoned(endpoint, receiver, drain, script):
    receiver.answers = [script]
    with short_delivery_timeout():
        _sell(endpoint, drain)
    receiver.answers = [status(200)]  # for the next request, even if the first did not reach its script

    assert _state(endpoint) == ("Pending", 1, None, False)
    assert endpoint.deliveries("failure_reason") == [("no complete response within 2 s",)]
    _retry(endpoint, drain)
    assert _state(endpoint) == ("Delivered", 2, 200, True)


@pytest.mark.parametrize(("code", "expected"), [(200, "Delivered"), (500, "Pending")])
def test_gigabyte_response_is_truncated_and_judged_by_its_status(endpoint, receiver, drain, code, expected):
    receiver.answers = [_flood(code)]

    _sell(endpoint, drain)

    assert _state(endpoint)[:3] == (expected, 1, code)
    assert endpoint.deliveries("response_excerpt") == [("y" * 500,)]
    assert getattr(receiver, "flooded", 0) < 50_000_000


def test_broken_connection_is_a_failure(endpoint, receiver, drain):
    receiver.answers = [_reset, status(200)]

    _sell(endpoint, drain)

    assert _state(endpoint) == ("Pending", 1, None, False)
    assert endpoint.deliveries("failure_reason is not null") == [(True,)]
    _retry(endpoint, drain)
    assert _state(endpoint) == ("Delivered", 2, 200, True)


def test_invalid_http_is_a_failure(endpoint, receiver, drain):
    def babble(handler):
        handler.wfile.write(b"220 mail.example ESMTP\r\n\r\n")
        handler.close_connection = True

    receiver.answers = [babble]

    _sell(endpoint, drain)

    assert _state(endpoint) == ("Pending", 1, None, False)


@pytest.mark.parametrize(
    "url", ["http://10.0.0.1:{port}/hook", "https://u:p@localhost:{port}/hook", "ftp://localhost:{port}/hook", "/hook"]
)
def test_forbidden_url_gets_no_packet(brand, receiver, drain, url):
    brand.program()
    brand.affiliate("ben")
    endpoint = Endpoint.create(brand, url.format(port=receiver.url.split(":")[2].split("/")[0]))

    _sell(endpoint, drain)

    assert receiver.received == []
    assert _state(endpoint) == ("Pending", 1, None, False)
    assert endpoint.deliveries("failure_reason is not null") == [(True,)]

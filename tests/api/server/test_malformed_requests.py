"""Raw sockets against the real web server: fragments, chunks and malformed requests."""

import json
import re

import pytest

from api.server.framing import MAX_CHUNKS
from tests.support.installation.raw_web import (
    CHUNKED_SALE_HEAD,
    HEALTH_REQUEST,
    PATIENCE_S,
    SALE_HEAD,
    is_closed_within,
    read_response,
    read_until,
)

_MALFORMED_CODINGS = (
    b"Transfer-Encoding: identity, chunked",
    b"Transfer-Encoding: identity",
    b"Transfer-Encoding: chunked, identity",
    b"Transfer-Encoding: chunked, chunked",
    b"Transfer-Encoding: gzip, chunked",
    b"Transfer-Encoding: identity\r\nTransfer-Encoding: chunked",
    b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
)


def _build_request_with_coding(coding):
    return b"POST /api/tracking/s2s HTTP/1.1\r\nHost: a\r\n" + coding + b"\r\n\r\n0\r\n\r\n"


def test_request_in_pieces_is_answered(web):
    with web.socket() as connected:
        for number in range(len(HEALTH_REQUEST)):
            connected.sendall(HEALTH_REQUEST[number : number + 1])

        assert read_response(connected)[0] == 200


def test_pipelined_requests_are_answered_in_order(web):
    with web.socket(HEALTH_REQUEST * 3) as connected:
        read = b""
        while read.count(b"HTTP/1.1 200 OK") < 3:
            read += connected.recv(65536)

    assert read.count(b"HTTP/1.1") == 3


def test_connection_serves_many_requests(web):
    with web.socket() as connected:
        for _ in range(20):
            connected.sendall(HEALTH_REQUEST)
            assert read_response(connected)[0] == 200


def test_expect_continue_gets_one_100_response(web):
    body = b"{}"
    with web.socket(SALE_HEAD % (len(body), b"Expect: 100-continue\r\n")) as connected:
        assert read_response(connected)[0] == 100
        connected.sendall(body)

        assert read_until(connected, b"\r\n\r\n").startswith(b"HTTP/1.1 401 ")


def test_body_with_a_zero_padded_length_is_not_a_request(web):
    body = b"GET /nowhere HTTP/1.1\r\nHost: a\r\n\r\n"
    length = str(len(body)).zfill(30).encode()
    head = b"GET /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: " + length + b"\r\n\r\n"
    last = HEALTH_REQUEST.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
    with web.socket(head + body + last) as connected:
        read = b"".join(iter(lambda: connected.recv(65536), b""))

    assert re.findall(rb"HTTP/1\.1 (\d+)", read) == [b"200", b"200"]


@pytest.mark.parametrize(
    ("request_bytes", "status", "code"),
    [
        (CHUNKED_SALE_HEAD + b"zz\r\nhello\r\n0\r\n\r\n", 400, "malformed_request"),
        (CHUNKED_SALE_HEAD + b"5\r\nhelloXX0\r\n\r\n", 400, "malformed_request"),
        (CHUNKED_SALE_HEAD + b"5\r\nhello\r\n0\r\nbad trailer\r\n\r\n", 400, "malformed_request"),
        (b"GET / HTTP/9.9\r\nHost: a\r\n\r\n", 400, "malformed_request"),
        (b"nonsense\r\n\r\n", 400, "malformed_request"),
        (b"POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n", 400, "malformed_request"),
        (b"POST /x HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", 400, "malformed_request"),
        (b"POST /x HTTP/1.1\r\nTransfer-Encoding: vapour\r\n\r\n", 501, "unsupported_transfer_coding"),
        (b"GET /healthz HTTP/1.1\r\n\r\n", 400, "malformed_request"),
        (b"GET /healthz HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 400, "malformed_request"),
        (b"GET /healthz HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n", 400, "malformed_request"),
        (b"GET /healthz HTTP/1.1\r\nHost: a b\r\n\r\n", 400, "malformed_request"),
        (b"GET /healthz HTTP/1.1\r\nHost: x@a\r\n\r\n", 400, "malformed_request"),
        (b"GET /healthz HTTP/1.1\r\nHost: a/b\r\n\r\n", 400, "malformed_request"),
        *((_build_request_with_coding(coding), 400, "malformed_request") for coding in _MALFORMED_CODINGS),
        (b"GET /" + b"x" * 9000 + b" HTTP/1.1\r\nHost: a\r\n\r\n", 414, "address_too_long"),
        (b"GET / HTTP/1.1\r\nX: " + b"x" * 9000 + b"\r\n\r\n", 431, "headers_too_large"),
        (b"GET / HTTP/1.1\r\nX: " + b"x" * 70_000, 431, "headers_too_large"),
        (SALE_HEAD % (10**12, b""), 413, "payload_too_large"),
        (SALE_HEAD % (10**12, b"Expect: 100-continue\r\n"), 413, "payload_too_large"),
    ],
)
def test_malformed_or_too_large_request_gets_one_error_and_a_closed_connection(web, request_bytes, status, code):
    with web.socket(request_bytes) as connected:
        answered, body = read_response(connected)

        assert (answered, json.loads(body)["error"]) == (status, code)
        assert is_closed_within(connected, PATIENCE_S)


def test_malformed_chunk_is_one_log_line(web):
    before = len(web.log_lines())

    web.status(CHUNKED_SALE_HEAD + b"zz\r\nhello\r\n0\r\n\r\n")

    events = [json.loads(line) for line in web.log_lines()[before:]]
    assert [(line["event"], line["status"]) for line in events] == [("request.malformed", 400)]


def test_refused_connections_are_counted(web):
    web.status(CHUNKED_SALE_HEAD + b"zz\r\n\r\n")

    assert b'finderfee_refused_connections_total{why="malformed_request"}' in web.metrics()


def test_chunked_body_is_read(web):
    head = b"POST /api/v1/track/click HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"

    assert web.status(head + b'9\r\n{"slug": \r\n9\r\n"nobody"}\r\n0\r\n\r\n') == 200


def test_body_of_too_many_chunks_is_refused_before_assembly(web):
    with web.socket(CHUNKED_SALE_HEAD + b"1\r\nx\r\n" * (MAX_CHUNKS + 1)) as connected:
        status, body = read_response(connected)

    assert (status, json.loads(body)["error"]) == (413, "payload_too_large")
    assert web.status() == 200

"""Detection of a complete request in fragmented bytes, consistent with the parser."""

import itertools

import pytest
from gunicorn.config import Config
from gunicorn.http import get_parser
from hypothesis import given
from hypothesis import strategies as st

from api.server.framing import MAX_BODY_BYTES, MAX_CHUNKS, MAX_HEAD_BYTES, RequestBytes

_PLAIN = b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"
_POST = b"POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello"
_CHUNKED = (
    b"POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"5\r\nhello\r\n6;name=value\r\n world\r\n0\r\n\r\n"
)
_WITH_TRAILER = _CHUNKED[:-2] + b"X-Checksum: 1\r\nX-Other: 2\r\n\r\n"
_WHOLE = (_PLAIN, _POST, _CHUNKED, _WITH_TRAILER)


def _request_from(*pieces: bytes) -> RequestBytes:
    message = RequestBytes()
    for piece in pieces:
        message.add(piece)
    return message


def _split_at(data: bytes, positions: list[int]) -> list[bytes]:
    edges = [0, *sorted(position % (len(data) + 1) for position in positions), len(data)]
    return [data[start:end] for start, end in itertools.pairwise(edges)]


def _parse(data: bytes) -> tuple[str, bytes]:
    request = next(get_parser(Config(), iter([data]), None))
    return request.uri, request.body.read()


@pytest.mark.parametrize("request_bytes", _WHOLE)
def test_request_is_complete_with_its_last_byte(request_bytes):
    message = RequestBytes()
    for number in range(len(request_bytes)):
        assert not message.is_whole
        message.add(request_bytes[number : number + 1])

    assert message.is_whole
    assert message.split() == (request_bytes, b"")


@given(st.sampled_from(_WHOLE), st.binary(max_size=40), st.lists(st.integers(min_value=0, max_value=400), max_size=6))
def test_fragmented_request_ends_where_the_next_begins(request_bytes, behind, positions):
    message = _request_from(*_split_at(request_bytes + behind, positions))

    assert message.is_whole
    assert message.split() == (request_bytes, behind)


@given(st.lists(st.binary(min_size=1, max_size=300), max_size=5), st.lists(st.integers(0, 2000), max_size=4))
def test_parser_reads_the_chunked_body_that_was_sent(chunks, positions):
    head = b"POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
    raw = head + b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks) + b"0\r\n\r\n"
    message = _request_from(*_split_at(raw, positions))

    assert message.is_whole
    assert _parse(message.split()[0]) == ("/x", b"".join(chunks))


@pytest.mark.parametrize("length", [b"", b"-1", b"+5", b"5, 5", b"0x5", b"1e1"])
def test_non_numeric_length_is_left_to_the_parser(length):
    assert _request_from(b"POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: " + length + b"\r\n\r\n").is_whole


@pytest.mark.parametrize("zeros", [1, 17, 18, 400])
def test_leading_zeros_do_not_turn_the_body_into_another_request(zeros):
    whole = _POST.replace(b"Length: 5", b"Length: " + b"0" * zeros + b"5")
    message = _request_from(whole[:-5])
    assert not message.is_whole

    message.add(whole[-5:] + _PLAIN)

    assert message.split() == (whole, _PLAIN)
    assert _parse(whole) == ("/x", b"hello")


@pytest.mark.parametrize("length", [b"9" * 19, b"9" * 5_000, b"0" * 30 + b"9" * 19])
def test_huge_length_is_too_large(length):
    assert _request_from(b"POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: " + length + b"\r\n\r\n").has_too_large_body


@pytest.mark.parametrize(
    "headers",
    [
        b"Content-Length: 5\r\nContent-Length: 6",
        b"Content-Length: 5\r\nTransfer-Encoding: chunked",
        b"Transfer-Encoding: chunked\r\nContent-Length: 5",
    ],
)
def test_conflicting_lengths_are_refused_by_the_parser(headers):
    whole = b"POST /x HTTP/1.1\r\nHost: a\r\n" + headers + b"\r\n\r\n"

    assert _request_from(whole).is_whole
    with pytest.raises(Exception, match="CONTENT-LENGTH"):
        _parse(whole)


@pytest.mark.parametrize(
    "body", [b"zz\r\nhello\r\n", b"-5\r\nhello\r\n", b"0x5\r\nhello\r\n", b"5_0\r\n", b"\r\n", b" 5\r\n", b"f" * 9000]
)
def test_malformed_chunk_completes_the_request(body):
    assert _request_from(_CHUNKED[: _CHUNKED.index(b"5\r\n")] + body).is_whole


def test_header_name_in_the_body_is_ignored():
    body = b"\r\nContent-Length: 500\r\n\r\n"
    message = _request_from(b"POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n" % len(body) + body)

    assert message.is_whole
    assert message.split()[1] == b""


def test_empty_line_before_a_request_is_skipped():
    assert _request_from(b"\r\n" + _PLAIN).split() == (_PLAIN, b"")


def test_body_over_the_limit_is_detected_from_its_length():
    head = b"POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n"

    assert _request_from(head % (MAX_BODY_BYTES + 1)).has_too_large_body
    assert not _request_from(head % MAX_BODY_BYTES).has_too_large_body


def test_chunked_body_over_the_limit_is_detected():
    head = b"POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
    chunk = b"100000\r\n" + b"x" * 0x100000 + b"\r\n"
    message = _request_from(head)
    for _ in range(MAX_BODY_BYTES // 0x100000):
        assert not message.has_too_large_body
        message.add(chunk)

    assert message.has_too_large_body


def test_body_with_too_many_chunks_is_detected():
    head = b"POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
    message = _request_from(head, b"1\r\nx\r\n" * MAX_CHUNKS)
    assert not message.has_too_many_chunks

    message.add(b"1\r\nx\r\n")

    assert message.has_too_many_chunks


def test_endless_head_is_detected():
    message = _request_from(b"GET / HTTP/1.1\r\n", b"X-Long: " + b"x" * MAX_HEAD_BYTES)

    assert message.has_too_large_head
    assert not message.is_whole


def test_expect_continue_is_detected():
    head = b"POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n"

    assert _request_from(head).expects_continue
    assert not _request_from(_POST).expects_continue

"""Answers to requests that never reach the application because they are late, too large or malformed."""

from dataclasses import dataclass

import orjson
from gunicorn.http import errors

from api.edge.errors import doc_url


@dataclass(frozen=True, slots=True)
class Refusal:
    """The refusal of a request. Its connection is closed, because the start of the next request is unknown."""

    status: int
    reason: str
    code: str
    message: str

    def answer(self) -> bytes:
        """Return the bytes of the answer, in the envelope of every other error."""
        body = orjson.dumps({"error": self.code, "message": self.message, "doc_url": doc_url(self.code)})
        head = (
            f"HTTP/1.1 {self.status} {self.reason}\r\nConnection: close\r\nContent-Type: application/json\r\n"
            f"Cache-Control: no-store\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        return head.encode() + body


LATE = Refusal(408, "Request Timeout", "request_timeout", "The request did not arrive in time. Send it again.")
BODY_TOO_LARGE = Refusal(
    413, "Content Too Large", "payload_too_large", "The request body is larger than this endpoint accepts."
)
TOO_MANY_CHUNKS = Refusal(
    413, "Content Too Large", "payload_too_large", "The request body has too many chunks. Send larger chunks."
)
HEAD_TOO_LARGE = Refusal(
    431, "Request Header Fields Too Large", "headers_too_large", "The headers of the request are too large."
)
FAILED = Refusal(
    500, "Internal Server Error", "server_error", "Something went wrong on our side. Repeat the same request."
)
_ADDRESS_TOO_LONG = Refusal(414, "URI Too Long", "address_too_long", "The address of the request is too long.")
_UNKNOWN_CODING = Refusal(
    501, "Not Implemented", "unsupported_transfer_coding", "The only supported transfer coding is chunked."
)
_UNKNOWN_EXPECTATION = Refusal(
    417, "Expectation Failed", "expectation_failed", "The only supported expectation is 100-continue."
)
_MALFORMED = Refusal(400, "Bad Request", "malformed_request", "The request is not well-formed HTTP.")

_KINDS: tuple[tuple[type[Exception], Refusal], ...] = (
    (errors.LimitRequestLine, _ADDRESS_TOO_LONG),
    (errors.LimitRequestHeaders, HEAD_TOO_LARGE),
    (errors.UnsupportedTransferCoding, _UNKNOWN_CODING),
    (errors.ExpectationFailed, _UNKNOWN_EXPECTATION),
    (errors.ParseException, _MALFORMED),
)


def find_refusal(error: Exception) -> Refusal | None:
    """Return the refusal for an error of the parser; None for an internal error."""
    return next((refusal for kind, refusal in _KINDS if isinstance(error, kind)), None)

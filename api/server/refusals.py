"""Answers to what never reaches the application: requests that are late, too large or malformed."""

from dataclasses import dataclass

import orjson
from gunicorn.http import errors


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request was not taken. Its connection is closed: where the next one would begin is not known."""

    status: int
    reason: str
    code: str
    message: str

    def answer(self) -> bytes:
        """Return the whole answer, in the envelope of every other error."""
        body = orjson.dumps({"error": self.code, "message": self.message})
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
    413, "Content Too Large", "payload_too_large", "The request body comes in too many chunks. Send larger ones."
)
HEAD_TOO_LARGE = Refusal(
    431, "Request Header Fields Too Large", "headers_too_large", "The headers of the request are too large."
)
FAILED = Refusal(
    500, "Internal Server Error", "server_error", "Something went wrong on our side. Repeat the same request."
)
_ADDRESS_TOO_LONG = Refusal(414, "URI Too Long", "address_too_long", "The address of the request is too long.")
_UNKNOWN_CODING = Refusal(
    501, "Not Implemented", "unsupported_transfer_coding", "Only the transfer coding chunked is understood."
)
_UNKNOWN_EXPECTATION = Refusal(
    417, "Expectation Failed", "expectation_failed", "Only the expectation 100-continue is understood."
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
    """Return the refusal of what the parser found malformed; None for an error that is our own."""
    return next((refusal for kind, refusal in _KINDS if isinstance(error, kind)), None)

"""One HTTP call to a service that we chose: no retry, redirect or proxy; an end to the waiting and to the reading."""

import time
import warnings
from collections.abc import Mapping

from adapters import absent
from adapters.tracing import spans

# Without what would guess the alphabet of a text, a megabyte and a half of each process: answers are read as bytes.
warnings.filterwarnings("ignore", message="Unable to find acceptable character detection dependency")
with absent("charset_normalizer", "chardet"):
    import requests as requests

_CONNECT_S = 5
_MAX_BYTES = 2 * 1024 * 1024
#: From the first packet to the last byte of the answer. Payment services are slow and must not be given up early.
WHOLE_CALL_S = 20.0


class NoAnswer(Exception):
    """No complete answer came; the request may have been carried out. The message holds no secret."""


def call(
    method: str,
    url: str,
    headers: Mapping[str, str],
    body: bytes | None,
    *,
    timeout_s: float = WHOLE_CALL_S,
    connect_s: float = _CONNECT_S,
) -> tuple[int, Mapping[str, str], bytes]:
    """Return status, headers (found by any case) and body of the answer, with any status. Raises NoAnswer."""
    deadline = time.monotonic() + timeout_s
    timeouts = (min(connect_s, timeout_s), timeout_s)
    sent = {**headers, "Accept-Encoding": "identity"}
    try:
        with spans.call("call to a service", method) as span, requests.Session() as session:
            session.trust_env = False
            asked = session.request(
                method, url, headers=sent, data=body, timeout=timeouts, allow_redirects=False, stream=True
            )
            with asked as answer:
                span.tell(status=answer.status_code)
                return answer.status_code, answer.headers, _read(answer, deadline)
    except NoAnswer:
        raise
    except requests.Timeout as error:
        raise NoAnswer("no answer in time") from error
    except Exception as error:  # requests, urllib3 and sockets each have their own
        raise NoAnswer(f"the connection failed: {type(error).__name__}") from error


def _read(answer: requests.Response, deadline: float) -> bytes:
    read = bytearray()
    while piece := answer.raw.read1(16384):
        read += piece
        if len(read) > _MAX_BYTES:
            raise NoAnswer("the answer is too long")
        if time.monotonic() > deadline:
            raise NoAnswer("the answer came too slowly")
    promised = answer.headers.get("Content-Length")
    if promised is not None and promised != str(len(read)):
        raise NoAnswer("the answer broke off")
    return bytes(read)

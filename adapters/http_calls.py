"""One HTTP call to a configured service: no retry, redirect or proxy, with limits of time and size."""

import time
import warnings
from collections.abc import Mapping

from adapters import without_packages
from adapters.tracing import spans

# Hides the packages that detect encodings, which take 1.5 MB per process: responses are read as bytes.
warnings.filterwarnings("ignore", message="Unable to find acceptable character detection dependency")
with without_packages("charset_normalizer", "chardet"):
    import requests as requests

_CONNECT_S = 5
_MAX_BYTES = 2 * 1024 * 1024
#: From the first packet to the last byte of the response. Payment services are slow and must not time out early.
WHOLE_CALL_S = 20.0


class NoAnswer(Exception):
    """There was no complete response; the request may have been executed. The message has no secret."""


def call(
    method: str,
    url: str,
    headers: Mapping[str, str],
    body: bytes | None,
    *,
    timeout_s: float = WHOLE_CALL_S,
    connect_s: float = _CONNECT_S,
) -> tuple[int, Mapping[str, str], bytes]:
    """Return status, headers (case-insensitive) and body of the response, with any status. Raises NoAnswer."""
    deadline = time.monotonic() + timeout_s
    timeouts = (min(connect_s, timeout_s), timeout_s)
    request_headers = {**headers, "Accept-Encoding": "identity"}
    try:
        with spans.call("call to a service", method) as span, requests.Session() as session:
            session.trust_env = False
            pending = session.request(
                method, url, headers=request_headers, data=body, timeout=timeouts, allow_redirects=False, stream=True
            )
            with pending as answer:
                span.set_attributes(status=answer.status_code)
                return answer.status_code, answer.headers, _read(answer, deadline)
    except NoAnswer:
        raise
    except requests.Timeout as error:
        raise NoAnswer("no response in time") from error
    except Exception as error:  # requests, urllib3 and sockets have different ones
        raise NoAnswer(f"the connection failed: {type(error).__name__}") from error


def _read(answer: requests.Response, deadline: float) -> bytes:
    content = bytearray()
    while piece := answer.raw.read1(16384):
        content += piece
        if len(content) > _MAX_BYTES:
            raise NoAnswer("the response is too long")
        if time.monotonic() > deadline:
            raise NoAnswer("the response was too slow")
    promised = answer.headers.get("Content-Length")
    if promised is not None and promised != str(len(content)):
        raise NoAnswer("the response was cut off")
    return bytes(content)

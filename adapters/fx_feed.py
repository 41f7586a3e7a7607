"""Fetches a file of reference rates from the operator's URL.

It follows no redirect, uses no proxy, netrc or cookie, and keeps limits of time and size.
"""

import threading
import time
from concurrent.futures import Future
from concurrent.futures import TimeoutError as CallTimeout

from adapters.http_calls import requests

#: Four times the size of a central bank's whole history.
MAX_BYTES = 32 * 1024**2
WHOLE_CALL_S = 60.0
_TIMEOUTS_S = (5, 15)  # to connect, and between two pieces of the answer
_PIECE_BYTES = 64 * 1024


class FeedUnavailable(Exception):
    """There was no usable response. The message has the reason, without the other side's text."""


def fetch(url: str, *, whole_call_s: float = WHOLE_CALL_S, max_bytes: int = MAX_BYTES) -> bytes:
    """Return the body of an http or https URL. Raises FeedUnavailable, within `whole_call_s`.

    Do not call inside a transaction.
    """
    if not url.lower().startswith(("https://", "http://")):
        raise FeedUnavailable("the URL is neither https nor http")
    answer: Future[bytes] = Future()
    deadline = time.monotonic() + whole_call_s

    def run() -> None:
        try:
            answer.set_result(_get(url, deadline, max_bytes))
        except Exception as error:  # raised to the caller by the future
            answer.set_exception(error)

    # A separate thread: a name server or slow response headers could exceed the time limit.
    threading.Thread(target=run, name="fx-feed", daemon=True).start()
    try:
        return answer.result(whole_call_s)
    except CallTimeout:
        raise FeedUnavailable(f"no complete response within {whole_call_s:g} s") from None
    except FeedUnavailable:
        raise
    except Exception as error:  # requests, urllib3 and sockets each raise their own
        raise FeedUnavailable(f"the call failed: {type(error).__name__}") from error


def _get(url: str, deadline: float, max_bytes: int) -> bytes:
    headers = {"Accept": "text/csv, application/xml, text/xml", "Accept-Encoding": "identity"}
    with requests.Session() as session:
        session.trust_env = False
        with session.get(url, headers=headers, timeout=_TIMEOUTS_S, allow_redirects=False, stream=True) as answer:
            if answer.status_code != 200:
                raise FeedUnavailable(f"it responded {answer.status_code}")
            content = bytearray()
            while len(content) <= max_bytes and (piece := answer.raw.read1(_PIECE_BYTES)):
                content += piece
                if time.monotonic() > deadline:
                    raise FeedUnavailable("it responds too slowly")
            if answer.raw.length_remaining:
                raise FeedUnavailable("the connection was closed before the response was complete")
    if len(content) > max_bytes:
        raise FeedUnavailable(f"its response is longer than {max_bytes} bytes")
    return bytes(content)

"""Fetches a file of reference rates from a host that the operator chose.

It follows no redirect, knows no proxy, netrc or cookie, and takes neither longer nor more than its limits.
"""

import threading
import time
from concurrent.futures import Future
from concurrent.futures import TimeoutError as Late

from adapters.http_calls import requests

#: The whole history of a central bank is a quarter of this.
MAX_BYTES = 32 * 1024**2
WHOLE_CALL_S = 60.0
_TIMEOUTS_S = (5, 15)  # to connect, and between two pieces of the answer
_PIECE_BYTES = 64 * 1024


class FeedAway(Exception):
    """No usable answer came. The message says what was wrong, without the other side's words."""


def fetch(url: str, *, whole_call_s: float = WHOLE_CALL_S, max_bytes: int = MAX_BYTES) -> bytes:
    """Return what an http or https URL answers. Raises FeedAway, within `whole_call_s`.

    Make no such call inside a transaction.
    """
    if not url.lower().startswith(("https://", "http://")):
        raise FeedAway("the address is neither https nor http")
    answer: Future[bytes] = Future()
    deadline = time.monotonic() + whole_call_s

    def run() -> None:
        try:
            answer.set_result(_get(url, deadline, max_bytes))
        except Exception as error:  # it belongs to who waits for the answer
            answer.set_exception(error)

    # A thread of its own: neither a name server nor a slow head ends in time.
    threading.Thread(target=run, name="fx-feed", daemon=True).start()
    try:
        return answer.result(whole_call_s)
    except Late:
        raise FeedAway(f"no complete answer within {whole_call_s:g} s") from None
    except FeedAway:
        raise
    except Exception as error:  # requests, urllib3 and sockets each have their own
        raise FeedAway(f"the call failed: {type(error).__name__}") from error


def _get(url: str, deadline: float, max_bytes: int) -> bytes:
    headers = {"Accept": "text/csv, application/xml, text/xml", "Accept-Encoding": "identity"}
    with requests.Session() as session:
        session.trust_env = False
        with session.get(url, headers=headers, timeout=_TIMEOUTS_S, allow_redirects=False, stream=True) as answer:
            if answer.status_code != 200:
                raise FeedAway(f"it answers {answer.status_code}")
            read = bytearray()
            while len(read) <= max_bytes and (piece := answer.raw.read1(_PIECE_BYTES)):
                read += piece
                if time.monotonic() > deadline:
                    raise FeedAway("it answers too slowly")
            if answer.raw.length_remaining:
                raise FeedAway("the connection was closed before the answer was complete")
    if len(read) > max_bytes:
        raise FeedAway(f"its answer is longer than {max_bytes} bytes")
    return bytes(read)

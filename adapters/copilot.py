"""Asks the model endpoint of the operator's choice, in the common shape of chat completions.

The operator chose the host, and it is often this machine, so it is asked plainly and not through the guard that keeps
customers' addresses out of our network (decision 38). It follows no redirect and knows no proxy.
"""

import threading
from concurrent.futures import Future
from concurrent.futures import TimeoutError as Late

import settings
from adapters import http_calls
from adapters.http_calls import NoAnswer
from domain.copilot.states import CopilotFailure

_PATH = "/chat/completions"


class ModelAway(Exception):
    """The endpoint gave no answer to read: `failure` says in which way, the message without its own words."""

    def __init__(self, failure: CopilotFailure, message: str) -> None:
        super().__init__(message)
        self.failure = failure


def is_configured() -> bool:
    """Say whether there is a model to ask."""
    return settings.current().copilot.url is not None


def complete(sent: bytes) -> bytes:
    """Return the body of the endpoint's answer to this body. Raises ModelAway, within COPILOT_TIMEOUT_S.

    Make no such call inside a transaction.
    """
    timeout_s = settings.current().copilot.timeout_s
    answer: Future[tuple[int, bytes]] = Future()

    def run() -> None:
        try:
            answer.set_result(_asked(sent, timeout_s))
        except Exception as error:  # it belongs to who waits for the answer
            answer.set_exception(error)

    # A thread of its own: neither a name server nor a slow head ends in time.
    threading.Thread(target=run, name="copilot", daemon=True).start()
    try:
        status, body = answer.result(timeout_s)
    except Late:
        raise ModelAway(CopilotFailure.Away, f"no complete answer within {timeout_s} s") from None
    except NoAnswer as error:
        raise ModelAway(CopilotFailure.Away, str(error)) from error
    if status == 200:
        return body
    if status == 429:
        raise ModelAway(CopilotFailure.Busy, "it answers 429")
    raise ModelAway(CopilotFailure.Away if status >= 500 else CopilotFailure.RefusesUs, f"it answers {status}")


def _asked(sent: bytes, timeout_s: float) -> tuple[int, bytes]:
    chosen = settings.current().copilot
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    if chosen.key is not None:
        headers["Authorization"] = f"Bearer {chosen.key}"
    status, _, body = http_calls.call("POST", f"{chosen.url}{_PATH}", headers, sent, timeout_s=timeout_s)
    return status, body

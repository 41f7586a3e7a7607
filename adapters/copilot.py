"""Calls the operator's model endpoint over the chat completions API.

The operator chose the host, which is often this machine, so it is called directly and not through the guard that keeps
customers' URLs out of the private network (decision 38). It follows no redirect and uses no proxy.
"""

import threading
from concurrent.futures import Future
from concurrent.futures import TimeoutError as CallTimeout

import settings
from adapters import http_calls
from adapters.http_calls import NoAnswer
from domain.copilot.states import CopilotFailure

_PATH = "/chat/completions"


class ModelUnavailable(Exception):
    """The endpoint gave no usable response. `failure` is the kind; the message contains no text of the endpoint."""

    def __init__(self, failure: CopilotFailure, message: str) -> None:
        super().__init__(message)
        self.failure = failure


def is_configured() -> bool:
    """Return whether a model endpoint is configured."""
    return settings.current().copilot.url is not None


def complete(body_sent: bytes) -> bytes:
    """Return the body of the endpoint's response to this body. Raises ModelUnavailable, within COPILOT_TIMEOUT_S.

    Make no such call inside a transaction.
    """
    timeout_s = settings.current().copilot.timeout_s
    response: Future[tuple[int, bytes]] = Future()

    def run() -> None:
        try:
            response.set_result(_request(body_sent, timeout_s))
        except Exception as error:  # raised to the caller by the future
            response.set_exception(error)

    # A separate thread: a name server or slow response headers could exceed the time limit.
    threading.Thread(target=run, name="copilot", daemon=True).start()
    try:
        status, body = response.result(timeout_s)
    except CallTimeout:
        raise ModelUnavailable(CopilotFailure.Away, f"no complete response within {timeout_s} s") from None
    except NoAnswer as error:
        raise ModelUnavailable(CopilotFailure.Away, str(error)) from error
    if status == 200:
        return body
    if status == 429:
        raise ModelUnavailable(CopilotFailure.Busy, "it responded 429")
    raise ModelUnavailable(CopilotFailure.Away if status >= 500 else CopilotFailure.RefusesUs, f"it responded {status}")


def _request(body_sent: bytes, timeout_s: float) -> tuple[int, bytes]:
    config = settings.current().copilot
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    if config.key is not None:
        headers["Authorization"] = f"Bearer {config.key}"
    status, _, body = http_calls.call("POST", f"{config.url}{_PATH}", headers, body_sent, timeout_s=timeout_s)
    return status, body

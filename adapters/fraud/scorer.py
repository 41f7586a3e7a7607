"""Requests a fraud score for a click or a lead from the operator's scorer, if there is one.

The facts are sent as one JSON object; a response in any other form than the specified one is rejected.
"""

import dataclasses
import functools
import re
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as CallTimeout

import orjson
import structlog

import settings
from adapters.http_calls import requests
from domain.fraud import ClickFacts, LeadFacts, Verdict

_WHOLE_CALL_S = 2.0
_MAX_BYTES = 16 * 1024
#: After a timeout the scorer is not called for this long, so that a batch does not wait for it click by click.
_PAUSE_S = 5
_MAX_CALLS = 32  # concurrent, per process; timed-out calls count until they end
_MAX_REASONS = 20
_REASON = re.compile(r"[a-z0-9_]{1,64}")

_log = structlog.get_logger(__name__)


class ScorerUnavailable(Exception):
    """The scorer gave no usable response. The message has the reason, without the scorer's own text."""


class Scorer:
    """The scorer at a URL. `clock` is monotonic, in seconds."""

    def __init__(self, url: str, token: str | None, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._url = url
        self._headers = {
            "Content-Type": "application/json",
            "Accept": "application/json",
            "Accept-Encoding": "identity",
        }
        if token is not None:
            self._headers["Authorization"] = f"Bearer {token}"
        self._clock = clock
        self._paused_until = float("-inf")
        self._free = threading.BoundedSemaphore(_MAX_CALLS)

    def judge(self, facts: ClickFacts | LeadFacts) -> Verdict:
        """Return the scorer's verdict. Raises ScorerUnavailable, within two seconds."""
        if self._clock() < self._paused_until:
            raise ScorerUnavailable("it did not respond a moment ago")
        try:
            return _parse(self._call(_serialize(facts)))
        except ScorerUnavailable as error:
            _log.warning("fraud_scorer.away", why=str(error))
            raise

    def _call(self, body: bytes) -> bytes:
        """Return the response. A separate thread makes the call: name servers and slow headers have no time limit."""
        if not self._free.acquire(blocking=False):
            raise self._pause("too many calls are in progress")
        answer: Future[bytes] = Future()
        threading.Thread(target=self._run, args=(body, answer), name="fraud-scorer", daemon=True).start()
        try:
            return answer.result(_WHOLE_CALL_S)
        except CallTimeout:
            raise self._pause(f"no complete response within {_WHOLE_CALL_S:g} s") from None
        except ScorerUnavailable:
            raise
        except Exception as error:  # requests, urllib3 and sockets have different ones
            raise self._pause(f"the call failed: {type(error).__name__}") from error

    def _run(self, body: bytes, answer: Future[bytes]) -> None:
        try:
            answer.set_result(_post(self._url, body, self._headers))
        except Exception as error:  # raised to the caller by the future
            answer.set_exception(error)
        finally:
            self._free.release()

    def _pause(self, why: str) -> ScorerUnavailable:
        self._paused_until = self._clock() + _PAUSE_S
        return ScorerUnavailable(why)


def judge(facts: ClickFacts | LeadFacts) -> Verdict:
    """Return the verdict of the scorer at FRAUD_SCORER_URL on a click or a lead; an empty one without a scorer.

    Raises ScorerUnavailable if it does not respond within two seconds or its response is not `{"score": 0..100,
    "reasons": [...]}` with reasons of a-z, 0-9 and underscore. After a timeout it raises at once for five seconds. Add
    the verdict to ours with `domain.fraud.add_verdicts`. Do not call inside a transaction.
    """
    scorer = _scorer()
    return Verdict(score=0, reasons=()) if scorer is None else scorer.judge(facts)


def is_configured() -> bool:
    """Return whether a scorer is configured."""
    return _scorer() is not None


@functools.cache
def _scorer() -> Scorer | None:
    config = settings.current().fraud
    return Scorer(config.scorer_url, config.scorer_token) if config.scorer_url else None


def _serialize(facts: ClickFacts | LeadFacts) -> bytes:
    if isinstance(facts, ClickFacts):
        body = {**facts._asdict(), "subject": "click"}
    else:
        body = {**dataclasses.asdict(facts), "subject": "lead"}
    return orjson.dumps(body, default=sorted)  # sets have no order


def _post(url: str, body: bytes, headers: dict[str, str]) -> bytes:
    deadline = time.monotonic() + _WHOLE_CALL_S
    with requests.Session() as session:
        session.trust_env = False
        pending = session.post(
            url, data=body, headers=headers, timeout=_WHOLE_CALL_S, allow_redirects=False, stream=True
        )
        with pending as answer:
            if answer.status_code != 200:
                raise ScorerUnavailable(f"it responded {answer.status_code}")
            content = bytearray()
            while len(content) <= _MAX_BYTES and (piece := answer.raw.read1(4096)):
                content += piece
                if time.monotonic() > deadline:
                    raise TimeoutError  # the same as for the waiting caller
    if len(content) > _MAX_BYTES:
        raise ScorerUnavailable(f"its response is longer than {_MAX_BYTES} bytes")
    return bytes(content)


def _parse(answer: bytes) -> Verdict:
    try:
        verdict = orjson.loads(answer)
    except orjson.JSONDecodeError:
        raise ScorerUnavailable("its response is not JSON") from None
    if not isinstance(verdict, dict) or verdict.keys() != {"score", "reasons"}:
        raise ScorerUnavailable("its response is not an object of score and reasons")
    score, reasons = verdict["score"], verdict["reasons"]
    if type(score) is not int or not 0 <= score <= 100:
        raise ScorerUnavailable("its score is not a whole number from 0 to 100")
    if not isinstance(reasons, list) or len(reasons) > _MAX_REASONS or not all(map(_is_reason, reasons)):
        raise ScorerUnavailable(f"its reasons are not at most {_MAX_REASONS} names of a-z, 0-9 and underscore")
    return Verdict(score=score, reasons=tuple(dict.fromkeys(reasons)))


def _is_reason(value: object) -> bool:
    return isinstance(value, str) and _REASON.fullmatch(value) is not None

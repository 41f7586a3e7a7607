"""Asks a scorer of the operator's, if there is one, what it makes of a click or a lead.

The facts go out as one JSON object; what comes back is believed only if it is exactly what was asked for.
"""

import dataclasses
import functools
import re
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as Late

import orjson
import structlog

import settings
from adapters.http_calls import requests
from domain.fraud import ClickFacts, LeadFacts, Verdict

_WHOLE_CALL_S = 2.0
_MAX_BYTES = 16 * 1024
#: After silence the scorer is left alone for this long, so that a batch does not wait for it click by click.
_LEFT_ALONE_S = 5
_MOST_CALLS = 32  # at once, in one process; those that came to no end in time among them
_MOST_REASONS = 20
_REASON = re.compile(r"[a-z0-9_]{1,64}")

_log = structlog.get_logger(__name__)


class ScorerAway(Exception):
    """There is a scorer, and it gave no usable answer. The message says what was wrong, without its own words."""


class Scorer:
    """The scorer at a URL. `clock` is in seconds and never goes back."""

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
        self._left_alone_until = float("-inf")
        self._free = threading.BoundedSemaphore(_MOST_CALLS)

    def judge(self, facts: ClickFacts | LeadFacts) -> Verdict:
        """Return what the scorer says. Raises ScorerAway, within two seconds."""
        if self._clock() < self._left_alone_until:
            raise ScorerAway("it did not answer a moment ago")
        try:
            return _read(self._call(_written(facts)))
        except ScorerAway as error:
            _log.warning("fraud_scorer.away", why=str(error))
            raise

    def _call(self, body: bytes) -> bytes:
        """Return the answer. The call has a thread of its own: neither a name server nor a slow head ends in time."""
        if not self._free.acquire(blocking=False):
            raise self._silent("too many calls are under way")
        answer: Future[bytes] = Future()
        threading.Thread(target=self._run, args=(body, answer), name="fraud-scorer", daemon=True).start()
        try:
            return answer.result(_WHOLE_CALL_S)
        except Late:
            raise self._silent(f"no complete answer within {_WHOLE_CALL_S:g} s") from None
        except ScorerAway:
            raise
        except Exception as error:  # requests, urllib3 and sockets each have their own
            raise self._silent(f"the call failed: {type(error).__name__}") from error

    def _run(self, body: bytes, answer: Future[bytes]) -> None:
        try:
            answer.set_result(_post(self._url, body, self._headers))
        except Exception as error:  # it belongs to who waits for the answer
            answer.set_exception(error)
        finally:
            self._free.release()

    def _silent(self, why: str) -> ScorerAway:
        self._left_alone_until = self._clock() + _LEFT_ALONE_S
        return ScorerAway(why)


def judge(facts: ClickFacts | LeadFacts) -> Verdict:
    """Return what the scorer at FRAUD_SCORER_URL says of a click or a lead; without one, nothing.

    Raises ScorerAway when it is silent for two seconds or its answer is not `{"score": 0..100, "reasons": [...]}` with
    reasons of a-z, 0-9 and underscore. After silence it raises at once for five seconds. Add the verdict to ours with
    `domain.fraud.add_verdicts`. Make no such call inside a transaction.
    """
    scorer = _scorer()
    return Verdict(score=0, reasons=()) if scorer is None else scorer.judge(facts)


def is_configured() -> bool:
    """Say whether there is a scorer to ask."""
    return _scorer() is not None


@functools.cache
def _scorer() -> Scorer | None:
    chosen = settings.current().fraud
    return Scorer(chosen.scorer_url, chosen.scorer_token) if chosen.scorer_url else None


def _written(facts: ClickFacts | LeadFacts) -> bytes:
    if isinstance(facts, ClickFacts):
        said = {**facts._asdict(), "subject": "click"}
    else:
        said = {**dataclasses.asdict(facts), "subject": "lead"}
    return orjson.dumps(said, default=sorted)  # sets have no order of their own


def _post(url: str, body: bytes, headers: dict[str, str]) -> bytes:
    deadline = time.monotonic() + _WHOLE_CALL_S
    with requests.Session() as session:
        session.trust_env = False
        sent = session.post(url, data=body, headers=headers, timeout=_WHOLE_CALL_S, allow_redirects=False, stream=True)
        with sent as answer:
            if answer.status_code != 200:
                raise ScorerAway(f"it answers {answer.status_code}")
            read = bytearray()
            while len(read) <= _MAX_BYTES and (piece := answer.raw.read1(4096)):
                read += piece
                if time.monotonic() > deadline:
                    raise TimeoutError  # as late as for whoever waits
    if len(read) > _MAX_BYTES:
        raise ScorerAway(f"its answer is longer than {_MAX_BYTES} bytes")
    return bytes(read)


def _read(answer: bytes) -> Verdict:
    try:
        said = orjson.loads(answer)
    except orjson.JSONDecodeError:
        raise ScorerAway("its answer is not JSON") from None
    if not isinstance(said, dict) or said.keys() != {"score", "reasons"}:
        raise ScorerAway("its answer is not an object of score and reasons")
    score, reasons = said["score"], said["reasons"]
    if type(score) is not int or not 0 <= score <= 100:
        raise ScorerAway("its score is no whole number from 0 to 100")
    if not isinstance(reasons, list) or len(reasons) > _MOST_REASONS or not all(map(_is_reason, reasons)):
        raise ScorerAway(f"its reasons are not {_MOST_REASONS} names at most of a-z, 0-9 and underscore")
    return Verdict(score=score, reasons=tuple(dict.fromkeys(reasons)))


def _is_reason(said: object) -> bool:
    return isinstance(said, str) and _REASON.fullmatch(said) is not None

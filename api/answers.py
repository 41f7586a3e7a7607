"""Answers that are given again: Idempotency-Key on any POST or PATCH, and replayed signatures on refunds.

The key is claimed in the transaction of the effect, so an effect and its stored answer stand or fall together; a
concurrent twin waits for the first one's end and then repeats its answer. Bodies are sealed while they are kept:
some of them show a secret that is shown once.
Source: core spec, section 8 "Idempotency-Key header".
"""

import hashlib
from collections.abc import Callable, Mapping

import orjson
from flask import Response, request

from adapters import sealing
from api import errors, guards
from domain import signing
from domain.refused import Refused
from models import db, stored_answers

_KEY_WINDOW_S = 60 * 60
_SIGNATURE_WINDOW_S = 15 * 60
_LONGEST_KEY = 255


def once(work: Callable[[], tuple[int, Mapping[str, object]]]) -> Response:
    """Run `work` in a unit of work and answer with its status and body; a repeated request gets the first answer.

    Without an Idempotency-Key header this is only the unit of work.
    """
    key = request.headers.get("Idempotency-Key")
    if key is None:
        with db.unit_of_work(guards.organization_id()):
            return _answer(*work())
    if not 1 <= len(key) <= _LONGEST_KEY or not key.isprintable():
        message = f"Idempotency-Key takes 1 to {_LONGEST_KEY} printable characters."
        raise Refused(400, "idempotency_key_invalid", message)
    scope = f"{guards.caller().key_id} {request.method} {request.path}"
    return _stored(scope, key, _KEY_WINDOW_S, work, replay_header="Idempotency-Replayed")


def once_per_signature(work: Callable[[], tuple[int, Mapping[str, object]]]) -> Response:
    """Like `once`; without an Idempotency-Key the signature stands in for it, so a captured request does nothing."""
    if request.headers.get("Idempotency-Key") is not None:
        return once(work)
    signature = signing.parse_inbound(request.headers.get("X-Service-Signature", ""))
    assert signature is not None  # the guard has verified it
    return _stored(
        "signature", f"{signature.timestamp_s}:{signature.digest.hex()}", _SIGNATURE_WINDOW_S, work, replay_header=None
    )


def _stored(
    scope: str,
    key: str,
    window_s: int,
    work: Callable[[], tuple[int, Mapping[str, object]]],
    *,
    replay_header: str | None,
) -> Response:
    organization_id = guards.organization_id()
    request_hash = hashlib.sha256(request.get_data(cache=True)).digest()
    try:
        with db.unit_of_work(organization_id):
            if not _claim(scope, key, request_hash, window_s):
                return _replay(scope, key, request_hash, replay_header)
            answer = _answer(*work())
            _keep(scope, key, answer)
            return answer
    except _Conflict:
        raise
    except Refused as refusal:
        return _keep_refusal(scope, key, request_hash, window_s, errors.refused(refusal))


def _claim(scope: str, key: str, request_hash: bytes, window_s: int) -> bool:
    try:
        return stored_answers.claim(
            organization_id=guards.organization_id(),
            scope=scope,
            key=key,
            request_hash=request_hash,
            window_s=window_s,
        )
    except stored_answers.StillRunning as error:
        raise _Conflict(409, "idempotency_conflict", "The first request with this key is still running.") from error


def _replay(scope: str, key: str, request_hash: bytes, replay_header: str | None) -> Response:
    stored = stored_answers.find(organization_id=guards.organization_id(), scope=scope, key=key)
    if stored is None or stored.status is None or stored.request_hash != request_hash:
        raise _Conflict(409, "idempotency_conflict", "This Idempotency-Key was used with a different request.")
    kept = sealing.unseal(stored.body or b"", belongs_to=_owner(scope, key))
    answer = Response(kept, status=stored.status, headers=dict(stored.headers or {}))
    if replay_header:
        answer.headers[replay_header] = "true"
    return answer


class _Conflict(Refused):
    """A refusal about the key itself; it is never what the key stores."""


def _keep(scope: str, key: str, answer: Response) -> None:
    stored_answers.stage_keep(
        organization_id=guards.organization_id(),
        scope=scope,
        key=key,
        status=answer.status_code,
        body=sealing.seal(answer.get_data(as_text=True), belongs_to=_owner(scope, key)),
        headers={"Content-Type": answer.content_type},
    )


def _owner(scope: str, key: str) -> str:
    return f"{guards.organization_id()} {scope} {key}"


def _keep_refusal(scope: str, key: str, request_hash: bytes, window_s: int, answer: Response) -> Response:
    # The refusal undid the transaction with the key in it; the answer is worth keeping all the same.
    with db.unit_of_work(guards.organization_id()):
        if _claim(scope, key, request_hash, window_s):
            _keep(scope, key, answer)
    return answer


def _answer(status: int, body: Mapping[str, object]) -> Response:
    return Response(orjson.dumps(body), status=status, content_type="application/json")

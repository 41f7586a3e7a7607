"""Idempotency: Idempotency-Key on any POST, PUT or PATCH, and replayed signatures on refunds.

The key is claimed in the transaction of the effect, so an effect and its stored answer commit together; a concurrent
request with the same key waits for the first and then repeats its answer. Stored bodies are sealed, because some
contain a secret that is shown only once.
Source: core spec, section 8 "Idempotency-Key header".
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from uuid import UUID, uuid5

import orjson
from flask import Response, g, request

from adapters.secret_key import sealing
from api.access import guards
from api.edge import errors
from api.edge.relay_waker import wake_relay
from domain.refusals import Refused
from domain.webhooks import signing
from models import db, ids, stored_answers

#: How long the answer of an Idempotency-Key is stored, in seconds.
KEY_WINDOW_S = 60 * 60
_SIGNATURE_WINDOW_S = 15 * 60
_MAX_KEY_LENGTH = 255


Answer = tuple[int, Mapping[str, object] | Sequence[object] | None]


def run_once(
    work: Callable[[], Answer],
    *,
    organization_id: UUID | None = None,
    is_single: bool = False,
    wakes_relay: bool = False,
) -> Response:
    """Run `work` in a unit of work and return its status and body; a repeated request gets the first answer.

    Without an Idempotency-Key header this is only the unit of work; pass `is_single` if `work` usually takes one
    statement, and `wakes_relay` if it stages jobs. `organization_id` is for routes whose caller has no organization.
    """
    tenant = organization_id or guards.organization_id()
    return _run(db.unit_of_work(tenant, is_single=is_single), tenant, work, wakes_relay)


def run_once_for_operator(work: Callable[[], Answer], *, wakes_relay: bool = False) -> Response:
    """Like `run_once` for an operator, who has no organization: `work` sees the rows of every tenant."""
    return _run(db.any_org_work(), None, work, wakes_relay)


def _run(
    transaction: AbstractContextManager[None], tenant: UUID | None, work: Callable[[], Answer], wakes_relay: bool
) -> Response:
    answer_key = _key_from_header()
    if answer_key is None:
        with transaction:
            answer = _response(*work())
    else:
        answer = _run_claimed(tenant, [answer_key], work)
    if wakes_relay:
        wake_relay()
    return answer


def find_replay(organization_id: UUID | None = None) -> Response | None:
    """Return the stored answer of this request's Idempotency-Key, or None.

    For routes that call another service before `run_once` and must not call it again for a repeated request.
    `organization_id` is for routes whose caller has no organization.
    """
    answer_key, tenant = _key_from_header(), organization_id or guards.organization_id()
    if answer_key is None:
        return None
    with db.unit_of_work(tenant):
        stored = stored_answers.find(
            organization_id=tenant, scope=answer_key.scope, key=answer_key.key, window_s=answer_key.window_s
        )
        if stored is None or stored.status is None:
            return None
        return _replay(tenant, answer_key, hashlib.sha256(request.get_data(cache=True)).digest())


def stable_id(organization_id: UUID | None = None) -> UUID:
    """Return an id for the row that this request creates, the same if it is repeated with its Idempotency-Key.

    For work that begins in one transaction and ends in another: the repeated request continues where the first died.
    `organization_id` is for routes whose caller has no organization.
    """
    answer_key = _key_from_header()
    if answer_key is None:
        return ids.new_id()
    body_hash = hashlib.sha256(request.get_data(cache=True)).hexdigest()
    return uuid5(organization_id or guards.organization_id(), f"{answer_key.scope} {answer_key.key} {body_hash}")


def run_once_per_signature(work: Callable[[], Answer]) -> Response:
    """Like `run_once`, but a signature also has only one effect, so that a captured request cannot be replayed.

    An Idempotency-Key is not signed and can be dropped or changed, so it never replaces the signature.
    """
    signature = signing.parse_inbound(request.headers.get("X-Service-Signature", ""))
    assert signature is not None  # the guard has verified it
    by_signature = _AnswerKey("signature", f"{signature.timestamp_s}:{signature.digest.hex()}", _SIGNATURE_WINDOW_S)
    by_key = _key_from_header()
    return _run_claimed(guards.organization_id(), [by_key, by_signature] if by_key else [by_signature], work)


@dataclass(frozen=True, slots=True)
class _AnswerKey:
    """The key of a stored answer, and the header that marks its replay."""

    scope: str
    key: str
    window_s: int
    replay_header: str | None = None


def _key_from_header() -> _AnswerKey | None:
    key = request.headers.get("Idempotency-Key")
    if key is None:
        return None
    if not 1 <= len(key) <= _MAX_KEY_LENGTH or not key.isprintable():
        message = f"Idempotency-Key takes 1 to {_MAX_KEY_LENGTH} printable characters."
        raise Refused(400, "idempotency_key_invalid", message)
    scope = f"{_caller_name()} {request.method} {_address_hash()}"
    return _AnswerKey(scope, key, KEY_WINDOW_S, replay_header="Idempotency-Replayed")


def _address_hash() -> str:
    # Path and query come from the caller: they have any length, and characters that a text column does not accept.
    return hashlib.sha256(f"{request.path}?".encode() + request.query_string).hexdigest()


def _caller_name() -> str:
    if "caller" in g:
        return str(guards.caller().id)
    if "account" in g:
        return f"account {guards.account().subject}"
    if "operator" in g:
        return f"operator {guards.operator().subject}"
    if "viewer" in g:
        return f"embed {guards.viewer().affiliate_id}"
    return f"public {hashlib.sha256((request.remote_addr or '').encode()).hexdigest()[:16]}"


def _run_claimed(tenant: UUID | None, answer_keys: Sequence[_AnswerKey], work: Callable[[], Answer]) -> Response:
    request_hash = hashlib.sha256(request.get_data(cache=True)).digest()
    try:
        with _open_transaction(tenant):
            claimed = [answer_key for answer_key in answer_keys if _claim(tenant, answer_key, request_hash)]
            claimed_before = [answer_key for answer_key in answer_keys if answer_key not in claimed]
            answer = _replay(tenant, claimed_before[0], request_hash) if claimed_before else _response(*work())
            for answer_key in claimed:
                _store(tenant, answer_key, answer)
            return answer
    except _Conflict:
        raise
    except Refused as refusal:
        if refusal.status == 429 or refusal.status >= 500:
            raise  # it may succeed the next time
        return _store_refusal(tenant, answer_keys, request_hash, errors.refusal_response(refusal))


def _open_transaction(tenant: UUID | None) -> AbstractContextManager[None]:
    return db.any_org_work() if tenant is None else db.unit_of_work(tenant)


def _claim(tenant: UUID | None, answer_key: _AnswerKey, request_hash: bytes) -> bool:
    try:
        return stored_answers.claim(
            organization_id=tenant,
            scope=answer_key.scope,
            key=answer_key.key,
            request_hash=request_hash,
            window_s=answer_key.window_s,
        )
    except stored_answers.RequestStillRunning as error:
        raise _Conflict(409, "idempotency_conflict", "The first request with this key is still running.") from error


def _replay(tenant: UUID | None, answer_key: _AnswerKey, request_hash: bytes) -> Response:
    stored = stored_answers.find(
        organization_id=tenant, scope=answer_key.scope, key=answer_key.key, window_s=answer_key.window_s
    )
    if stored is None or stored.status is None or stored.request_hash != request_hash:
        raise _Conflict(409, "idempotency_conflict", "This Idempotency-Key was used with a different request.")
    try:
        content = sealing.unseal(stored.body or b"", belongs_to=_sealing_context(tenant, answer_key))
    except sealing.CannotUnseal as error:  # a process of another release, or with another SECRET_KEY, sealed it
        message = "This server cannot read the answer to the first request. Repeat the same request."
        raise _Conflict(503, "temporarily_unavailable", message) from error
    answer = errors.empty_response(stored.status)
    answer.set_data(content)
    answer.headers.extend(stored.headers or {})
    if answer_key.replay_header:
        answer.headers[answer_key.replay_header] = "true"
    return answer


class _Conflict(Refused):
    """A refusal about the key itself; it is never stored."""


def _store(tenant: UUID | None, answer_key: _AnswerKey, answer: Response) -> None:
    stored_answers.stage_answer(
        organization_id=tenant,
        scope=answer_key.scope,
        key=answer_key.key,
        status=answer.status_code,
        body=sealing.seal(answer.get_data(as_text=True), belongs_to=_sealing_context(tenant, answer_key)),
        headers={"Content-Type": answer.content_type} if answer.content_type else {},
    )


def _sealing_context(tenant: UUID | None, answer_key: _AnswerKey) -> str:
    return f"{tenant} {answer_key.scope} {answer_key.key}"


def _store_refusal(
    tenant: UUID | None, answer_keys: Sequence[_AnswerKey], request_hash: bytes, answer: Response
) -> Response:
    # The refusal rolled back the transaction that claimed the keys, so the answer is stored in another.
    with _open_transaction(tenant):
        for answer_key in [answer_key for answer_key in answer_keys if _claim(tenant, answer_key, request_hash)]:
            _store(tenant, answer_key, answer)
    return answer


def _response(status: int, body: Mapping[str, object] | Sequence[object] | None) -> Response:
    if body is None:
        return errors.empty_response(status)
    return Response(orjson.dumps(body), status=status, content_type="application/json")

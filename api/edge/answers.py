"""Answers that are given again: Idempotency-Key on any POST, PUT or PATCH, and replayed signatures on refunds.

The key is claimed in the transaction of the effect, so an effect and its stored answer stand or fall together; a
concurrent twin waits for the first one's end and then repeats its answer. Bodies are sealed while they are kept:
some of them show a secret that is shown once.
Source: core spec, section 8 "Idempotency-Key header".
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from uuid import UUID, uuid5

import orjson
from flask import Response, g, request

from adapters import sealing
from api.access import guards
from api.edge import errors
from domain.refused import Refused
from domain.webhooks import signing
from models import db, ids, stored_answers

#: How long an Idempotency-Key is remembered, in seconds.
KEY_WINDOW_S = 60 * 60
_SIGNATURE_WINDOW_S = 15 * 60
_LONGEST_KEY = 255


Answer = tuple[int, Mapping[str, object] | Sequence[object] | None]


def once(work: Callable[[], Answer], *, organization_id: UUID | None = None, is_single: bool = False) -> Response:
    """Run `work` in a unit of work and answer with its status and body; a repeated request gets the first answer.

    Without an Idempotency-Key header this is only the unit of work, which `is_single` where one statement is all that
    `work` usually does. `organization_id` is for routes whose caller speaks for none.
    """
    tenant = organization_id or guards.organization_id()
    name = _sent_key()
    if name is None:
        with db.unit_of_work(tenant, is_single=is_single):
            return _answer(*work())
    return _stored(tenant, [name], work)


def once_for_operator(work: Callable[[], Answer]) -> Response:
    """Like `once` for an operator, who speaks for no organization: `work` sees those of every tenant."""
    name = _sent_key()
    if name is None:
        with db.any_org_work():
            return _answer(*work())
    return _stored(None, [name], work)


def repeated(organization_id: UUID | None = None) -> Response | None:
    """Return the answer that this request's Idempotency-Key has already, None where it has none.

    For work that has to ask somebody else before it is done `once`, and must not ask again for a repeated request.
    `organization_id` is for routes whose caller speaks for none.
    """
    name, tenant = _sent_key(), organization_id or guards.organization_id()
    if name is None:
        return None
    with db.unit_of_work(tenant):
        stored = stored_answers.find(organization_id=tenant, scope=name.scope, key=name.key, window_s=name.window_s)
        if stored is None or stored.status is None:
            return None
        return _replay(tenant, name, hashlib.sha256(request.get_data(cache=True)).digest())


def made_id(organization_id: UUID | None = None) -> UUID:
    """Return an id for what this request makes: the same one when it is repeated with its Idempotency-Key.

    For what is begun in one transaction and settled in another: a request that died in between is gone on with.
    `organization_id` is for routes whose caller speaks for none.
    """
    name = _sent_key()
    if name is None:
        return ids.new_id()
    asked = hashlib.sha256(request.get_data(cache=True)).hexdigest()
    return uuid5(organization_id or guards.organization_id(), f"{name.scope} {name.key} {asked}")


def once_per_signature(work: Callable[[], Answer]) -> Response:
    """Like `once`, and a signature is good for one effect, so a captured request does nothing.

    An Idempotency-Key is not signed: it can be dropped or changed, so it never takes the signature's place.
    """
    signature = signing.parse_inbound(request.headers.get("X-Service-Signature", ""))
    assert signature is not None  # the guard has verified it
    by_signature = _Name("signature", f"{signature.timestamp_s}:{signature.digest.hex()}", _SIGNATURE_WINDOW_S)
    by_key = _sent_key()
    return _stored(guards.organization_id(), [by_key, by_signature] if by_key else [by_signature], work)


@dataclass(frozen=True, slots=True)
class _Name:
    """What an answer is kept under, and which header says that it was given before."""

    scope: str
    key: str
    window_s: int
    replay_header: str | None = None


def _sent_key() -> _Name | None:
    key = request.headers.get("Idempotency-Key")
    if key is None:
        return None
    if not 1 <= len(key) <= _LONGEST_KEY or not key.isprintable():
        message = f"Idempotency-Key takes 1 to {_LONGEST_KEY} printable characters."
        raise Refused(400, "idempotency_key_invalid", message)
    scope = f"{_who()} {request.method} {_address()}"
    return _Name(scope, key, KEY_WINDOW_S, replay_header="Idempotency-Replayed")


def _address() -> str:
    # Path and query are the caller's: of any length, and with characters that a text column does not take.
    return hashlib.sha256(f"{request.path}?".encode() + request.query_string).hexdigest()


def _who() -> str:
    if "caller" in g:
        return str(guards.caller().id)
    if "account" in g:
        return f"account {guards.account().subject}"
    if "operator" in g:
        return f"operator {guards.operator().subject}"
    if "viewer" in g:
        return f"embed {guards.viewer().affiliate_id}"
    return f"public {hashlib.sha256((request.remote_addr or '').encode()).hexdigest()[:16]}"


def _stored(tenant: UUID | None, names: Sequence[_Name], work: Callable[[], Answer]) -> Response:
    request_hash = hashlib.sha256(request.get_data(cache=True)).digest()
    try:
        with _work_of(tenant):
            claimed = [name for name in names if _claim(tenant, name, request_hash)]
            known = [name for name in names if name not in claimed]
            answer = _replay(tenant, known[0], request_hash) if known else _answer(*work())
            for name in claimed:
                _keep(tenant, name, answer)
            return answer
    except _Conflict:
        raise
    except Refused as refusal:
        if refusal.status == 429 or refusal.status >= 500:
            raise  # it may go well the next time
        return _keep_refusal(tenant, names, request_hash, errors.refused(refusal))


def _work_of(tenant: UUID | None) -> AbstractContextManager[None]:
    return db.any_org_work() if tenant is None else db.unit_of_work(tenant)


def _claim(tenant: UUID | None, name: _Name, request_hash: bytes) -> bool:
    try:
        return stored_answers.claim(
            organization_id=tenant,
            scope=name.scope,
            key=name.key,
            request_hash=request_hash,
            window_s=name.window_s,
        )
    except stored_answers.RequestStillRunning as error:
        raise _Conflict(409, "idempotency_conflict", "The first request with this key is still running.") from error


def _replay(tenant: UUID | None, name: _Name, request_hash: bytes) -> Response:
    stored = stored_answers.find(organization_id=tenant, scope=name.scope, key=name.key, window_s=name.window_s)
    if stored is None or stored.status is None or stored.request_hash != request_hash:
        raise _Conflict(409, "idempotency_conflict", "This Idempotency-Key was used with a different request.")
    try:
        kept = sealing.unseal(stored.body or b"", belongs_to=_owner(tenant, name))
    except sealing.CannotUnseal as error:  # a process of another release, or with another SECRET_KEY, sealed it
        message = "This server cannot read the answer that the first request got. Repeat the same request."
        raise _Conflict(503, "temporarily_unavailable", message) from error
    answer = errors.empty(stored.status)
    answer.set_data(kept)
    answer.headers.extend(stored.headers or {})
    if name.replay_header:
        answer.headers[name.replay_header] = "true"
    return answer


class _Conflict(Refused):
    """A refusal about the key itself; it is never what the key stores."""


def _keep(tenant: UUID | None, name: _Name, answer: Response) -> None:
    stored_answers.stage_answer(
        organization_id=tenant,
        scope=name.scope,
        key=name.key,
        status=answer.status_code,
        body=sealing.seal(answer.get_data(as_text=True), belongs_to=_owner(tenant, name)),
        headers={"Content-Type": answer.content_type} if answer.content_type else {},
    )


def _owner(tenant: UUID | None, name: _Name) -> str:
    return f"{tenant} {name.scope} {name.key}"


def _keep_refusal(tenant: UUID | None, names: Sequence[_Name], request_hash: bytes, answer: Response) -> Response:
    # The refusal undid the transaction with the names in it; the answer is worth keeping all the same.
    with _work_of(tenant):
        for name in [name for name in names if _claim(tenant, name, request_hash)]:
            _keep(tenant, name, answer)
    return answer


def _answer(status: int, body: Mapping[str, object] | Sequence[object] | None) -> Response:
    if body is None:
        return errors.empty(status)
    return Response(orjson.dumps(body), status=status, content_type="application/json")

"""Signed requests: whether a key's holder signed the raw bytes that came. Source: tracking spec, section 5."""

import structlog
from flask import request

from adapters import clock
from api.access import callers
from api.access.callers import Caller, NotLetIn
from domain.refusals import Refused
from domain.webhooks import signing

_log = structlog.get_logger(__name__)


def signed_by(holder: Caller | NotLetIn) -> Caller:
    """Return who signed this request. Raises Refused (401) for nobody we know, and for whoever did not sign it."""
    # A wrong key and a wrong signature take the same path, so neither can be told from the other.
    secret = callers.signing_secret(holder) if isinstance(holder, Caller) else b"no key, no secret"
    fault = signing.inbound_fault(
        header=request.headers.get("X-Service-Signature", ""),
        secret=secret,
        body=request.get_data(cache=True),
        now_s=int(clock.now().timestamp()),
    )
    if isinstance(holder, NotLetIn) or fault is not None:
        _log_unsigned(holder, fault)
        raise Refused(401)
    return holder


def _log_unsigned(holder: Caller | NotLetIn, fault: signing.Fault | None) -> None:
    """Say in the log, under the request's id, why it was refused; the answer is the same for every reason."""
    if isinstance(holder, NotLetIn):
        _log.info("request.not_signed", fault=holder.fault, key_id=holder.key_id)
    else:
        _log.info("request.not_signed", fault=fault, key_id=holder.id, organization_id=holder.organization_id)

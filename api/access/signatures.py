"""Verification of signed requests over the raw bytes of the body. Source: tracking spec, section 5."""

import structlog
from flask import request

from adapters import clock
from api.access import callers
from api.access.callers import Caller, RejectedKey
from domain.refusals import Refused
from domain.webhooks import signing

_log = structlog.get_logger(__name__)


def verify_signature(holder: Caller | RejectedKey) -> Caller:
    """Return the holder if they signed this request. Raises Refused (401) for a wrong key or a wrong signature."""
    # A wrong key and a wrong signature take the same path, so that a caller cannot distinguish them.
    secret = callers.unseal_signing_secret(holder) if isinstance(holder, Caller) else b"no key, no secret"
    fault = signing.inbound_fault(
        header=request.headers.get("X-Service-Signature", ""),
        secret=secret,
        body=request.get_data(cache=True),
        now_s=int(clock.now().timestamp()),
    )
    if isinstance(holder, RejectedKey) or fault is not None:
        _log_unsigned(holder, fault)
        raise Refused(401)
    return holder


def _log_unsigned(holder: Caller | RejectedKey, fault: signing.Fault | None) -> None:
    """Log why the request was refused, with its id; the answer is the same for every reason."""
    if isinstance(holder, RejectedKey):
        _log.info("request.not_signed", fault=holder.fault, key_id=holder.key_id)
    else:
        _log.info("request.not_signed", fault=fault, key_id=holder.id, organization_id=holder.organization_id)

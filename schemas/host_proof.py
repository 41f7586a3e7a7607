"""Domains of brands in the API: their proofs and their states."""

from typing import Any

from marshmallow import ValidationError, fields, post_load

from domain.host_proofs.records import ProofKind
from domain.host_proofs.validity import DomainState
from domain.organization import host_names
from schemas.base import Instant, Wire, one_of, text


def host_name(value: str) -> None:
    """Refuse an invalid host name."""
    # Only ASCII: lower() turns a few other letters into ASCII ones.
    if not (value.isascii() and host_names.is_host_name(value.lower())):
        raise ValidationError("It must be a host name such as partners.example.com, other scripts in their xn-- form.")


class TrackingDomainBody(Wire):
    """The domain that serves the script for the brand's pages; null for the service's own. Loads in lower case."""

    tracking_domain = text(longest=host_names.MAX_CHARS, allow_none=True, required=True, validate=[host_name])

    @post_load
    def _lower_name(self, body: dict[str, Any], **_: object) -> dict[str, Any]:
        name = body["tracking_domain"]
        return {"tracking_domain": name.lower() if name else None}


class DomainStepRecord(Wire):
    """A record to set up, and the record that exists in its place."""

    type = one_of((ProofKind.Cname.value, ProofKind.Txt.value))
    name = fields.String()
    value = fields.String()
    found = fields.String(allow_none=True)


class DomainProofRecord(Wire):
    """The state of a domain. One of the steps is enough; without a domain there are no steps."""

    domain = fields.String(allow_none=True)
    state = one_of(tuple(DomainState))
    proved_by = one_of(tuple(ProofKind), allow_none=True)
    steps = fields.List(fields.Nested(DomainStepRecord))
    checked_at = Instant(allow_none=True)
    next_check_at = Instant(allow_none=True)
    missing_since = Instant(allow_none=True)


class TlsQuery(Wire):
    """The host of a visitor's request."""

    domain = fields.String(load_default="")


class TlsAnswer(Wire):
    """A host that may have a certificate."""

    domain = fields.String()

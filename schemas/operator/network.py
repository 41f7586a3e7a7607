"""The reviews of the creator network for operators."""

from collections.abc import Iterable
from typing import Any

from marshmallow import fields

from domain import statuses
from domain.conversions.commission import CommissionType
from domain.listing import NetworkReview, ProgramCategory
from schemas.base import Amount, Instant, Wire, not_blank, one_of, text
from schemas.me.person import terms_of
from schemas.paging import PageQuery

_MAX_WHY_CHARS = 1_000


class NetworkReviewsQuery(PageQuery):
    """The filter of reviews by their status."""

    status = one_of(NetworkReview, load_default=NetworkReview.Pending.value)


class NetworkListingRecord(Wire):
    """A program that its brand listed in the network: its advertised fields, and the state of its review.

    `mayList`: its brand has the plan and the funding that listing requires.
    """

    program_id = fields.UUID(attribute="id")
    organization_id = fields.UUID()
    organization_name = fields.String()
    name = fields.String()
    description = fields.String(allow_none=True)
    terms_url = fields.String(allow_none=True)
    referral_destination_url = fields.String(allow_none=True)
    category = one_of(ProgramCategory, allow_none=True)
    currency = fields.String()
    default_commission_model = one_of(statuses.CommissionModel, attribute="model")
    commission_type = one_of(CommissionType, attribute="rate_type")
    commission_value = Amount(attribute="rate_value")
    cookie_window_days = fields.Integer()
    auto_approve = fields.Boolean()
    terms = fields.String()
    may_list = fields.Boolean()
    status = one_of(NetworkReview)
    asked_at = Instant()
    decided_at = Instant(allow_none=True)
    decided_by = fields.String(allow_none=True)
    reason = fields.String(allow_none=True)


class NetworkApprovalBody(Wire):
    """The approval of a listing. The brand sees `why`; `askedAt` is the request that was reviewed."""

    why = text(longest=_MAX_WHY_CHARS, load_default=None, allow_none=True)
    asked_at = Instant(load_default=None, allow_none=True)


class NetworkRejectionBody(NetworkApprovalBody):
    """The rejection of a listing, with its reason."""

    why = text(longest=_MAX_WHY_CHARS, required=True, validate=[not_blank])


_LISTING = NetworkListingRecord(exclude=("terms",))


def listing_records(programs: Iterable[Any]) -> list[dict[str, Any]]:
    """Return reviewed programs as the API shows them."""
    return [_LISTING.dump(program) | {"terms": terms_of(program)} for program in programs]

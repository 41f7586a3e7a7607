"""Creator deals and their milestones, as brands and creators send and read them.

Amounts are minor units of the deal's currency.
"""

from typing import Any

from marshmallow import fields, post_load

from domain.deals.states import DealStatus, MilestoneStatus, Side
from domain.money.money import MAX_AMOUNT_CENTS
from domain.payouts.states import AttemptState
from domain.refusals import Refused
from schemas.base import Flag, Instant, Wire, http_url, line, not_blank, one_of, text
from schemas.collection_fields import Items
from schemas.conversions.sale import Cents, supported_currency
from schemas.paging import PageQuery

_MAX_TITLE_CHARS = 200
_MAX_MILESTONES = 50
_MAX_URLS = 20
_MAX_URL_CHARS = 2_048
_MAX_WORDS_CHARS = 5_000


class MilestoneBody(Wire):
    """One part of a deal: its title, its amount and its due date."""

    title = line(longest=_MAX_TITLE_CHARS, required=True, validate=[not_blank])
    amount_cents = Cents(strict=True, required=True)
    due_at = Instant(load_default=None, allow_none=True)


class DealBody(Wire):
    """A deal to draft. Refuses with codes of its own, in this order: amount_out_of_range, unsupported_currency."""

    affiliate_id = fields.UUID(required=True)
    program_id = fields.UUID(required=True)
    title = line(longest=_MAX_TITLE_CHARS, required=True, validate=[not_blank])
    currency = text(longest=255, required=True, validate=[not_blank])
    milestones = Items(fields.Nested(MilestoneBody), most=_MAX_MILESTONES, least=1, required=True)

    @post_load
    def _settle(self, body: dict[str, Any], **_: object) -> dict[str, Any]:
        amounts = [milestone["amount_cents"] for milestone in body["milestones"]]
        if min(amounts) < 1 or sum(amounts) > MAX_AMOUNT_CENTS:
            message = f"Each amountCents must be at least 1, and their sum at most {MAX_AMOUNT_CENTS}."
            raise Refused(400, "amount_out_of_range", message, field="milestones")
        body["currency"] = supported_currency(body["currency"])
        return body


class ChangesBody(Wire):
    """The changes to a submission that the brand requests."""

    note = text(longest=_MAX_WORDS_CHARS, required=True, validate=[not_blank])


class DisputeBody(Wire):
    """The reason of a dispute, and the resolution that its opener proposes."""

    reason = text(longest=_MAX_WORDS_CHARS, required=True, validate=[not_blank])
    proposed_resolution = text(longest=_MAX_WORDS_CHARS, required=True, validate=[not_blank])


class SubmissionBody(Wire):
    """The URLs of the submitted work."""

    urls = Items(text(longest=_MAX_URL_CHARS, validate=[http_url]), most=_MAX_URLS, least=1, required=True)


class DealsQuery(PageQuery):
    """The list's filters."""

    program_id = fields.UUID(load_default=None)
    affiliate_id = fields.UUID(load_default=None)
    status = one_of(DealStatus, load_default=None)


class MilestoneRecord(Wire):
    """A milestone, as both sides see it.

    `payoutId` is the payout that pays it; `toAffiliateCents` the affiliate's part by an operator's settlement.
    """

    id = fields.UUID()
    seq = fields.Integer()
    title = fields.String()
    amount_cents = fields.Integer()
    due_at = Instant(allow_none=True)
    status = one_of(MilestoneStatus)
    auto_release_at = Instant(allow_none=True)
    submission_urls = fields.List(fields.String())
    changes_requested = fields.Integer()
    change_note = fields.String(allow_none=True)
    opened_by = one_of(Side, allow_none=True)
    dispute_reason = fields.String(allow_none=True)
    proposed_resolution = fields.String(allow_none=True)
    disputed_at = Instant(allow_none=True)
    to_affiliate_cents = fields.Integer(allow_none=True)
    paid_cents = fields.Integer()
    payout_id = fields.UUID(allow_none=True)


class BrandMilestoneRecord(MilestoneRecord):
    """A milestone, with the platform's take and the sum returned to the brand."""

    take_cents = fields.Integer(allow_none=True)
    returned_cents = fields.Integer()


class OfferedDealRecord(Wire):
    """A deal, as its affiliate sees it."""

    id = fields.UUID()
    program_id = fields.UUID()
    affiliate_id = fields.UUID()
    title = fields.String()
    currency = fields.String()
    status = one_of(DealStatus)
    escrow_cents = fields.Integer()
    milestones = fields.List(fields.Nested(MilestoneRecord))
    created_at = Instant()
    offered_at = Instant(allow_none=True)
    answered_at = Instant(allow_none=True)
    funded_at = Instant(allow_none=True)
    ended_at = Instant(allow_none=True)


class DealRecord(OfferedDealRecord):
    """A deal, as its brand sees it, with the state of its money and of its charge."""

    milestones = fields.List(fields.Nested(BrandMilestoneRecord))
    is_test = Flag()
    charged_cents = fields.Integer()
    take_cents = fields.Integer()
    paid_cents = fields.Integer()
    returned_cents = fields.Integer()
    charge_state = one_of(AttemptState, allow_none=True)
    funding_charge_id = fields.String(allow_none=True, attribute="charge_id")
    charge_detail = fields.String(allow_none=True)

"""The played Rewardful: lists newest first, each page with totals; rows have only the objects that are expanded."""

import base64
import hmac
from collections.abc import Mapping
from datetime import datetime
from typing import Any, ClassVar

from commands.demo.played import paging
from commands.demo.played.account import PlayedAccount, PlayedRows
from commands.demo.played.sample import Sample
from commands.demo.played.source import PlayedRequest, PlayedResponse, PlayedSource

_STATES = {
    "active": "active",
    "pending": "active",
    "rejected": "disabled",
    "paused": "disabled",
    "banned": "suspicious",
}
_COMMISSION_STATES = {"paid": "paid", "owed": "due", "pending": "pending", "refunded": "voided", "denied": "voided"}


def build_account(sample: Sample) -> PlayedAccount:
    """Return the sample in Rewardful's JSON, everything expanded."""
    rendered = _RewardfulRows(sample)
    return PlayedAccount(
        credentials={"apiSecret": "sample-rewardful-secret"},
        collections={
            "campaigns": PlayedRows(count=sample.campaigns, compute=rendered.campaign),
            "affiliates": PlayedRows(count=sample.affiliates, compute=rendered.affiliate),
            "affiliate_coupons": PlayedRows(
                rendered.coupon(index) for index in range(sample.affiliates) if sample.affiliate(index).code
            ),
            "referrals": PlayedRows(count=sample.customers, compute=rendered.referral),
            "commissions": PlayedRows(count=sample.commissions, compute=rendered.commission),
            "payouts": PlayedRows(rendered.payout(index) for index in range(len(rendered.payouts))),
        },
    )


def build_source(account: PlayedAccount) -> PlayedSource:
    """Return the source of an account."""
    return PlayedRewardful(account)


class PlayedRewardful(PlayedSource):
    """Rewardful's API v1 over an account."""

    path = "/v1"
    routes: ClassVar[Mapping[str, str]] = {
        "/(campaigns|affiliates|affiliate_coupons|referrals|commissions|payouts)": "list_rows",
    }

    def is_authorized(self, request: PlayedRequest) -> bool:
        """Return whether the secret is the user name, with an empty password."""
        user = base64.b64encode(f"{self.account.credentials['apiSecret']}:".encode())
        return hmac.compare_digest(request.headers.get("authorization", "").encode(), b"Basic " + user)

    def refuse(self, request: PlayedRequest) -> PlayedResponse:
        """Return the response to a wrong secret."""
        return PlayedResponse({"error": "Invalid API Secret."}, 401)

    def list_rows(self, request: PlayedRequest, collection: str) -> PlayedResponse:
        """Return a page of a collection."""
        rows = self.account[collection]
        states = set(request.values("conversion_state[]"))
        if states and collection == "referrals" and self.account.facts.get("has_visitors"):
            rows = paging.select_matching(rows, lambda row: row.get("conversion_state") in states)
        page = paging.page_number(request)
        size = paging.page_size(request, "limit", default=25, most=100)
        total, pages = len(rows), paging.count_pages(len(rows), size)
        expanded = request.values("expand[]")
        data = [_collapse(row, collection, expanded) for row in paging.newest_first(rows, page=page, size=size)]
        return PlayedResponse(
            {
                "pagination": {
                    "previous_page": page - 1 if page > 1 else None,
                    "current_page": page,
                    "next_page": page + 1 if page < pages else None,
                    "count": len(data),
                    "limit": size,
                    "total_pages": pages,
                    "total_count": total,
                },
                "data": data,
            }
        )


# Fields that a row has only if the request expands them.
_EXPANDABLE = {
    "affiliates": ("campaign", "links"),
    "referrals": ("affiliate",),
    "commissions": ("sale", "campaign"),
    "payouts": ("affiliate", "commissions"),
}


def _collapse(row: Any, collection: str, expanded: Any) -> Any:
    """Return a row without the objects that the request does not expand."""
    hidden = [name for name in _EXPANDABLE.get(collection, ()) if name not in expanded]
    if not hidden or not isinstance(row, Mapping):
        return row
    return {name: value for name, value in row.items() if name not in hidden}


class _RewardfulRows:
    """Renders rows of a sample."""

    def __init__(self, sample: Sample) -> None:
        self._sample = sample
        self.payouts = sample.payouts()
        self._counts = _count_referrals(sample)

    def campaign(self, index: int) -> dict[str, Any]:
        campaign = self._sample.campaign(index)
        return {
            "id": self._sample.id("campaign", index),
            "name": campaign.name,
            "url": "https://shop.example.com/",
            "reward_type": "percent",
            "commission_percent": float(campaign.percent),
            "commission_amount_cents": None,
            "commission_amount_currency": None,
            "max_commission_period_months": campaign.months,
            "max_commissions": None,
            "days_before_referrals_expire": campaign.cookie_days,
            "days_until_commissions_are_due": campaign.hold_days,
            "minimum_payout_cents": 5000,
            "minimum_payout_currency": "USD",
            "affiliates": len(range(index, self._sample.affiliates, self._sample.campaigns)),
        }

    def affiliate(self, index: int) -> dict[str, Any]:
        affiliate = self._sample.affiliate(index)
        leads, conversions = self._counts.get(index, (0, 0))
        return {
            **self._person(index),
            "paypal_email": affiliate.paypal_email,
            "confirmed_at": _utc(affiliate.created_at),
            "created_at": _utc(affiliate.created_at),
            "state": _STATES[affiliate.word],
            "visitors": leads + conversions + 5,
            "leads": leads,
            "conversions": conversions,
            "campaign": self.campaign(affiliate.campaign),
            "links": [
                {
                    "id": self._sample.id("link", index * 2 + place),
                    "url": f"https://shop.example.com/?via={token}",
                    "token": token,
                }
                for place, token in enumerate(affiliate.tokens)
            ],
            "coupon": None,
        }

    def coupon(self, index: int) -> dict[str, Any]:
        affiliate = self._sample.affiliate(index)
        return {
            "id": self._sample.id("code", index),
            "external_id": f"promo_{index}",
            "token": affiliate.code,
            "archived": affiliate.is_code_archived,
            "archived_at": _utc(affiliate.created_at) if affiliate.is_code_archived else None,
            "affiliate_id": self._sample.id("affiliate", index),
        }

    def referral(self, index: int) -> dict[str, Any]:
        customer = self._sample.customer(index)
        return {
            **self._referral(index),
            "link": None,
            "coupon": None,
            "affiliate": self._person(customer.affiliate),
            "created_at": _utc(customer.created_at),
            "became_lead_at": _utc(customer.created_at),
            "became_conversion_at": _utc(customer.first_paid_at),
            "expires_at": None,
            "deactivated_at": None,
            "conversion_state": "conversion" if customer.first_paid_at else "lead",
        }

    def commission(self, index: int) -> dict[str, Any]:
        commission = self._sample.commission(index)
        affiliate = self._sample.affiliate(commission.affiliate)
        is_paid = commission.word == "paid"
        return {
            "id": self._sample.id("commission", index),
            "amount": commission.commission_cents,
            "currency": commission.currency,
            "state": _COMMISSION_STATES[commission.word],
            "due_at": _utc(commission.due_at),
            "paid_at": _utc(commission.due_at) if is_paid else None,
            "voided_at": None,
            "created_at": _utc(commission.paid_by_customer_at),
            "campaign": {
                "id": self._sample.id("campaign", affiliate.campaign),
                "name": self._sample.campaign(affiliate.campaign).name,
            },
            "sale": {
                "id": self._sample.id("sale", index),
                "currency": commission.currency,
                "charged_at": _utc(commission.paid_by_customer_at),
                "stripe_charge_id": commission.charge_id,
                "charge_amount_cents": commission.sale_cents + commission.tax_cents,
                "refund_amount_cents": commission.refunded_cents,
                "tax_amount_cents": commission.tax_cents,
                "sale_amount_cents": commission.sale_cents,
                "referral": self._referral(commission.customer),
                "affiliate": self._person(commission.affiliate),
            },
        }

    def payout(self, index: int) -> dict[str, Any]:
        payout = self.payouts[index]
        return {
            "id": self._sample.id("payout", index),
            "amount": payout.cents,
            "currency": payout.currency,
            "state": "paid",
            "paid_at": _utc(payout.paid_at),
            "affiliate": self._person(payout.affiliate),
        }

    def _person(self, index: int) -> dict[str, Any]:
        affiliate = self._sample.affiliate(index)
        return {
            "id": self._sample.id("affiliate", index),
            "first_name": affiliate.first_name,
            "last_name": affiliate.last_name,
            "email": affiliate.email,
        }

    def _referral(self, index: int) -> dict[str, Any]:
        customer = self._sample.customer(index)
        person = {"id": customer.billing_id, "name": customer.name, "email": customer.email, "platform": "stripe"}
        return {
            "id": self._sample.id("customer", index),
            "stripe_customer_id": customer.billing_id,
            "customer": person,
        }


def _count_referrals(sample: Sample) -> dict[int, tuple[int, int]]:
    """Return leads and conversions by affiliate."""
    counts: dict[int, tuple[int, int]] = {}
    for index in range(sample.customers):
        affiliate = sample.affiliate_of(index)
        leads, conversions = counts.get(affiliate, (0, 0))
        has_paid = index < sample.payers
        counts[affiliate] = (leads, conversions + 1) if has_paid else (leads + 1, conversions)
    return counts


def _utc(at: datetime | None) -> str | None:
    return at.strftime("%Y-%m-%dT%H:%M:%S.000Z") if at else None

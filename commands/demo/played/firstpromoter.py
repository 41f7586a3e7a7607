"""The played FirstPromoter: pages by number without totals, bare lists except the promoters'."""

import hmac
from collections.abc import Mapping
from datetime import datetime
from typing import Any, ClassVar

from commands.demo.played import paging
from commands.demo.played.account import PlayedAccount, PlayedRows
from commands.demo.played.sample import Sample
from commands.demo.played.source import PlayedRequest, PlayedResponse, PlayedSource

_STATES = {
    "active": "accepted",
    "pending": "pending",
    "rejected": "rejected",
    "paused": "inactive",
    "banned": "blocked",
}
_COMMISSION_STATES = {
    "paid": "approved",
    "owed": "approved",
    "pending": "pending",
    "refunded": "denied",
    "denied": "denied",
}


def build_account(sample: Sample) -> PlayedAccount:
    """Return the sample in FirstPromoter's JSON. Its money is in one currency, which no row names."""
    rendered = _FirstPromoterRows(sample)
    codes = [index for index in range(sample.affiliates) if sample.affiliate(index).code]
    return PlayedAccount(
        credentials={"apiKey": "sample-firstpromoter-key", "accountId": "acct-sample"},
        collections={
            "campaigns": PlayedRows(count=sample.campaigns, compute=rendered.campaign),
            "promoters": PlayedRows(count=sample.affiliates, compute=rendered.promoter),
            "promo_codes": PlayedRows(rendered.promo_code(index) for index in codes),
            "referrals": PlayedRows(count=sample.customers, compute=rendered.referral),
            "commissions": PlayedRows(count=sample.commissions, compute=rendered.commission),
            "payouts": PlayedRows(rendered.payouts()),
        },
    )


def build_source(account: PlayedAccount) -> PlayedSource:
    """Return the source of an account."""
    return PlayedFirstPromoter(account)


class PlayedFirstPromoter(PlayedSource):
    """FirstPromoter's company API v2 over an account."""

    path = "/api/v2/company"
    routes: ClassVar[Mapping[str, str]] = {
        "/(campaigns|promoters|promo_codes|referrals|commissions|payouts)": "list_rows",
    }

    def is_authorized(self, request: PlayedRequest) -> bool:
        """Return whether key and account id are the account's."""
        key, account_id = (self.account.credentials[name].encode() for name in ("apiKey", "accountId"))
        is_key = hmac.compare_digest(request.headers.get("authorization", "").encode(), b"Bearer " + key)
        return is_key and hmac.compare_digest(request.headers.get("account-id", "").encode(), account_id)

    def refuse(self, request: PlayedRequest) -> PlayedResponse:
        """Return the response to a wrong key or account."""
        return PlayedResponse({"message": "Unauthorized", "code": "unauthorized"}, 401)

    def list_rows(self, request: PlayedRequest, collection: str) -> PlayedResponse:
        """Return a page of a collection, newest first; after the last one it is empty."""
        size = paging.page_size(request, "per_page", default=20, most=100)
        data = paging.newest_first(self.account[collection], page=paging.page_number(request), size=size)
        if collection == "promoters":
            return PlayedResponse({"data": data, "meta": {"pending_count": 0}})
        return PlayedResponse(data)


class _FirstPromoterRows:
    """Renders rows of a sample. Ids are numbers: campaigns from 1, others from a thousand apart by their kind."""

    def __init__(self, sample: Sample) -> None:
        self._sample = sample
        self._stats = _sum_stats(sample)

    def campaign(self, index: int) -> dict[str, Any]:
        campaign = self._sample.campaign(index)
        return {
            "id": index + 1,
            "name": campaign.name,
            "ref_token_param": "fpr",
            "visitor_cookie_life": campaign.cookie_days,
            "upgrade_details": None,
            "rewards_for_promoters": [{"reward": {"name": f"{campaign.percent}%", "tier_level": 1}}],
        }

    def promoter(self, index: int) -> dict[str, Any]:
        affiliate = self._sample.affiliate(index)
        customers, payers, sales, revenue = self._stats.get(index, (0, 0, 0, 0))
        return {
            "id": _promoter_id(index),
            "email": affiliate.email,
            "name": f"{affiliate.first_name} {affiliate.last_name}",
            "cust_id": None,
            "profile": {"first_name": affiliate.first_name, "last_name": affiliate.last_name},
            "joined_at": _utc(affiliate.created_at),
            "archived_at": None,
            "stats": {
                "clicks_count": customers + 7,
                "referrals_count": customers,
                "sales_count": sales,
                "customers_count": payers,
                "revenue_amount": revenue,
            },
            "balances": {"cash": 0},
            "promoter_campaigns": [
                {
                    "id": _membership_id(index),
                    "campaign_id": affiliate.campaign + 1,
                    "promoter_id": _promoter_id(index),
                    "state": _STATES[affiliate.word],
                    "created_at": _utc(affiliate.created_at),
                    "ref_token": affiliate.tokens[0],
                    "ref_link": f"https://shop.example.com?fpr={affiliate.tokens[0]}",
                    "coupon": affiliate.code,
                    "campaign": {"id": affiliate.campaign + 1, "name": self._sample.campaign(affiliate.campaign).name},
                }
            ],
        }

    def promo_code(self, index: int) -> dict[str, Any]:
        affiliate = self._sample.affiliate(index)
        return {
            "id": 50_000 + index,
            "code": affiliate.code,
            "ext_id": f"promo_{index}",
            "promoter_campaign_id": _membership_id(index),
            "archived_at": _utc(affiliate.created_at) if affiliate.is_code_archived else None,
        }

    def referral(self, index: int) -> dict[str, Any]:
        customer = self._sample.customer(index)
        return {
            **self._referral(index),
            "state": "active" if customer.first_paid_at else "signup",
            "customer_since": _utc(customer.first_paid_at),
            "created_at": _utc(customer.created_at),
            "is_expired": False,
            "metadata": {},
            "promoter_campaign": self._membership(customer.affiliate),
        }

    def commission(self, index: int) -> dict[str, Any]:
        commission = self._sample.commission(index)
        return {
            "id": 70_000_000 + index,
            "status": _COMMISSION_STATES[commission.word],
            "is_paid": commission.word == "paid",
            "amount": commission.commission_cents,
            "sale_amount": commission.sale_cents,
            "original_sale_amount": commission.sale_cents,
            "original_sale_currency": commission.currency,
            "event_id": commission.charge_id,
            "commission_type": "sale",
            "unit": "cash",
            "tier": 1,
            "is_split": False,
            "fraud_check": "no_suspicion",
            "created_at": _utc(commission.paid_by_customer_at),
            "promoter_campaign": self._membership(commission.affiliate),
            "referral": self._referral(commission.customer),
            "split_details": None,
        }

    def payouts(self) -> list[dict[str, Any]]:
        sums: dict[int, int] = {}
        for payout in self._sample.payouts():
            sums[payout.affiliate] = sums.get(payout.affiliate, 0) + payout.cents
        return [
            {
                "id": 90_000 + place,
                "status": "completed",
                "amount": cents,
                "unit": "cash",
                "paid_at": "2026-10-12T00:00:00.000Z",
                "promoter": self._promoter(affiliate),
                "campaign": {"id": self._sample.affiliate(affiliate).campaign + 1},
            }
            for place, (affiliate, cents) in enumerate(sorted(sums.items()))
        ]

    def _promoter(self, index: int) -> dict[str, Any]:
        affiliate = self._sample.affiliate(index)
        name = f"{affiliate.first_name} {affiliate.last_name}"
        return {"id": _promoter_id(index), "email": affiliate.email, "name": name}

    def _membership(self, index: int) -> dict[str, Any]:
        campaign = self._sample.affiliate(index).campaign
        return {
            "id": _membership_id(index),
            "campaign_id": campaign + 1,
            "promoter_id": _promoter_id(index),
            "promoter": self._promoter(index),
            "campaign": {"id": campaign + 1, "name": self._sample.campaign(campaign).name},
        }

    def _referral(self, index: int) -> dict[str, Any]:
        customer = self._sample.customer(index)
        return {"id": 3_000_000 + index, "email": customer.email, "uid": customer.billing_id or f"user-{index}"}


def _sum_stats(sample: Sample) -> dict[int, tuple[int, int, int, int]]:
    """Return customers, payers, sales and revenue by affiliate."""
    stats: dict[int, list[int]] = {}
    for index in range(sample.customers):
        row = stats.setdefault(sample.affiliate_of(index), [0, 0, 0, 0])
        row[0] += 1
        row[1] += index < sample.payers
    for index in range(sample.commissions):
        row = stats.setdefault(sample.affiliate_of(index % sample.payers), [0, 0, 0, 0])
        row[2] += 1
        row[3] += sample.sale_cents(index)
    return {affiliate: (row[0], row[1], row[2], row[3]) for affiliate, row in stats.items()}


def _promoter_id(index: int) -> int:
    return 10_000 + index


def _membership_id(index: int) -> int:
    return 20_000_000 + index


def _utc(at: datetime | None) -> str | None:
    return at.strftime("%Y-%m-%dT%H:%M:%S.000Z") if at else None

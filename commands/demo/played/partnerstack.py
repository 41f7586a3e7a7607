"""A played PartnerStack: the vendor API v2. Times are epoch milliseconds, pages follow the last key."""

import base64
from collections.abc import Mapping
from datetime import datetime
from typing import Any, ClassVar
from urllib.parse import quote, unquote

from commands.demo.played import paging
from commands.demo.played.account import PlayedAccount, PlayedRows
from commands.demo.played.sample import Sample
from commands.demo.played.source import PlayedRequest, PlayedResponse, PlayedSource

CREDENTIALS = {"publicKey": "pk_played", "secretKey": "sk_played"}
_STATUSES = {
    "active": ("approved", False),
    "pending": ("pending", False),
    "rejected": ("declined", False),
    "paused": ("approved", True),
    "banned": ("approved", True),
}
_REWARD_STATUSES = {
    "paid": "paid",
    "owed": "approved",
    "pending": "pending",
    "refunded": "declined",
    "denied": "declined",
}


def build_account(sample: Sample) -> PlayedAccount:
    """Return the sample as PartnerStack has it: its newest fiftieth of commissions is scheduled."""
    scheduled = sample.commissions // 50

    def rewards(first: int, count: int) -> PlayedRows:
        def find_index(key: str) -> int | None:
            number = _number(key)
            return None if number is None or not first <= number < first + count else number - first

        return PlayedRows(
            count=count,
            compute=lambda index: _reward(sample, first + index, is_scheduled=first > 0),
            find_index=find_index,
        )

    return PlayedAccount(
        dict(CREDENTIALS),
        {
            "partnerships": PlayedRows(
                count=sample.affiliates, compute=lambda index: _partnership(sample, index), find_index=_number
            ),
            "links": PlayedRows(link for index in range(sample.affiliates) for link in _links(sample, index)),
            "customers": PlayedRows(
                count=sample.customers, compute=lambda index: _customer(sample, index), find_index=_number
            ),
            "rewards": rewards(0, sample.commissions - scheduled),
            "scheduled": rewards(sample.commissions - scheduled, scheduled),
        },
    )


def build_source(account: PlayedAccount) -> "PlayedPartnerStack":
    """Return the source that serves an account."""
    return PlayedPartnerStack(account)


class PlayedPartnerStack(PlayedSource):
    """PartnerStack's lists. `facts["is_bare"]`: `data` of an answer is the list itself."""

    path = "/api/v2"
    routes: ClassVar[Mapping[str, str]] = {
        "/partnerships": "list_partnerships",
        "/links/partnership/([^/]+)": "list_links",
        "/customers": "list_customers",
        "/rewards": "list_rewards",
    }

    def is_authorized(self, request: PlayedRequest) -> bool:
        """Return whether the keys are the account's."""
        keys = self.account.credentials
        pair = base64.b64encode(f"{keys['publicKey']}:{keys['secretKey']}".encode()).decode()
        return request.headers.get("authorization") == f"Basic {pair}"

    def list_partnerships(self, request: PlayedRequest) -> PlayedResponse:
        """Return partnerships of a status; archived ones only if they are asked for."""
        status, with_archived = request.value("approved_status"), request.value("include_archived") == "true"
        rows = paging.select_matching(
            self.account["partnerships"],
            lambda row: (
                not isinstance(row, dict)
                or (status in ("", row.get("_status")) and (with_archived or not row.get("_archived")))
            ),
        )
        return self._page(request, rows)

    def list_links(self, request: PlayedRequest, partnership: str) -> PlayedResponse:
        """Return the links of a partnership by its key or email; 404 without any."""
        requested = unquote(partnership)
        rows = paging.select_matching(
            self.account["links"], lambda row: requested in (row.get("_partnership"), row.get("_email"))
        )
        return self._page(request, rows) if len(rows) else self.miss(request)

    def list_customers(self, request: PlayedRequest) -> PlayedResponse:
        """Return customers."""
        return self._page(request, self.account["customers"])

    def list_rewards(self, request: PlayedRequest) -> PlayedResponse:
        """Return rewards: the plain list has none that are scheduled."""
        name = "scheduled" if request.value("status") == "scheduled" else "rewards"
        return self._page(request, self.account[name])

    def _page(self, request: PlayedRequest, rows: PlayedRows) -> PlayedResponse:
        size = paging.page_size(request, "limit", default=10, most=250)
        try:
            page, has_more = paging.page_after(rows, request.value("starting_after"), size=size, key="key")
        except LookupError:
            return PlayedResponse({"data": None, "message": "starting_after was not found", "status": 400}, 400)
        items = [_public(row) for row in page]
        is_bare = self.account.facts.get("is_bare")
        data = items if is_bare else {"items": items, "has_more": has_more}
        return PlayedResponse({"data": data, "message": "Success", "status": 200})


def _public(row: Any) -> Any:
    """Return a row without what only this server knows of it."""
    return {name: row[name] for name in row if not name.startswith("_")} if isinstance(row, dict) else row


def _number(key: str) -> int | None:
    number = key.rpartition("_")[2]
    return int(number) if number.isascii() and number.isdigit() else None


def _millis(at: datetime) -> int:
    return int(at.timestamp() * 1000)


def _partnership(sample: Sample, index: int) -> dict[str, Any]:
    affiliate = sample.affiliate(index)
    status, is_archived = _STATUSES[affiliate.word]
    referrers = max(1, sample.affiliates - sample.affiliates // 5)
    return {
        "key": f"part_{index:06d}",
        "partner_key": affiliate.tokens[0],
        "email": affiliate.email,
        "first_name": affiliate.first_name,
        "last_name": affiliate.last_name,
        "group": {"slug": ("standard", "agencies")[index % 2]} if index % 3 else None,
        "stats": {"CUSTOMER_COUNT": len(range(index, sample.customers, referrers)) if index < referrers else 0},
        "joined_at": _millis(affiliate.created_at),
        "created_at": _millis(affiliate.created_at),
        "_status": status,
        "_archived": is_archived,
    }


def _links(sample: Sample, index: int) -> list[dict[str, Any]]:
    affiliate = sample.affiliate(index)
    if affiliate.word in ("pending", "rejected"):
        return []
    return [
        {
            "key": f"link_{index:06d}_{place}",
            "dest": "https://shop.example.com/",
            "url": f"https://shop.partnerlinks.example/{quote(token)}",
            "_partnership": f"part_{index:06d}",
            "_email": affiliate.email,
        }
        for place, token in enumerate(affiliate.tokens)
    ]


def _customer(sample: Sample, index: int) -> dict[str, Any]:
    customer = sample.customer(index)
    return {
        "key": f"cust_{index:08d}",
        "customer_key": f"user-{index}",
        "provider_key": customer.billing_id,
        "email": customer.email,
        "name": customer.name,
        "partnership_key": f"part_{customer.affiliate:06d}",
        "partner_key": sample.affiliate(customer.affiliate).tokens[0],
        "test": False,
        "created_at": _millis(customer.created_at),
    }


def _reward(sample: Sample, index: int, *, is_scheduled: bool) -> dict[str, Any]:
    commission = sample.commission(index)
    at = _millis(commission.paid_by_customer_at)
    return {
        "key": f"reward_{index:08d}",
        "amount": commission.commission_cents,
        "currency": commission.currency,
        "description": "Purchase",
        "reward_status": "scheduled" if is_scheduled else _REWARD_STATUSES[commission.word],
        "customer": {
            "email": sample.customer(commission.customer).email,
            "external_key": f"user-{commission.customer}",
        },
        "transaction": {
            "key": f"tran_{index:08d}",
            "amount": commission.sale_cents,
            "currency": commission.currency,
        },
        "partnership": {
            "key": f"part_{commission.affiliate:06d}",
            "email": sample.affiliate(commission.affiliate).email,
        },
        "created_at": at,
        "updated_at": at,
    }

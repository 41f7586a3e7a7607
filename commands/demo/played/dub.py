"""A played Dub: partners and codes by page number, customers and commissions after the last id. All money is USD."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, ClassVar

from commands.demo.played import paging
from commands.demo.played.account import PlayedAccount, PlayedRows
from commands.demo.played.sample import Sample
from commands.demo.played.source import PlayedRequest, PlayedResponse, PlayedSource

CREDENTIALS = {"apiKey": "dub_played"}
_STATUSES = {
    "active": "approved",
    "pending": "pending",
    "rejected": "rejected",
    "paused": "deactivated",
    "banned": "banned",
}
_COMMISSION_STATUSES = {
    "paid": "paid",
    "owed": "processed",
    "pending": "pending",
    "refunded": "refunded",
    "denied": "canceled",
}


def build_account(sample: Sample) -> PlayedAccount:
    """Return the sample as Dub has it."""
    totals = _sum_by_partner(sample)

    def compute_rows(count: int, compute: Callable[[Sample, int], Any]) -> PlayedRows:
        return PlayedRows(count=count, compute=lambda index: compute(sample, index), find_index=_number)

    partners = PlayedRows(_partner(sample, index, *totals.get(index, (0, 0))) for index in range(sample.affiliates))
    codes = (_code(sample, index) for index in range(sample.affiliates))
    return PlayedAccount(
        dict(CREDENTIALS),
        {
            "partners": partners,
            "discount_codes": PlayedRows(code for code in codes if code is not None),
            "customers": compute_rows(sample.customers, _customer),
            "commissions": compute_rows(sample.commissions, _commission),
        },
    )


def build_source(account: PlayedAccount) -> "PlayedDub":
    """Return the source that serves an account."""
    return PlayedDub(account)


class PlayedDub(PlayedSource):
    """Dub's lists. `facts["rate_limit"]` are the headers of its limit, if any are sent."""

    routes: ClassVar[Mapping[str, str]] = {
        "/partners": "list_partners",
        "/discount-codes": "list_codes",
        "/customers": "list_customers",
        "/commissions": "list_commissions",
    }

    def is_authorized(self, request: PlayedRequest) -> bool:
        """Return whether the key is the account's."""
        return request.headers.get("authorization") == f"Bearer {self.account.credentials['apiKey']}"

    def refuse(self, request: PlayedRequest) -> PlayedResponse:
        """Return Dub's form of an error."""
        return PlayedResponse({"error": {"code": "unauthorized", "message": "Unauthorized: Invalid API key."}}, 401)

    def list_partners(self, request: PlayedRequest) -> PlayedResponse:
        """Return partners of a status, oldest first; without one those that are approved or invited."""
        statuses = [request.value("status")] if request.value("status") else ["approved", "invited"]
        rows = paging.select_matching(
            self.account["partners"], lambda row: not isinstance(row, dict) or row.get("status") in statuses
        )
        return self._list_page(request, rows)

    def list_codes(self, request: PlayedRequest) -> PlayedResponse:
        """Return discount codes."""
        return self._list_page(request, self.account["discount_codes"])

    def list_customers(self, request: PlayedRequest) -> PlayedResponse:
        """Return customers; who referred them only if it is asked for."""
        response = self._list_after(request, self.account["customers"])
        if request.value("includeExpandedFields") != "true" and response.status == 200:
            for row in response.body:
                row.pop("partner", None)
        return response

    def list_commissions(self, request: PlayedRequest) -> PlayedResponse:
        """Return commissions, oldest first."""
        return self._list_after(request, self.account["commissions"])

    def _list_page(self, request: PlayedRequest, rows: PlayedRows) -> PlayedResponse:
        size = paging.page_size(request, "pageSize", default=100, most=100)
        return self._respond(paging.oldest_first(rows, page=paging.page_number(request), size=size))

    def _list_after(self, request: PlayedRequest, rows: PlayedRows) -> PlayedResponse:
        size = paging.page_size(request, "pageSize", default=100, most=100)
        try:
            page, _ = paging.page_after(rows, request.value("startingAfter"), size=size)
        except LookupError:
            return PlayedResponse({"error": {"code": "unprocessable_entity", "message": "Invalid cursor"}}, 422)
        return self._respond(page)

    def _respond(self, page: list[Any]) -> PlayedResponse:
        return PlayedResponse(page, headers=self.account.facts.get("rate_limit", {}))


def _number(row_id: str) -> int | None:
    number = row_id.rpartition("_")[2]
    return int(number) if number.isascii() and number.isdigit() else None


def _time(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%S.000Z")


def _sum_by_partner(sample: Sample) -> dict[int, tuple[int, int]]:
    """Return sales and commissions of each partner; lost ones count in neither's commissions."""
    sums: dict[int, tuple[int, int]] = {}
    for index in range(sample.commissions):
        commission = sample.commission(index)
        sales, earned = sums.get(commission.affiliate, (0, 0))
        is_lost = commission.word in ("refunded", "denied")
        sums[commission.affiliate] = (
            sales + commission.sale_cents,
            earned + (0 if is_lost else commission.commission_cents),
        )
    return sums


def _partner(sample: Sample, index: int, sales: int, earned: int) -> dict[str, Any]:
    affiliate = sample.affiliate(index)
    return {
        "id": f"pn_{index:06d}",
        "programId": "prog_played",
        "name": f"{affiliate.first_name} {affiliate.last_name}",
        "email": affiliate.email,
        "status": _STATUSES[affiliate.word],
        "groupId": ("grp_standard", "grp_agencies")[index % 2],
        "paypalEmail": affiliate.paypal_email,
        "createdAt": _time(affiliate.created_at),
        "links": [
            {
                "id": f"link_{index:06d}{place}",
                "domain": "go.example.com",
                "key": token,
                "shortLink": f"https://go.example.com/{token}",
                "url": "https://shop.example.com/",
            }
            for place, token in enumerate(affiliate.tokens)
        ],
        "totalSaleAmount": sales,
        "totalCommissions": earned,
    }


def _code(sample: Sample, index: int) -> dict[str, Any] | None:
    affiliate = sample.affiliate(index)
    if affiliate.code is None:
        return None
    disabled_at = _time(sample.until) if affiliate.is_code_archived else None
    return {
        "id": f"dcode_{index:06d}",
        "code": affiliate.code,
        "partnerId": f"pn_{index:06d}",
        "disabledAt": disabled_at,
    }


def _customer(sample: Sample, index: int) -> dict[str, Any]:
    customer = sample.customer(index)
    sales = range(index, sample.commissions if customer.payments else 0, sample.payers)
    return {
        **_customer_of_commission(sample, index),
        "createdAt": _time(customer.created_at),
        "firstSaleAt": _time(customer.first_paid_at) if customer.first_paid_at else None,
        "sales": customer.payments,
        "saleAmount": sum(sample.commission(number).sale_cents for number in sales),
        "link": {"id": f"link_{customer.affiliate:06d}0", "key": sample.affiliate(customer.affiliate).tokens[0]},
        "partner": _partner_of(sample, customer.affiliate),
    }


def _customer_of_commission(sample: Sample, index: int) -> dict[str, Any]:
    customer = sample.customer(index)
    return {
        "id": f"cus_dub_{index:08d}",
        "externalId": f"user-{index}",
        "stripeCustomerId": customer.billing_id,
        "email": customer.email,
        "name": customer.name,
    }


def _partner_of(sample: Sample, index: int) -> dict[str, Any]:
    affiliate = sample.affiliate(index)
    name = f"{affiliate.first_name} {affiliate.last_name}"
    return {"id": f"pn_{index:06d}", "name": name, "email": affiliate.email}


def _commission(sample: Sample, index: int) -> dict[str, Any]:
    commission = sample.commission(index)
    return {
        "id": f"cm_{index:08d}",
        "type": "sale",
        "amount": commission.sale_cents,
        "earnings": commission.commission_cents,
        "currency": "usd",
        "status": _COMMISSION_STATUSES[commission.word],
        "invoiceId": f"in_{index:08d}",
        "createdAt": _time(commission.paid_by_customer_at),
        "paidAt": _time(commission.due_at) if commission.word == "paid" else None,
        "partner": _partner_of(sample, commission.affiliate),
        "customer": _customer_of_commission(sample, commission.customer),
    }

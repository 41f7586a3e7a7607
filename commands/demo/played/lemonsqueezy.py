"""A played Lemon Squeezy: a JSON:API, newest first. Orders and invoices name their affiliate, nothing their commission.

Each customer's first sale is an order with its initial invoice; later ones are renewals.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, ClassVar

from commands.demo.played import paging
from commands.demo.played.account import PlayedAccount, PlayedRows
from commands.demo.played.sample import Sample, SampleCommission
from commands.demo.played.source import PlayedRequest, PlayedResponse, PlayedSource

CREDENTIALS = {"apiKey": "played-key", "storeId": "1"}
#: The commission that affiliates have earned: percent of every sale in USD.
PERCENT = 30
_STATUSES = {
    "active": "active",
    "pending": "pending",
    "rejected": "disabled",
    "paused": "disabled",
    "banned": "disabled",
}


def build_account(sample: Sample) -> PlayedAccount:
    """Return the sample as Lemon Squeezy has it; what its newest tenth of sales earned is unpaid."""
    earned, unpaid = _sum_earnings(sample)

    def compute_rows(count: int, compute: Callable[[Sample, int], Any]) -> PlayedRows:
        return PlayedRows(count=count, compute=lambda index: compute(sample, index))

    return PlayedAccount(
        dict(CREDENTIALS),
        {
            "affiliates": PlayedRows(
                _affiliate(sample, index, earned.get(index, 0), unpaid.get(index, 0))
                for index in range(sample.affiliates)
            ),
            "customers": compute_rows(sample.customers, _customer),
            "orders": compute_rows(sample.payers, _order),
            "invoices": compute_rows(sample.commissions, _invoice),
        },
        {"store": _object("stores", 1, {"name": "Played Store", "slug": "played", "currency": "USD"})},
    )


def build_source(account: PlayedAccount) -> "PlayedLemonSqueezy":
    """Return the source that serves an account."""
    return PlayedLemonSqueezy(account)


class PlayedLemonSqueezy(PlayedSource):
    """Lemon Squeezy's lists of one store."""

    path = "/v1"
    routes: ClassVar[Mapping[str, str]] = {
        "/stores/([^/]+)": "show_store",
        "/affiliates": "list_affiliates",
        "/customers": "list_customers",
        "/orders": "list_orders",
        "/subscription-invoices": "list_invoices",
    }

    def is_authorized(self, request: PlayedRequest) -> bool:
        """Return whether the key is the account's."""
        return request.headers.get("authorization") == f"Bearer {self.account.credentials['apiKey']}"

    def refuse(self, request: PlayedRequest) -> PlayedResponse:
        """Return the JSON:API's form of an error."""
        return PlayedResponse(
            {"errors": [{"status": "401", "title": "Unauthorized", "detail": "Unauthenticated."}]}, 401
        )

    def show_store(self, request: PlayedRequest, store_id: str) -> PlayedResponse:
        """Return the store."""
        if store_id != self.account.credentials["storeId"]:
            return self.miss(request)
        return PlayedResponse({"jsonapi": {"version": "1.0"}, "data": self.account.facts["store"]})

    def list_affiliates(self, request: PlayedRequest) -> PlayedResponse:
        """Return affiliates."""
        return self._page(request, "affiliates")

    def list_customers(self, request: PlayedRequest) -> PlayedResponse:
        """Return customers, with the ids of their affiliates only if these are included."""
        response = self._page(request, "customers")
        if request.value("include") != "affiliates":
            response.body["data"] = [{**row, "relationships": {}} for row in response.body["data"]]
        return response

    def list_orders(self, request: PlayedRequest) -> PlayedResponse:
        """Return orders."""
        return self._page(request, "orders")

    def list_invoices(self, request: PlayedRequest) -> PlayedResponse:
        """Return invoices of subscriptions."""
        return self._page(request, "invoices")

    def _page(self, request: PlayedRequest, name: str) -> PlayedResponse:
        rows = self.account[name]
        if request.value("filter[store_id]") != self.account.credentials["storeId"]:
            rows = PlayedRows()
        size = paging.page_size(request, "page[size]", default=10, most=100)
        number = paging.page_number(request, "page[number]")
        data = paging.newest_first(rows, page=number, size=size)
        page = {
            "currentPage": number,
            "lastPage": paging.count_pages(len(rows), size),
            "perPage": size,
            "total": len(rows),
        }
        return PlayedResponse({"meta": {"page": page}, "jsonapi": {"version": "1.0"}, "data": data})


def _object(kind: str, number: int, attributes: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": kind, "id": str(number), "attributes": attributes, **more}


def _time(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%S.000000Z")


def _sum_earnings(sample: Sample) -> tuple[dict[int, int], dict[int, int]]:
    """Return what each affiliate has earned in USD, and what of it is unpaid."""
    earned: dict[int, int] = {}
    unpaid: dict[int, int] = {}
    for index in range(sample.commissions):
        commission = sample.commission(index)
        if commission.currency == "USD":
            cents = commission.sale_cents * PERCENT // 100
            earned[commission.affiliate] = earned.get(commission.affiliate, 0) + cents
            if index >= sample.commissions - sample.commissions // 10:
                unpaid[commission.affiliate] = unpaid.get(commission.affiliate, 0) + cents
    return earned, unpaid


def _affiliate(sample: Sample, index: int, earned: int, unpaid: int) -> dict[str, Any]:
    affiliate = sample.affiliate(index)
    attributes = {
        "store_id": 1,
        "user_id": 5000 + index,
        "user_name": f"{affiliate.first_name} {affiliate.last_name}",
        "user_email": affiliate.email,
        "status": _STATUSES[affiliate.word],
        "total_earnings": earned,
        "unpaid_earnings": unpaid,
        "created_at": _time(affiliate.created_at),
        "updated_at": _time(affiliate.created_at),
    }
    return _object("affiliates", 100 + index, attributes)


def _customer(sample: Sample, index: int) -> dict[str, Any]:
    customer = sample.customer(index)
    attributes = {
        "store_id": 1,
        "name": customer.name,
        "email": customer.email,
        "status": "subscribed",
        "created_at": _time(customer.created_at),
        "test_mode": False,
    }
    affiliates = {"data": [{"type": "affiliates", "id": str(100 + customer.affiliate)}]}
    return _object("customers", 1000 + index, attributes, relationships={"affiliates": affiliates})


def _order(sample: Sample, index: int) -> dict[str, Any]:
    return _object("orders", 700_000 + index, _sale(sample, sample.commission(index)))


def _invoice(sample: Sample, index: int) -> dict[str, Any]:
    commission = sample.commission(index)
    subscription = {
        "subscription_id": 40_000 + commission.customer,
        "billing_reason": "initial" if commission.is_first else "renewal",
    }
    return _object("subscription-invoices", 900_000 + index, {**_sale(sample, commission), **subscription})


def _sale(sample: Sample, commission: SampleCommission) -> dict[str, Any]:
    customer = sample.customer(commission.customer)
    is_whole = commission.refunded_cents == commission.sale_cents
    status = ("refunded" if is_whole else "partial_refund") if commission.refunded_cents else "paid"
    refunded = commission.refunded_cents + (commission.tax_cents if is_whole else 0)
    return {
        "store_id": 1,
        "customer_id": 1000 + commission.customer,
        "affiliate_id": 100 + commission.affiliate,
        "user_name": customer.name,
        "user_email": customer.email,
        "currency": commission.currency,
        "subtotal": commission.sale_cents + 500,
        "discount_total": 500,
        "tax": commission.tax_cents,
        "total": commission.sale_cents + commission.tax_cents,
        "refunded": is_whole and commission.refunded_cents > 0,
        "refunded_amount": refunded,
        "refunded_at": _time(sample.until) if refunded else None,
        "status": status,
        "created_at": _time(commission.paid_by_customer_at),
        "test_mode": False,
    }

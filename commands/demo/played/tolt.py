"""The played Tolt: lists by the last id, each of one program; `/customers` nests its list in `data`."""

import hmac
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, ClassVar

from commands.demo.played import paging
from commands.demo.played.account import PlayedAccount, PlayedRows
from commands.demo.played.sample import Sample
from commands.demo.played.source import PlayedRequest, PlayedResponse, PlayedSource

_PROGRAM = "prg_sample0000000001"
_STATUSES = {
    "active": "active",
    "pending": "pending",
    "rejected": "rejected",
    "paused": "suspended",
    "banned": "suspended",
}
_COMMISSION_STATUSES = {
    "paid": "paid",
    "owed": "approved",
    "pending": "pending",
    "refunded": "refunded",
    "denied": "rejected",
}


def build_account(sample: Sample) -> PlayedAccount:
    """Return the sample in Tolt's JSON, everything expanded. It has one program."""
    rendered = _ToltRows(sample)
    codes = [index for index in range(sample.affiliates) if sample.affiliate(index).code]
    return PlayedAccount(
        credentials={"apiKey": "sample-tolt-key", "programId": _PROGRAM},
        collections={
            "partners": _lazy(sample.affiliates, rendered.partner, "part"),
            "links": PlayedRows(row for index in range(sample.affiliates) for row in rendered.links(index)),
            "promotion-codes": PlayedRows(rendered.code(index) for index in codes),
            "customers": _lazy(sample.customers, rendered.customer, "cust"),
            "commissions": _lazy(sample.commissions, rendered.commission, "comm"),
        },
        facts={"program": {"id": _PROGRAM, "name": "Sample program", "currency_code": sample.currencies[0]}},
    )


def build_source(account: PlayedAccount) -> PlayedSource:
    """Return the source of an account."""
    return PlayedTolt(account)


class PlayedTolt(PlayedSource):
    """Tolt's API v1 over an account."""

    path = "/v1"
    routes: ClassVar[Mapping[str, str]] = {"/(partners|links|promotion-codes|customers|commissions)": "list_rows"}

    def is_authorized(self, request: PlayedRequest) -> bool:
        """Return whether the key is the account's."""
        key = f"Bearer {self.account.credentials['apiKey']}"
        return hmac.compare_digest(request.headers.get("authorization", "").encode(), key.encode())

    def refuse(self, request: PlayedRequest) -> PlayedResponse:
        """Return the response to a wrong key."""
        return _fail("Invalid API key", "authentication_error", 401)

    def list_rows(self, request: PlayedRequest, collection: str) -> PlayedResponse:
        """Return a page of a collection."""
        if request.value("program_id") != self.account.credentials["programId"]:
            return _fail("Program not found", "invalid_request_error", 404)
        rows = self.account[collection]
        if request.value("order", "desc") != "asc":
            return _fail("The played source has ascending lists only", "invalid_request_error", 400)
        size = paging.page_size(request, "limit", default=10, most=100)
        try:
            data, has_more = paging.page_after(rows, request.value("starting_after"), size=size)
        except LookupError:
            return _fail("No such object", "invalid_request_error", 400)
        expanded = set(request.values("expand[]"))
        data_rows = [self._collapse(row, collection, expanded) for row in data]
        return PlayedResponse(
            {
                "success": True,
                "has_more": has_more,
                "total_count": len(rows),
                "data": {"data": data_rows} if collection == "customers" else data_rows,
            }
        )

    def _collapse(self, row: Any, collection: str, expanded: set[str]) -> Any:
        """Return a row with the objects that the request expands, and without the others."""
        if not isinstance(row, Mapping):
            return row
        expandable = ("program", "partner", "customer", "transaction")
        visible = {name: value for name, value in row.items() if name not in expandable or name in expanded}
        if collection == "partners" and "program" in expanded:
            visible.setdefault("program", self.account.facts["program"])
        return visible


def _fail(message: str, kind: str, status: int) -> PlayedResponse:
    return PlayedResponse({"success": False, "error": {"message": message, "type": kind}}, status)


def _lazy(count: int, compute: Callable[[int], Any], prefix: str) -> PlayedRows:
    """Return computed rows whose ids are a prefix and their index."""

    def find_index(row_id: str) -> int | None:
        number = row_id.removeprefix(f"{prefix}_")
        return int(number) if number.isdigit() and int(number) < count else None

    return PlayedRows(count=count, compute=compute, find_index=find_index)


class _ToltRows:
    """Renders rows of a sample."""

    def __init__(self, sample: Sample) -> None:
        self._sample = sample

    def partner(self, index: int) -> dict[str, Any]:
        affiliate = self._sample.affiliate(index)
        return {
            **self._person(index),
            "status": _STATUSES[affiliate.word],
            "group_id": None,
            "created_at": _utc(affiliate.created_at),
        }

    def links(self, index: int) -> list[dict[str, Any]]:
        return [
            {
                "id": f"lnk_{index * 2 + place:012d}",
                "param": "ref",
                "value": token,
                "partner_id": f"part_{index:012d}",
                "partner": self._person(index),
            }
            for place, token in enumerate(self._sample.affiliate(index).tokens)
        ]

    def code(self, index: int) -> dict[str, Any]:
        affiliate = self._sample.affiliate(index)
        return {
            "id": f"prom_{index:012d}",
            "code": affiliate.code,
            "type": "percentage",
            "value": 10,
            "active": not affiliate.is_code_archived,
            "partner_id": f"part_{index:012d}",
        }

    def customer(self, index: int) -> dict[str, Any]:
        customer = self._sample.customer(index)
        return {
            **self._buyer(index),
            "subscription_id": customer.subscription_id,
            "status": "active" if customer.first_paid_at else "lead",
            "lead_at": _utc(customer.created_at),
            "active_at": _utc(customer.first_paid_at),
            "created_at": _utc(customer.created_at),
            "partner": self._person(customer.affiliate),
            "promotion_code_id": None,
        }

    def commission(self, index: int) -> dict[str, Any]:
        commission = self._sample.commission(index)
        is_in_first = commission.currency == self._sample.currencies[0]
        return {
            "id": f"comm_{index:012d}",
            # Whole cents as text or as a number.
            "amount": str(commission.commission_cents) if index % 2 else commission.commission_cents,
            "revenue": str(commission.sale_cents) if index % 3 else commission.sale_cents,
            "currency": None if is_in_first and index % 5 == 0 else commission.currency,
            "status": _COMMISSION_STATUSES[commission.word],
            "type": "sale" if index % 7 else None,
            "transaction_id": f"txn_{index:012d}",
            "charge_id": commission.charge_id,
            "charge_status": "refunded" if commission.word == "refunded" else "succeeded",
            "payout_id": None,
            "scheduled_approval_date": _utc(commission.due_at),
            "created_at": _utc(commission.paid_by_customer_at),
            "partner": self._person(commission.affiliate),
            "customer": self._buyer(commission.customer),
            "transaction": {"id": f"txn_{index:012d}", "amount": commission.sale_cents},
        }

    def _person(self, index: int) -> dict[str, Any]:
        affiliate = self._sample.affiliate(index)
        return {
            "id": f"part_{index:012d}",
            "email": affiliate.email,
            "first_name": affiliate.first_name,
            "last_name": affiliate.last_name,
        }

    def _buyer(self, index: int) -> dict[str, Any]:
        customer = self._sample.customer(index)
        return {
            "id": f"cust_{index:012d}",
            "customer_id": customer.billing_id or f"user-{index}",
            "email": customer.email,
            "name": customer.name,
        }


def _utc(at: datetime | None) -> str | None:
    return at.strftime("%Y-%m-%dT%H:%M:%SZ") if at else None

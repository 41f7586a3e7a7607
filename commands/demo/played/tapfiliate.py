"""A played Tapfiliate 1.6: pages of 25, newest first, which only the Link header names. Amounts are decimals."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, ClassVar
from urllib.parse import quote, urlencode

from commands.demo.played import paging
from commands.demo.played.account import PlayedAccount, PlayedRows
from commands.demo.played.sample import Sample, SampleCommission
from commands.demo.played.source import PlayedRequest, PlayedResponse, PlayedSource
from domain.money import currencies

CREDENTIALS = {"apiKey": "played-key"}
_PAGE_SIZE = 25
_HTML = b"<!doctype html><title>Tapfiliate</title><p>Please sign in, or the page was not found.</p>"
_GROUPS = ("Standard", "Agencies")
_APPROVED = {"paid": True, "owed": True, "pending": None, "refunded": False, "denied": False}
_AFFILIATION_APPROVED = {"active": True, "pending": None, "rejected": False, "paused": False, "banned": False}


def build_account(sample: Sample) -> PlayedAccount:
    """Return the sample as Tapfiliate has it: a program for each campaign. Computes all rows, for pages are small."""
    affiliates = range(sample.affiliates)
    return PlayedAccount(
        dict(CREDENTIALS),
        {
            "programs": PlayedRows(_program(sample, index) for index in reversed(range(sample.campaigns))),
            "groups": PlayedRows(
                {"id": f"group-{index}", "title": title, "affiliate_count": len(range(index, sample.affiliates, 2))}
                for index, title in enumerate(_GROUPS)
            ),
            "affiliates": PlayedRows(_affiliate(sample, index) for index in affiliates),
            "affiliations": PlayedRows(_affiliation(sample, index) for index in affiliates),
            "prospects": PlayedRows(),
            "customers": PlayedRows(_customer(sample, index) for index in range(sample.customers)),
            "conversions": PlayedRows(_conversion(sample, index) for index in range(sample.commissions)),
            "payments": PlayedRows(_payments(sample)),
            "balances": PlayedRows(_balances(sample)),
        },
    )


def build_source(account: PlayedAccount) -> "PlayedTapfiliate":
    """Return the source that serves an account."""
    return PlayedTapfiliate(account)


class PlayedTapfiliate(PlayedSource):
    """Tapfiliate's lists. `facts["leaks"]`: filters by program let everything through."""

    path = "/1.6"
    routes: ClassVar[Mapping[str, str]] = {
        "/programs/": "list_programs",
        "/programs/([^/]+)/affiliates/": "list_affiliations",
        "/(customers|conversions)/": "list_of_program",
        "/commissions/": "list_commissions",
        "/affiliate-groups/": "list_groups",
        "/affiliate-prospects/": "list_prospects",
        "/(affiliates|payments|balances)/": "list_all",
    }

    def is_authorized(self, request: PlayedRequest) -> bool:
        """Return whether the key is the account's, in today's header or in that of older clients."""
        key = request.headers.get("x-api-key") or request.headers.get("api-key")
        return key == self.account.credentials["apiKey"]

    def refuse(self, request: PlayedRequest) -> PlayedResponse:
        """Return an HTML page without a key, JSON to a wrong one."""
        if request.headers.get("x-api-key") or request.headers.get("api-key"):
            return PlayedResponse({"message": "Authentication Failed.", "code": 401}, 401)
        return PlayedResponse(_HTML, 401, {"Content-Type": "text/html"})

    def miss(self, request: PlayedRequest) -> PlayedResponse:
        """Return an HTML page."""
        return PlayedResponse(_HTML, 404, {"Content-Type": "text/html"})

    def list_programs(self, request: PlayedRequest) -> PlayedResponse:
        """Return programs."""
        return self._page(request, self.account["programs"])

    def list_affiliations(self, request: PlayedRequest, program: str) -> PlayedResponse:
        """Return the affiliates of a program."""
        if not any(row["id"] == program for row in self.account["programs"]):
            return self.miss(request)
        rows = paging.select_matching(
            self.account["affiliations"], lambda row: not isinstance(row, dict) or row.get("_program") == program
        )
        return self._page(request, rows)

    def list_of_program(self, request: PlayedRequest, name: str) -> PlayedResponse:
        """Return customers or conversions of a program."""
        program, leaks = request.value("program_id"), self.account.facts.get("leaks")
        rows = paging.select_matching(
            self.account[name],
            lambda row: leaks or not isinstance(row, dict) or (row.get("program") or {"id": program})["id"] == program,
        )
        return self._page(request, rows)

    def list_commissions(self, request: PlayedRequest) -> PlayedResponse:
        """Return commissions, those that were paid or that were not if it is asked for."""
        is_paid = request.value("paid")
        rows = PlayedRows(
            commission
            for conversion in self.account["conversions"]
            if isinstance(conversion, dict)
            for commission in _list(conversion.get("commissions"))
            if is_paid in ("", str(int(bool(commission.get("_is_paid")))))
        )
        return self._page(request, rows)

    def list_groups(self, request: PlayedRequest) -> PlayedResponse:
        """Return groups of affiliates."""
        return self._page(request, self.account["groups"])

    def list_prospects(self, request: PlayedRequest) -> PlayedResponse:
        """Return applicants."""
        return self._page(request, self.account["prospects"])

    def list_all(self, request: PlayedRequest, name: str) -> PlayedResponse:
        """Return affiliates, payments or balances of the account."""
        return self._page(request, self.account[name])

    def _page(self, request: PlayedRequest, rows: PlayedRows) -> PlayedResponse:
        number, last = paging.page_number(request), paging.count_pages(len(rows), _PAGE_SIZE)
        page = [_public(row) for row in paging.newest_first(rows, page=number, size=_PAGE_SIZE)]
        links = [("first", 1), ("last", last)] + ([("next", number + 1)] if number < last else [])
        return PlayedResponse(page, headers={"Link": ", ".join(_link(request, *link) for link in links)})


def _link(request: PlayedRequest, relation: str, page: int) -> str:
    """Return a link by Tapfiliate's own address, whatever the address of this server is."""
    query = {name: values[0] for name, values in request.query.items()} | {"page": str(page)}
    return f'<https://api.tapfiliate.com{request.path}?{urlencode(query)}>; rel="{relation}"'


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _public(value: Any) -> Any:
    """Return a value without what only this server knows of it."""
    if isinstance(value, dict):
        return {name: _public(part) for name, part in value.items() if not name.startswith("_")}
    return [_public(part) for part in value] if isinstance(value, list) else value


def _time(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%S+00:00")


def _major(cents: int, currency: str) -> float:
    return float(currencies.to_major(cents, currency))


def _program(sample: Sample, index: int) -> dict[str, Any]:
    campaign = sample.campaign(index)
    return {
        "id": f"program-{index}",
        "title": campaign.name,
        "currency": sample.currencies[0],
        "cookie_time": campaign.cookie_days,
        "recurring_commissions": True,
    }


def _affiliate(sample: Sample, index: int) -> dict[str, Any]:
    affiliate = sample.affiliate(index)
    return {
        "id": f"partner-{index}",
        "email": affiliate.email,
        "firstname": affiliate.first_name,
        "lastname": affiliate.last_name,
        "affiliate_group_id": f"group-{index % 2}",
        "parent": {"id": "partner-0"} if index == 1 else None,
        "created_at": _time(affiliate.created_at),
        "meta_data": {},
    }


def _person(sample: Sample, index: int) -> dict[str, Any]:
    row = _affiliate(sample, index)
    return {name: row[name] for name in ("id", "email", "firstname", "lastname")}


def _affiliation(sample: Sample, index: int) -> dict[str, Any]:
    affiliate = sample.affiliate(index)
    link = f"https://shop.example.com/?ref={quote(affiliate.tokens[0])}"
    return {
        "affiliate": _person(sample, index),
        "approved": _AFFILIATION_APPROVED[affiliate.word],
        "coupon": affiliate.code,
        "referral_link": {"link": link} if index % 2 else link,
        "created_at": _time(affiliate.created_at),
        "_program": f"program-{affiliate.campaign}",
    }


def _customer(sample: Sample, index: int) -> dict[str, Any]:
    customer = sample.customer(index)
    program = sample.affiliate(customer.affiliate).campaign
    return {
        "id": f"cu_{index:06d}",
        "customer_id": customer.billing_id or customer.email,
        "status": "paid" if customer.first_paid_at else "trial",
        "created_at": _time(customer.created_at),
        "program": {"id": f"program-{program}"},
        "affiliate": {"id": f"partner-{customer.affiliate}"},
        "meta_data": {},
    }


def _conversion(sample: Sample, index: int) -> dict[str, Any]:
    commission = sample.commission(index)
    program = sample.affiliate(commission.affiliate).campaign
    amount = _major(commission.sale_cents, commission.currency)
    return {
        "id": 10_000 + index,
        "external_id": commission.charge_id,
        "amount": amount,
        "click": None,
        "customer": {"id": f"cu_{commission.customer:06d}", "customer_id": f"cus_{commission.customer:014d}"},
        "program": {"id": f"program-{program}"},
        "affiliate": _person(sample, commission.affiliate),
        "created_at": _time(commission.paid_by_customer_at),
        "commissions": [_commission(commission, amount)],
    }


def _commission(commission: SampleCommission, amount: float) -> dict[str, Any]:
    return {
        "id": 50_000 + commission.index,
        "amount": _major(commission.commission_cents, commission.currency),
        "conversion_sub_amount": amount,
        "currency": commission.currency,
        "approved": _APPROVED[commission.word],
        "created_at": _time(commission.paid_by_customer_at),
        "kind": "regular",
        "final": None,
        "payout": None,
        "_is_paid": commission.word == "paid",
    }


def _payments(sample: Sample) -> Iterable[dict[str, Any]]:
    for payout in sample.payouts():
        yield {
            "id": f"payment-{payout.index}",
            "affiliate": _person(sample, payout.affiliate),
            "amount": _major(payout.cents, payout.currency),
            "currency": payout.currency,
            "paid_at": _time(payout.paid_at),
            "status": "paid",
        }


def _balances(sample: Sample) -> Iterable[dict[str, Any]]:
    """Return what is approved and not paid, by affiliate."""
    owed: dict[int, dict[str, int]] = {}
    for index in range(sample.commissions):
        commission = sample.commission(index)
        if commission.word in ("owed", "paid"):
            balances = owed.setdefault(commission.affiliate, {})
            cents = commission.commission_cents if commission.word == "owed" else 0
            balances[commission.currency] = balances.get(commission.currency, 0) + cents
    for affiliate, balances in sorted(owed.items()):
        amounts = {currency: _major(cents, currency) for currency, cents in balances.items()}
        yield {"affiliate_id": f"partner-{affiliate}", "balances": amounts}

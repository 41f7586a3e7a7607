"""Rewardful: campaigns, affiliates with their links, coupons, referrals, commissions and payouts, newest first.

A full refund deletes its commission, so that lists shrink while they are read; each page tells the total.
Source: the switch-over rules, part A, "Rewardful".
"""

import base64
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from adapters.gateways.base import CredentialField
from adapters.switches.base import (
    SourceAccount,
    SourceInfo,
    SourceList,
    SourcePage,
    SourceRequest,
    SourceResponse,
    SourceRow,
    StatedFigure,
    SwitchContext,
    UnreadableRow,
)
from adapters.switches.objects import rewardful
from adapters.switches.reading import rows, values
from domain.switches.figures import TOTALS, FigureName
from domain.switches.records import Record
from domain.switches.sources import Collection, SourceName

_PAGE_SIZE = 100
# Of each list: its path and what it expands or filters.
_QUERIES: Mapping[str, tuple[str, Mapping[str, Sequence[str]]]] = {
    "affiliates": ("/affiliates", {"expand[]": ("campaign", "links")}),
    "coupons": ("/affiliate_coupons", {}),
    "referrals": ("/referrals", {"conversion_state[]": ("lead", "conversion"), "expand[]": ("affiliate",)}),
    "commissions": ("/commissions", {"expand[]": ("sale", "campaign")}),
    "payouts": ("/payouts", {"expand[]": ("affiliate",)}),
}


class Rewardful:
    """Rewardful's REST API v1. Amounts are whole cents with a currency, times ISO 8601."""

    info = SourceInfo(
        name=SourceName.Rewardful,
        label="Rewardful",
        address="https://api.getrewardful.com/v1",
        fields=(CredentialField("apiSecret", "API secret", "Company settings, at the end of the page"),),
        collections=(
            Collection.Affiliates,
            Collection.Links,
            Collection.Codes,
            Collection.Customers,
            Collection.Commissions,
            Collection.Payouts,
        ),
        parameters=(rewardful.PARAMETER,),
        requests_per_s=1.4,
        recognized_by="campaigns",
    )

    def headers(self, credentials: Mapping[str, str]) -> Mapping[str, str]:
        """Return the secret as a user name with an empty password."""
        user = base64.b64encode(f"{credentials['apiSecret']}:".encode()).decode()
        return {"Authorization": f"Basic {user}", "Accept": "application/json"}

    def account_request(self, credentials: Mapping[str, str], cursor: Mapping[str, Any] | None = None) -> SourceRequest:
        """Return the request for the campaigns."""
        return SourceRequest("/campaigns", {"page": str(rows.read_page_number(cursor)), "limit": str(_PAGE_SIZE)})

    def read_account(
        self, credentials: Mapping[str, str], response: SourceResponse, cursor: Mapping[str, Any] | None = None
    ) -> SourceAccount:
        """Return the account, named by the site of its oldest campaign: the API has none. Raises UnreadablePage."""
        raw = [item for item in rows.read_list(response, "data") if rows.read_id(values.get(item, "id"))]
        oldest = raw[-1] if raw else {}
        try:
            host = urlsplit(values.text(oldest, "url") or "").hostname
        except ValueError:
            host = None
        name = host or values.text(oldest, "name") or self.info.label
        campaigns = [rewardful.read_campaign(item) for item in raw]
        next_cursor = _read_next(response, cursor, len(raw))
        return SourceAccount(name, values.text(oldest, "id") or "", campaigns, cursor=next_cursor)

    def lists(self, context: SwitchContext) -> Sequence[SourceList]:
        """Return the lists. Links come with the affiliates; coupons are a feature of some plans."""
        return [
            SourceList("affiliates", Collection.Affiliates, "by_total", _PAGE_SIZE),
            SourceList("coupons", Collection.Codes, "by_total", _PAGE_SIZE, is_optional=True),
            SourceList("referrals", Collection.Customers, "by_total", _PAGE_SIZE),
            SourceList("commissions", Collection.Commissions, "by_total", _PAGE_SIZE),
            SourceList("payouts", Collection.Payouts, "by_total", _PAGE_SIZE, is_optional=True),
        ]

    def request(
        self, walked: SourceList, cursor: Mapping[str, Any] | None, context: SwitchContext, parent: str | None = None
    ) -> SourceRequest:
        """Return the request for a page by its number."""
        path, query = _QUERIES[walked.name]
        return SourceRequest(path, {"page": str(rows.read_page_number(cursor)), "limit": str(_PAGE_SIZE), **query})

    def step_back(self, walked: SourceList, cursor: Mapping[str, Any], pages: int) -> Mapping[str, Any] | None:
        """Return the cursor so many pages earlier."""
        return rows.step_back(cursor, pages)

    def read_page(
        self,
        walked: SourceList,
        cursor: Mapping[str, Any] | None,
        response: SourceResponse,
        context: SwitchContext,
        parent: str | None = None,
    ) -> SourcePage:
        """Return a page's rows, the affiliates that they name, and the total. Raises UnreadablePage."""
        raw = rows.read_list(response, "data")
        total = values.row_count(response.json, "pagination", "total_count")
        figures = [] if total is None else [StatedFigure(TOTALS[walked.collection].value, "", "", total)]
        if walked.collection == Collection.Affiliates:
            figures += [figure for item in raw for figure in _read_figures(item)]
        page_rows = [source_row for item in raw for source_row in _read_rows(walked.collection, item)]
        return SourcePage(rows.drop_repeats(page_rows), _read_next(response, cursor, len(raw)), total, figures)

    def understand(self, row: SourceRow, context: SwitchContext) -> Record:
        """Return what a stored row means. Raises UnreadableRow."""
        rows.require_id(row)
        match row.collection:
            case Collection.Affiliates:
                return rewardful.read_affiliate(row)
            case Collection.Links:
                return rewardful.read_link(row)
            case Collection.Codes:
                return rewardful.read_code(row)
            case Collection.Customers:
                return rewardful.read_customer(row)
            case Collection.Commissions:
                return rewardful.read_commission(row)
            case Collection.Payouts:
                return rewardful.read_payout(row)
            case _:
                raise UnreadableRow("Rewardful has no such rows")


def _read_next(response: SourceResponse, cursor: Mapping[str, Any] | None, count: int) -> Mapping[str, Any] | None:
    """Return the cursor of the page after one with so many rows; None after the last."""
    page, pagination = rows.read_page_number(cursor), values.get(response.json, "pagination")
    next_page = values.count(pagination, "next_page")
    if not (isinstance(pagination, Mapping) and "next_page" in pagination):
        next_page = page + 1 if count >= _PAGE_SIZE else None
    has_next = count > 0 and next_page is not None and next_page > page
    return {"page": next_page} if has_next else None


def _read_rows(collection: Collection, item: Any) -> list[SourceRow | None]:
    """Return the row of an object with the links in it, and the affiliate whom it names."""
    match collection:
        case Collection.Affiliates:
            affiliate = {name: value for name, value in item.items() if name != "links"} if _is_object(item) else item
            links = [
                rows.build_row(Collection.Links, {**link, "affiliate_id": item.get("id"), "place": place})
                for place, link in enumerate(values.items(item, "links"))
            ]
            return [rows.build_row(collection, affiliate), *links]
        case Collection.Commissions:
            return [rows.build_row(collection, item), _mention_in_sale(item)]
        case Collection.Customers:
            return [rows.build_row(collection, item), rows.build_mention(values.get(item, "affiliate"))]
        case _:
            return [rows.build_row(collection, item)]


def _mention_in_sale(item: Any) -> SourceRow | None:
    """Return the affiliate whom a commission names, with its campaign: in case no list has them any more."""
    affiliate, campaign = values.get(item, "sale", "affiliate"), values.get(item, "campaign")
    if _is_object(affiliate) and campaign is not None and affiliate.get("campaign") is None:
        affiliate = {**affiliate, "campaign": campaign}
    return rows.build_mention(affiliate)


def _is_object(item: Any) -> bool:
    return isinstance(item, Mapping)


def _read_figures(item: Any) -> list[StatedFigure]:
    """Return how many customers and leads an affiliate has by the source."""
    affiliate = rows.read_id(values.get(item, "id"))
    leads, conversions = values.count(item, "leads"), values.count(item, "conversions")
    if affiliate is None or leads is None or conversions is None:
        return []
    return [StatedFigure(FigureName.Referrals.value, affiliate, "", leads + conversions)]


SOURCE = Rewardful()

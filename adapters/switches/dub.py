"""Dub Partners: partners with their short links, discount codes, customers and commissions.

The plain list of partners has only those of some statuses; the others are requested by status. A clawback is a negative
commission. All amounts are whole cents of US dollars.
Source: the switch-over rules, part A, "Dub Partners".
"""

from collections.abc import Mapping, Sequence
from typing import Any

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
    UnreadablePage,
    UnreadableRow,
)
from adapters.switches.reading import rows, values
from adapters.switches.reading.amounts import AmountReader
from domain.statuses import AffiliateStatus
from domain.switches.figures import FigureName
from domain.switches.records import (
    AffiliateRef,
    CommissionKind,
    Record,
    SourceAffiliate,
    SourceCampaign,
    SourceCode,
    SourceCommission,
    SourceCustomer,
    SourceGroup,
    SourceLink,
)
from domain.switches.sources import ONLY_CAMPAIGN, Collection, SourceName

_PAGE_SIZE = 100
_CURRENCY = "USD"
_PARAMETER = "via"
_STATUSES = {
    "approved": AffiliateStatus.Approved,
    "pending": AffiliateStatus.Pending,
    "invited": AffiliateStatus.Pending,
    "rejected": AffiliateStatus.Rejected,
    "declined": AffiliateStatus.Rejected,
    "deactivated": AffiliateStatus.Paused,
    "archived": AffiliateStatus.Paused,
    "banned": AffiliateStatus.Banned,
}
# Statuses that the plain list of partners may leave out.
_FILTERED = ("pending", "rejected", "declined", "deactivated", "archived", "banned")
_KINDS = {
    "paid": CommissionKind.Paid,
    "processed": CommissionKind.Owed,
    "pending": CommissionKind.Pending,
    "hold": CommissionKind.Held,
    "fraud": CommissionKind.Held,
    "refunded": CommissionKind.Refunded,
    "canceled": CommissionKind.Denied,
    "duplicate": CommissionKind.Denied,
}


class Dub:
    """Dub's API. Partners and codes are paged by number, customers and commissions by the last id."""

    info = SourceInfo(
        name=SourceName.Dub,
        label="Dub",
        address="https://api.dub.co",
        fields=(CredentialField("apiKey", "API key", "Workspace settings, API Keys; begins with dub_"),),
        collections=(
            Collection.Affiliates,
            Collection.Links,
            Collection.Codes,
            Collection.Customers,
            Collection.Commissions,
        ),
        parameters=(_PARAMETER,),
        requests_per_s=1,
        paced_by_headers=True,
    )

    def headers(self, credentials: Mapping[str, str]) -> Mapping[str, str]:
        """Return the key."""
        return {"Authorization": f"Bearer {credentials['apiKey']}", "Accept": "application/json"}

    def account_request(self, credentials: Mapping[str, str], cursor: Mapping[str, Any] | None = None) -> SourceRequest:
        """Return the request for one partner: a key cannot read its workspace."""
        return SourceRequest("/partners", {"page": "1", "pageSize": "1"})

    def read_account(
        self, credentials: Mapping[str, str], response: SourceResponse, cursor: Mapping[str, Any] | None = None
    ) -> SourceAccount:
        """Return the account, known by its program's id if a partner names it. Raises UnreadablePage."""
        partners = rows.read_list(response)
        program = values.text(partners[0], "programId") if partners else None
        return SourceAccount("Dub", program or "", [SourceCampaign(ONLY_CAMPAIGN, "All partners")])

    def lists(self, context: SwitchContext) -> Sequence[SourceList]:
        """Return the lists: partners with their links, by status; codes, customers, commissions."""
        return [
            SourceList("partners", Collection.Affiliates, "stable", _PAGE_SIZE),
            *(
                SourceList(f"partners_{status}", Collection.Affiliates, "stable", _PAGE_SIZE, is_optional=True)
                for status in _FILTERED
            ),
            SourceList("discount_codes", Collection.Codes, "stable", _PAGE_SIZE, is_optional=True),
            SourceList("customers", Collection.Customers, "stable", _PAGE_SIZE),
            SourceList("commissions", Collection.Commissions, "stable", _PAGE_SIZE),
        ]

    def request(
        self, walked: SourceList, cursor: Mapping[str, Any] | None, context: SwitchContext, parent: str | None = None
    ) -> SourceRequest:
        """Return the request for a page, oldest first."""
        query = {"pageSize": str(_PAGE_SIZE)}
        if walked.collection == Collection.Codes:
            return SourceRequest("/discount-codes", {"page": str(rows.read_page_number(cursor)), **query})
        if walked.collection == Collection.Affiliates:
            query |= {"sortBy": "createdAt", "sortOrder": "asc", "page": str(rows.read_page_number(cursor))}
            status = walked.name.removeprefix("partners").removeprefix("_")
            return SourceRequest("/partners", {**query, **({"status": status} if status else {})})
        if cursor:
            query["startingAfter"] = str(cursor["after"])
        if walked.collection == Collection.Customers:
            return SourceRequest("/customers", {"includeExpandedFields": "true", **query})
        return SourceRequest("/commissions", {"interval": "all", "sortBy": "createdAt", "sortOrder": "asc", **query})

    def step_back(self, walked: SourceList, cursor: Mapping[str, Any], pages: int) -> Mapping[str, Any] | None:
        """Return the cursor as it is: no list moves by its total."""
        return cursor

    def read_page(
        self,
        walked: SourceList,
        cursor: Mapping[str, Any] | None,
        response: SourceResponse,
        context: SwitchContext,
        parent: str | None = None,
    ) -> SourcePage:
        """Return the rows of a page, and the partners whom they name. An empty page is the end."""
        items = rows.read_list(response)
        page_rows: list[SourceRow | None] = []
        figures: list[StatedFigure] = []
        for item in items:
            page_rows.append(rows.build_row(walked.collection, item))
            if walked.collection == Collection.Affiliates:
                page_rows += _link_rows(item)
                figures += _partner_figures(item)
            elif walked.collection != Collection.Codes:
                page_rows.append(_mention(item))
                figures += _customer_figures(item) if walked.collection == Collection.Customers else []
        is_by_number = walked.collection in (Collection.Affiliates, Collection.Codes)
        following = _next_number(items, cursor) if is_by_number else _next_after(items, cursor)
        return SourcePage(rows.drop_repeats(page_rows), following, figures=figures)

    def understand(self, row: SourceRow, context: SwitchContext) -> Record:
        """Return what a row means. Raises UnreadableRow."""
        rows.require_id(row)
        match row.collection:
            case Collection.Affiliates:
                return _read_partner(row)
            case Collection.Links:
                return _read_link(row)
            case Collection.Codes:
                return _read_code(row)
            case Collection.Customers:
                return _read_customer(row)
            case Collection.Commissions:
                return _read_commission(row)
        raise UnreadableRow("this source has no such rows")


SOURCE = Dub()


def _next_number(items: Sequence[Any], cursor: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """Return the cursor of the next page; None after an empty one, or where the page's number makes no difference."""
    if not items:
        return None
    first = rows.build_row(Collection.Affiliates, items[0]).source_id
    if cursor and cursor["first"] == first:
        return None
    return {"page": rows.read_page_number(cursor) + 1, "first": first}


def _next_after(items: Sequence[Any], cursor: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """Return the cursor after the last id; None after an empty page. Raises UnreadablePage without a further id."""
    if not items:
        return None
    ids = [row_id for item in items if (row_id := values.text(item, "id")) is not None]
    if not ids or (cursor and cursor["after"] == ids[-1]):
        raise UnreadablePage("the page tells no next one")
    return {"after": ids[-1]}


def _link_rows(item: Any) -> list[SourceRow]:
    """Return the short links of a partner, in order."""
    partner = rows.read_id(values.get(item, "id"))
    links = values.get(item, "links")
    if partner is None or not isinstance(links, list):
        return []
    return [
        rows.build_row(
            Collection.Links, {**link, "partner": partner, "place": place} if isinstance(link, Mapping) else link
        )
        for place, link in enumerate(links)
        if link is not None
    ]


def _partner_figures(item: Any) -> list[StatedFigure]:
    return _figures(
        item,
        _CURRENCY,
        {FigureName.SaleAmount: "totalSaleAmount", FigureName.CommissionAmount: "totalCommissions"},
    )


def _customer_figures(item: Any) -> list[StatedFigure]:
    return [
        *_figures(item, "", {FigureName.CustomerSales: "sales"}),
        *_figures(item, _CURRENCY, {FigureName.CustomerSaleAmount: "saleAmount"}),
    ]


def _figures(item: Any, currency: str, names: Mapping[FigureName, str]) -> list[StatedFigure]:
    subject = rows.read_id(values.get(item, "id"))
    counts = {figure: values.count(item, name) for figure, name in names.items()}
    return [
        StatedFigure(figure, subject, currency, count)
        for figure, count in counts.items()
        if subject is not None and count is not None
    ]


def _mention(item: Any) -> SourceRow | None:
    """Return the partner whom a customer or commission names, in case no list has them any more."""
    partner = values.get(item, "partner")
    return rows.build_mention(partner) if values.email(partner, "email") else None


def _read_partner(row: SourceRow) -> SourceAffiliate:
    data = row.data
    word = values.text(data, "status") or ""
    group = values.text(data, "group", "name") or values.text(data, "groupId")
    return SourceAffiliate(
        source_id=row.source_id,
        campaign=ONLY_CAMPAIGN,
        email=values.email(data, "email"),
        full_name=values.full_name(data, "name"),
        status=AffiliateStatus.Rejected if row.is_mention else _STATUSES.get(word),
        word="" if row.is_mention else word,
        wallet_email=values.email(data, "paypalEmail"),
        group=SourceGroup(group) if group else None,
        created_at=values.time(data, "createdAt"),
        is_mention=row.is_mention,
    )


def _read_link(row: SourceRow) -> SourceLink:
    """Return a short link: its key is also what the parameter holds. Raises UnreadableRow without a key."""
    token = values.token(row.data, "key")
    if token is None:
        raise UnreadableRow("the link has no key")
    return SourceLink(
        row.source_id,
        AffiliateRef(id=values.text(row.data, "partner")),
        token,
        _PARAMETER,
        values.text(row.data, "shortLink"),
        values.count(row.data, "place") or 0,
    )


def _read_code(row: SourceRow) -> SourceCode:
    code = values.text(row.data, "code")
    if code is None:
        raise UnreadableRow("the code is missing")
    partner = values.text(row.data, "partnerId") or values.text(row.data, "partner", "id")
    is_archived = values.get(row.data, "disabledAt") is not None
    return SourceCode(row.source_id, AffiliateRef(id=partner), code, is_archived)


def _read_partner_ref(data: Mapping[str, Any]) -> AffiliateRef | None:
    partner, email = rows.read_id(values.get(data, "partner", "id")), values.email(data, "partner", "email")
    if partner is None and email is None:
        return None
    return AffiliateRef(id=partner, email=email, name=values.full_name(data.get("partner"), "name"))


def _read_customer(row: SourceRow) -> SourceCustomer:
    data = row.data
    return SourceCustomer(
        source_id=row.source_id,
        affiliate=_read_partner_ref(data),
        campaign=ONLY_CAMPAIGN,
        billing_id=values.text(data, "stripeCustomerId"),
        claimed_id=values.text(data, "externalId"),
        email=values.email(data, "email"),
        name=values.text(data, "name"),
        first_paid_at=values.time(data, "firstSaleAt"),
        created_at=values.time(data, "createdAt"),
        payments=values.count(data, "sales"),
    )


def _read_commission(row: SourceRow) -> SourceCommission:
    """Return a commission of any type; a negative one, a clawback, takes back."""
    data = row.data
    amounts = AmountReader()
    word = values.text(data, "status") or ""
    invoice = rows.read_id(data.get("invoiceId"))
    return SourceCommission(
        source_id=row.source_id,
        affiliate=_read_partner_ref(data),
        campaign=ONLY_CAMPAIGN,
        kind=_KINDS.get(word),
        word=word,
        currency=amounts.currency(data, "currency") or _CURRENCY,
        amount_cents=amounts.cents(data, "amount"),
        commission_cents=amounts.cents(data, "earnings"),
        occurred_at=values.time(data, "createdAt"),
        payment=invoice,
        charge_id=invoice,
        customer=rows.read_id(values.get(data, "customer", "id")),
        billing_id=values.text(data, "customer", "stripeCustomerId"),
        claimed_id=values.text(data, "customer", "externalId"),
        customer_email=values.email(data, "customer", "email"),
        customer_name=values.text(data, "customer", "name"),
        problem=amounts.problem,
        is_sale=(values.text(data, "type") or "sale") == "sale",
    )

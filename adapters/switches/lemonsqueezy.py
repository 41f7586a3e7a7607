"""Lemon Squeezy's API: affiliates, customers, and the orders and subscription invoices that affiliates referred.

It states no commissions: sales are brought with the commission that the brand assumes, and what an affiliate has not
been paid yet as one bonus. It states no code of links. The initial invoice of a subscription repeats its order.
Source: the switch-over rules, part A, "Lemon Squeezy affiliates".
"""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

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
from domain.money import currencies, money
from domain.statuses import AffiliateStatus
from domain.switches.figures import TOTALS, FigureName
from domain.switches.options import AssumedCommission
from domain.switches.reasons import LeftOutReason
from domain.switches.records import (
    AffiliateRef,
    CommissionKind,
    Record,
    SourceAffiliate,
    SourceCampaign,
    SourceCommission,
    SourceCustomer,
)
from domain.switches.sources import ONLY_CAMPAIGN, Collection, SourceName

_PAGE_SIZE = 100
# Affiliates are paid in it, whatever customers pay in.
_EARNED_IN = "USD"
_PATHS = {
    "affiliates": "/affiliates",
    "customers": "/customers",
    "orders": "/orders",
    "invoices": "/subscription-invoices",
}
_STATUSES = {
    "active": AffiliateStatus.Approved,
    "pending": AffiliateStatus.Pending,
    "disabled": AffiliateStatus.Paused,
}
# What was paid, whether or not it was refunded later. Anything else was no sale.
_SALES = ("paid", "refunded", "partial_refund")


class LemonSqueezyAffiliates:
    """Lemon Squeezy v1, a JSON:API. Amounts are whole minor units."""

    info = SourceInfo(
        name=SourceName.LemonSqueezy,
        label="Lemon Squeezy",
        address="https://api.lemonsqueezy.com/v1",
        fields=(
            CredentialField("apiKey", "API key", "Settings, API"),
            CredentialField("storeId", "Store ID", "Settings, Stores: the number after #", secret=False),
        ),
        collections=(Collection.Affiliates, Collection.Customers, Collection.Commissions),
        parameters=("aff",),
        requests_per_s=4,
        assumes_commissions=True,
    )

    def headers(self, credentials: Mapping[str, str]) -> Mapping[str, str]:
        """Return the key and the type of answer."""
        return {"Authorization": f"Bearer {credentials['apiKey']}", "Accept": "application/vnd.api+json"}

    def account_request(self, credentials: Mapping[str, str], cursor: Mapping[str, Any] | None = None) -> SourceRequest:
        """Return the request for the store."""
        return SourceRequest(f"/stores/{quote(credentials['storeId'].lstrip('#'), safe='')}")

    def read_account(
        self, credentials: Mapping[str, str], response: SourceResponse, cursor: Mapping[str, Any] | None = None
    ) -> SourceAccount:
        """Return the store. Raises UnreadablePage."""
        store_id = rows.read_id(values.get(response.json, "data", "id"))
        if store_id is None:
            raise UnreadablePage("the answer has no store")
        name = values.text(response.json, "data", "attributes", "name") or "Lemon Squeezy"
        return SourceAccount(name, store_id, [SourceCampaign(ONLY_CAMPAIGN, name)])

    def lists(self, context: SwitchContext) -> Sequence[SourceList]:
        """Return the lists of the store."""

        def build(name: str, collection: Collection, *, leaves_rows_out: bool = False) -> SourceList:
            return SourceList(name, collection, "by_total", _PAGE_SIZE, leaves_rows_out=leaves_rows_out)

        return [
            build("affiliates", Collection.Affiliates),
            build("customers", Collection.Customers),
            build("orders", Collection.Commissions, leaves_rows_out=True),
            build("invoices", Collection.Commissions, leaves_rows_out=True),
        ]

    def request(
        self, walked: SourceList, cursor: Mapping[str, Any] | None, context: SwitchContext, parent: str | None = None
    ) -> SourceRequest:
        """Return the request for a page of the store's rows, newest first."""
        query = {
            "filter[store_id]": context.credentials["storeId"].lstrip("#"),
            "page[number]": str(rows.read_page_number(cursor)),
            "page[size]": str(_PAGE_SIZE),
        }
        if walked.name == "customers":
            query["include"] = "affiliates"
        return SourceRequest(_PATHS[walked.name], query)

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
        """Return the rows of a page; of orders and invoices only referred sales. Raises UnreadablePage."""
        items = rows.read_list(response, "data")
        page_rows: list[SourceRow] = []
        figures: list[StatedFigure] = []
        for item in items:
            if walked.name == "affiliates":
                page_rows += _affiliate_rows(item)
                figures += _figures(item)
            elif walked.name == "customers":
                page_rows.append(rows.build_row(Collection.Customers, item))
            elif _is_referred_sale(item, walked.name):
                page_rows.append(_sale_row(item, walked.name))
        number = rows.read_page_number(cursor)
        last = values.count(response.json, "meta", "page", "lastPage")
        is_last = not items or (number >= last if last is not None else len(items) < _PAGE_SIZE)
        total = values.row_count(response.json, "meta", "page", "total")
        if total is not None and not walked.leaves_rows_out:
            figures.append(StatedFigure(TOTALS[walked.collection], "", "", total))
        return SourcePage(page_rows, None if is_last else {"page": number + 1}, total, figures)

    def understand(self, row: SourceRow, context: SwitchContext) -> Record:
        """Return what a row means. Raises UnreadableRow."""
        rows.require_id(row)
        if not isinstance(row.data.get("attributes"), Mapping):
            raise UnreadableRow("the row has no attributes")
        match row.collection:
            case Collection.Affiliates:
                return _read_affiliate(row)
            case Collection.Customers:
                return _read_customer(row)
            case Collection.Commissions if row.data.get("kind") == "unpaid":
                return _read_unpaid(row, context)
            case Collection.Commissions:
                return _read_sale(row, context)
        raise UnreadableRow("this source has no such rows")


SOURCE = LemonSqueezyAffiliates()


def _affiliate_rows(item: Any) -> list[SourceRow]:
    """Return an affiliate, and a row of what they have not been paid yet."""
    row = rows.build_row(Collection.Affiliates, item)
    has_id = rows.read_id(values.get(item, "id")) is not None
    if not has_id or not values.get(item, "attributes", "unpaid_earnings"):
        return [row]
    unpaid = {
        "id": f"unpaid-{row.source_id}",
        "kind": "unpaid",
        "affiliate": row.source_id,
        "attributes": values.get(item, "attributes"),
    }
    return [row, rows.build_row(Collection.Commissions, unpaid)]


def _figures(item: Any) -> list[StatedFigure]:
    """Return what an affiliate has earned in all, and what of it was paid."""
    affiliate = rows.read_id(values.get(item, "id"))
    earned = values.count(item, "attributes", "total_earnings")
    unpaid = values.count(item, "attributes", "unpaid_earnings")
    if affiliate is None or earned is None:
        return []
    figures = [StatedFigure(FigureName.CommissionAmount, affiliate, _EARNED_IN, earned)]
    if unpaid is not None:
        figures.append(StatedFigure(FigureName.PaidCommission, affiliate, _EARNED_IN, earned - unpaid))
    return figures


def _is_referred_sale(item: Any, name: str) -> bool:
    """Return whether an order or invoice is a sale with an affiliate; one that cannot be read is left to judging."""
    attributes = values.get(item, "attributes")
    if not isinstance(attributes, Mapping):
        return True
    if name == "invoices" and attributes.get("billing_reason") == "initial":
        return False
    return rows.read_id(attributes.get("affiliate_id")) is not None and attributes.get("status") in _SALES


def _sale_row(item: Any, name: str) -> SourceRow:
    """Return a row whose id tells orders and invoices apart: each has numbers of its own."""
    sale_id = rows.read_id(values.get(item, "id"))
    if sale_id is None:
        return rows.build_row(Collection.Commissions, item)
    kind = "order" if name == "orders" else "invoice"
    return rows.build_row(Collection.Commissions, {**item, "id": f"{kind}-{sale_id}", "kind": kind})


def _read_affiliate(row: SourceRow) -> SourceAffiliate:
    attributes = row.data["attributes"]
    word = values.text(attributes, "status") or ""
    return SourceAffiliate(
        source_id=row.source_id,
        campaign=ONLY_CAMPAIGN,
        email=values.email(attributes, "user_email"),
        full_name=values.full_name(attributes, "user_name"),
        status=_STATUSES.get(word),
        word=word,
        created_at=values.time(attributes, "created_at"),
    )


def _read_customer(row: SourceRow) -> SourceCustomer:
    """Return a customer with the first of their affiliates."""
    attributes = row.data["attributes"]
    affiliates = values.items(row.data, "relationships", "affiliates", "data")
    affiliate = next(filter(None, (rows.read_id(each.get("id")) for each in affiliates)), None)
    return SourceCustomer(
        source_id=row.source_id,
        affiliate=AffiliateRef(id=affiliate) if affiliate else None,
        campaign=ONLY_CAMPAIGN,
        billing_id=row.source_id,
        email=values.email(attributes, "email"),
        name=values.text(attributes, "name"),
        created_at=values.time(attributes, "created_at"),
        problem=_problem_of_test(attributes),
    )


def _read_sale(row: SourceRow, context: SwitchContext) -> SourceCommission:
    """Return an order or invoice as a sale whose commission was paid."""
    attributes = row.data["attributes"]
    amounts = AmountReader()
    currency = amounts.currency(attributes, "currency")
    amount = max(0, amounts.cents(attributes, "subtotal") - amounts.cents(attributes, "discount_total"))
    refunded = amounts.cents(attributes, "refunded_amount")
    is_refunded = values.is_true(attributes, "refunded") or attributes.get("status") == "refunded"
    customer = rows.read_id(attributes.get("customer_id"))
    affiliate = rows.read_id(attributes.get("affiliate_id"))
    return SourceCommission(
        source_id=row.source_id,
        affiliate=AffiliateRef(id=affiliate) if affiliate else None,
        campaign=ONLY_CAMPAIGN,
        kind=CommissionKind.Paid,
        word=values.text(attributes, "status") or "",
        currency=currency,
        amount_cents=amount,
        commission_cents=_assume(context.options.assumed_commission, amount, currency),
        occurred_at=values.time(attributes, "created_at"),
        # The refunded amount has the tax, the sale's has not.
        refunded_cents=amount if is_refunded else min(refunded, amount),
        payment=row.source_id,
        customer=customer,
        billing_id=customer,
        subscription_id=values.text(attributes, "subscription_id"),
        customer_email=values.email(attributes, "user_email"),
        customer_name=values.text(attributes, "user_name"),
        problem=amounts.problem or _problem_of_test(attributes),
    )


def _assume(commission: AssumedCommission | None, amount_cents: int, currency: str | None) -> int:
    """Return the assumed commission of a sale; 0 without an assumption or a supported currency."""
    if commission is None or currency is None or currency not in currencies.EXPONENTS:
        return 0
    if commission.type == "Percentage":
        return money.percent_of(amount_cents=amount_cents, percent=commission.value)
    return money.major_to_minor(major=commission.value, currency=currency)


def _read_unpaid(row: SourceRow, context: SwitchContext) -> SourceCommission:
    """Return what an affiliate has not been paid yet: owed, if the brand takes over what is unpaid."""
    attributes = row.data["attributes"]
    amounts = AmountReader()
    is_history = context.options.unpaid == "history"
    return SourceCommission(
        source_id=row.source_id,
        affiliate=AffiliateRef(id=values.text(row.data, "affiliate")),
        campaign=ONLY_CAMPAIGN,
        kind=CommissionKind.Owed,
        word="unpaid_earnings",
        currency=_EARNED_IN,
        amount_cents=0,
        commission_cents=amounts.cents(attributes, "unpaid_earnings"),
        occurred_at=values.time(attributes, "created_at"),
        problem=amounts.problem or (LeftOutReason.StatusExcluded if is_history else None),
    )


def _problem_of_test(attributes: Any) -> LeftOutReason | None:
    return LeftOutReason.TestRow if values.is_true(attributes, "test_mode") else None

"""FirstPromoter (API v2): promoters, promo codes, referrals, commissions and payouts.

A promoter has a state and a token in each campaign: each of these is an affiliate here. No answer has a total; an empty
page is the last. Rows name no currency: amounts are whole cents of the account's.
Source: the switch-over rules, part A, "FirstPromoter".
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
    UnreadableRow,
)
from adapters.switches.objects import firstpromoter
from adapters.switches.reading import rows, values
from domain.switches.figures import FigureName
from domain.switches.records import Record, SourceCampaign
from domain.switches.sources import Collection, SourceName

_PAGE_SIZE = 100
_PATHS = {
    "promoters": "/promoters",
    "promo_codes": "/promo_codes",
    "referrals": "/referrals",
    "commissions": "/commissions",
    "payouts": "/payouts",
}
_FIGURES = {
    "referrals_count": FigureName.Referrals,
    "customers_count": FigureName.PayingCustomers,
    "sales_count": FigureName.Sales,
    "revenue_amount": FigureName.SaleAmount,
}


class FirstPromoter:
    """FirstPromoter's company API v2."""

    info = SourceInfo(
        name=SourceName.FirstPromoter,
        label="FirstPromoter",
        address="https://api.firstpromoter.com/api/v2/company",
        fields=(
            CredentialField("apiKey", "API key", "Settings, Integrations, Manage API keys"),
            CredentialField("accountId", "Account ID", "Settings, Integrations, above the API keys", secret=False),
        ),
        collections=(
            Collection.Affiliates,
            Collection.Links,
            Collection.Codes,
            Collection.Customers,
            Collection.Commissions,
            Collection.Payouts,
        ),
        parameters=firstpromoter.PARAMETERS,
        requests_per_s=6,
        needs_currency=True,
    )

    def headers(self, credentials: Mapping[str, str]) -> Mapping[str, str]:
        """Return the key and the account, which are both needed."""
        return {
            "Authorization": f"Bearer {credentials['apiKey']}",
            "Account-ID": credentials["accountId"],
            "Accept": "application/json",
        }

    def account_request(self, credentials: Mapping[str, str], cursor: Mapping[str, Any] | None = None) -> SourceRequest:
        """Return the request for the campaigns."""
        return SourceRequest("/campaigns", {"page": str(rows.read_page_number(cursor)), "per_page": str(_PAGE_SIZE)})

    def read_account(
        self, credentials: Mapping[str, str], response: SourceResponse, cursor: Mapping[str, Any] | None = None
    ) -> SourceAccount:
        """Return the account with the parameters of its campaigns' links. Raises UnreadablePage."""
        page = _read_list(response)
        raw = [item for item in page if rows.read_id(values.get(item, "id"))]
        campaigns = [
            SourceCampaign(
                source_id=rows.read_id(item["id"]) or "",
                name=values.text(item, "name") or "",
                terms=firstpromoter.read_terms(item),
            )
            for item in raw
        ]
        parameters = [word for item in raw if (word := values.text(item, "ref_token_param"))]
        return SourceAccount(
            name=self.info.label,
            reference=credentials["accountId"],
            campaigns=campaigns,
            parameters=list(dict.fromkeys(parameters)),
            cursor={"page": rows.read_page_number(cursor) + 1} if len(page) >= _PAGE_SIZE else None,
        )

    def lists(self, context: SwitchContext) -> Sequence[SourceList]:
        """Return the lists. Links come with the promoters; promo codes exist with Stripe only."""
        return [
            SourceList("promoters", Collection.Affiliates, "unknown", _PAGE_SIZE),
            SourceList("promo_codes", Collection.Codes, "unknown", _PAGE_SIZE, is_optional=True),
            SourceList("referrals", Collection.Customers, "unknown", _PAGE_SIZE),
            SourceList("commissions", Collection.Commissions, "unknown", _PAGE_SIZE),
            SourceList("payouts", Collection.Payouts, "unknown", _PAGE_SIZE, is_optional=True),
        ]

    def request(
        self, walked: SourceList, cursor: Mapping[str, Any] | None, context: SwitchContext, parent: str | None = None
    ) -> SourceRequest:
        """Return the request for a page by its number."""
        query = {"page": str(rows.read_page_number(cursor)), "per_page": str(_PAGE_SIZE)}
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
        """Return a page's rows and the affiliates that they name. Raises UnreadablePage."""
        raw = _read_list(response)
        page_rows = [source_row for item in raw for source_row in _read_rows(walked.collection, item)]
        is_promoters = walked.collection == Collection.Affiliates
        figures = [figure for item in raw for figure in _read_figures(item)] if is_promoters else []
        cursor = {"page": rows.read_page_number(cursor) + 1} if raw else None
        return SourcePage(rows.drop_repeats(page_rows), cursor, figures=figures)

    def understand(self, row: SourceRow, context: SwitchContext) -> Record:
        """Return what a stored row means. Raises UnreadableRow."""
        rows.require_id(row)
        match row.collection:
            case Collection.Affiliates:
                return firstpromoter.read_affiliate(row)
            case Collection.Links:
                return firstpromoter.read_link(row)
            case Collection.Codes:
                return firstpromoter.read_code(row)
            case Collection.Customers:
                return firstpromoter.read_customer(row)
            case Collection.Commissions:
                return firstpromoter.read_commission(row, context.options.currency)
            case Collection.Payouts:
                return firstpromoter.read_payout(row, context.options.currency)
            case _:
                raise UnreadableRow("FirstPromoter has no such rows")


def _read_list(response: SourceResponse) -> Sequence[Any]:
    """Return the list of an answer: bare, or in `data`. Raises UnreadablePage."""
    return response.json if isinstance(response.json, list) else rows.read_list(response, "data")


def _read_rows(collection: Collection, item: Any) -> list[SourceRow | None]:
    """Return the rows of an object: of a promoter one per campaign with its link; of others also who is named."""
    if collection == Collection.Affiliates:
        return [*_read_promoter(item)]
    mention = None
    if collection in (Collection.Customers, Collection.Commissions):
        mention = rows.build_mention(values.get(item, "promoter_campaign"))
    return [rows.build_row(collection, item), mention]


def _read_promoter(item: Any) -> list[SourceRow]:
    """Return an affiliate and a link for each campaign of a promoter, in the form in which other rows name them."""
    campaigns = values.items(item, "promoter_campaigns")
    if not campaigns:
        promoter_id = rows.read_id(values.get(item, "id"))
        # Other rows have the id of a promoter in a campaign, which may be the same number.
        promoter = item if promoter_id is None else {**item, "id": f"promoter-{promoter_id}"}
        return [rows.build_row(Collection.Affiliates, promoter)]
    promoter = {name: value for name, value in item.items() if name != "promoter_campaigns"}
    promoter_rows = []
    for place, membership in enumerate(campaigns):
        promoter_rows.append(rows.build_row(Collection.Affiliates, {**membership, "promoter": promoter}))
        if values.token(membership, "ref_token") is not None:
            link = {name: membership.get(name) for name in ("id", "ref_token", "ref_link")}
            promoter_rows.append(rows.build_row(Collection.Links, {**link, "place": place}))
    return promoter_rows


def _read_figures(item: Any) -> list[StatedFigure]:
    """Return what the source states of a promoter in one campaign: it states it of all campaigns together."""
    campaigns = values.items(item, "promoter_campaigns")
    affiliate = rows.read_id(campaigns[0].get("id")) if len(campaigns) == 1 else None
    if affiliate is None:
        return []
    # Revenue names no currency: it is the one that the brand chooses, which may change after reading.
    stated = [(name, values.count(item, "stats", field)) for field, name in _FIGURES.items()]
    return [StatedFigure(name.value, affiliate, "", count) for name, count in stated if count is not None]


SOURCE = FirstPromoter()

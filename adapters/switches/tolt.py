"""Tolt (API v1): partners, links, promotion codes, customers and commissions of one program, oldest first.

Its lists are walked by the last id. Payouts are not in its API.
Source: the switch-over rules, part A, "Tolt".
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
from adapters.switches.objects import tolt
from adapters.switches.reading import rows, values
from domain.switches.figures import TOTALS
from domain.switches.records import CampaignTerms, Record, SourceCampaign
from domain.switches.sources import Collection, SourceName

_PAGE_SIZE = 100
# Of each list: its path and what it expands.
_QUERIES: Mapping[str, tuple[str, Sequence[str]]] = {
    "partners": ("/partners", ("program",)),
    "links": ("/links", ("partner",)),
    "promotion_codes": ("/promotion-codes", ()),
    "customers": ("/customers", ("partner",)),
    "commissions": ("/commissions", ("partner", "customer", "transaction")),
}


class Tolt:
    """Tolt's API v1. Amounts are whole cents, as text or as a number."""

    info = SourceInfo(
        name=SourceName.Tolt,
        label="Tolt",
        address="https://api.tolt.com/v1",
        fields=(
            CredentialField("apiKey", "API key", "Settings, Integrations, API"),
            CredentialField("programId", "Program ID", "It begins with prg_; in the program's settings", secret=False),
        ),
        collections=(
            Collection.Affiliates,
            Collection.Links,
            Collection.Codes,
            Collection.Customers,
            Collection.Commissions,
        ),
        parameters=(tolt.PARAMETER,),
        requests_per_s=10,
    )

    def headers(self, credentials: Mapping[str, str]) -> Mapping[str, str]:
        """Return the key."""
        return {"Authorization": f"Bearer {credentials['apiKey']}", "Accept": "application/json"}

    def account_request(self, credentials: Mapping[str, str], cursor: Mapping[str, Any] | None = None) -> SourceRequest:
        """Return the request for one partner with the program: v1 has no list of programs."""
        query = {"program_id": credentials["programId"], "limit": "1", "order": "asc", "expand[]": ("program",)}
        return SourceRequest("/partners", query)

    def read_account(
        self, credentials: Mapping[str, str], response: SourceResponse, cursor: Mapping[str, Any] | None = None
    ) -> SourceAccount:
        """Return the program, whose name and currency are known if it has a partner. Raises UnreadablePage."""
        partners = _read_list(response)
        program = values.get(partners[0], "program") if partners else None
        campaign = SourceCampaign(
            source_id=credentials["programId"],
            name=values.text(program, "name") or credentials["programId"],
            terms=CampaignTerms(commission_currency=tolt.read_currency(program)),
            affiliates=values.row_count(response.json, "total_count"),
        )
        return SourceAccount(campaign.name, credentials["programId"], [campaign])

    def lists(self, context: SwitchContext) -> Sequence[SourceList]:
        """Return the lists; promotion codes are a feature of some plans."""
        return [
            SourceList("partners", Collection.Affiliates, "stable", _PAGE_SIZE),
            SourceList("links", Collection.Links, "stable", _PAGE_SIZE),
            SourceList("promotion_codes", Collection.Codes, "stable", _PAGE_SIZE, is_optional=True),
            SourceList("customers", Collection.Customers, "stable", _PAGE_SIZE),
            SourceList("commissions", Collection.Commissions, "stable", _PAGE_SIZE),
        ]

    def request(
        self, walked: SourceList, cursor: Mapping[str, Any] | None, context: SwitchContext, parent: str | None = None
    ) -> SourceRequest:
        """Return the request for a page after the last id."""
        path, expanded = _QUERIES[walked.name]
        query: dict[str, str | Sequence[str]] = {
            "program_id": context.credentials["programId"],
            "limit": str(_PAGE_SIZE),
            "order": "asc",
        }
        if expanded:
            query["expand[]"] = expanded
        if cursor:
            query["starting_after"] = str(cursor["after"])
        return SourceRequest(path, query)

    def step_back(self, walked: SourceList, cursor: Mapping[str, Any], pages: int) -> Mapping[str, Any] | None:
        """Return the same cursor: rows of these lists do not move."""
        return cursor

    def read_page(
        self,
        walked: SourceList,
        cursor: Mapping[str, Any] | None,
        response: SourceResponse,
        context: SwitchContext,
        parent: str | None = None,
    ) -> SourcePage:
        """Return a page's rows, the partners that they name, and the total. Raises UnreadablePage."""
        raw = _read_list(response)
        total = values.row_count(response.json, "total_count")
        if total is None:
            total = values.row_count(response.json, "data", "total_count")
        figures = [] if total is None else [StatedFigure(TOTALS[walked.collection].value, "", "", total)]
        page_rows = [source_row for item in raw for source_row in _read_rows(walked.collection, item)]
        ids = [row_id for item in raw if (row_id := rows.read_id(values.get(item, "id"))) is not None]
        has_more = values.is_true(response.json, "has_more") or values.is_true(response.json, "data", "has_more")
        is_ahead = bool(ids) and not (cursor and ids[-1] == cursor["after"])
        next_cursor = {"after": ids[-1]} if has_more and is_ahead else None
        return SourcePage(rows.drop_repeats(page_rows), next_cursor, total, figures)

    def understand(self, row: SourceRow, context: SwitchContext) -> Record:
        """Return what a stored row means. Raises UnreadableRow."""
        rows.require_id(row)
        match row.collection:
            case Collection.Affiliates:
                return tolt.read_affiliate(row, context)
            case Collection.Links:
                return tolt.read_link(row)
            case Collection.Codes:
                return tolt.read_code(row)
            case Collection.Customers:
                return tolt.read_customer(row, context)
            case Collection.Commissions:
                return tolt.read_commission(row, context)
            case _:
                raise UnreadableRow("Tolt has no such rows")


def _read_list(response: SourceResponse) -> Sequence[Any]:
    """Return the list of an answer: `data`, or `data` within it. Raises UnreadablePage."""
    body = response.json
    if values.get(body, "success") is False:
        raise UnreadablePage("the answer reports no success")
    is_nested = isinstance(values.get(body, "data"), Mapping)
    return rows.read_list(response, "data", "data") if is_nested else rows.read_list(response, "data")


def _read_rows(collection: Collection, item: Any) -> list[SourceRow | None]:
    """Return the row of an object, and the partner whom it names."""
    is_naming = collection in (Collection.Customers, Collection.Commissions)
    return [rows.build_row(collection, item), rows.build_mention(values.get(item, "partner")) if is_naming else None]


SOURCE = Tolt()

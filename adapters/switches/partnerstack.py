"""PartnerStack (vendor API): partnerships, links, customers and rewards.

A partnership's row tells no status: it is known from the filter of the request that brought it. Links are requested per
partnership. Visitors arrive with the partner key or its base64, not with the link's own path.
Source: the switch-over rules, part A, "PartnerStack".
"""

import base64
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
from adapters.switches.objects import partnerstack
from adapters.switches.reading import rows, values
from domain.switches.figures import FigureName
from domain.switches.records import (
    Record,
    SourceCampaign,
)
from domain.switches.sources import ONLY_CAMPAIGN, Collection, SourceName

_PAGE_SIZE = 250
# One walk requests all partnerships, then those that are not archived: the status of the later request counts.
_PHASES = ("archived", "")
# Filters have lists of their own; who is in none has an unknown status. A server may ignore all but the last.
_FILTERED = {
    "partnerships_declined": "declined",
    "partnerships_pending": "pending",
    "partnerships_approved": "approved",
}


class PartnerStack:
    """PartnerStack's vendor API v2. Times are milliseconds, amounts whole cents."""

    info = SourceInfo(
        name=SourceName.PartnerStack,
        label="PartnerStack",
        address="https://api.partnerstack.com/api/v2",
        fields=(
            CredentialField("publicKey", "Public key", "Settings, Integrations, PartnerStack API", secret=False),
            CredentialField("secretKey", "Secret key", "Shown next to the public key"),
        ),
        collections=(Collection.Affiliates, Collection.Links, Collection.Customers, Collection.Commissions),
        parameters=(partnerstack.PARAMETER, "gspk"),
        requests_per_s=4,
        recognized_by="nothing",  # its reference is of the key
    )

    def headers(self, credentials: Mapping[str, str]) -> Mapping[str, str]:
        """Return the keys as a user name and password."""
        pair = f"{credentials['publicKey']}:{credentials['secretKey']}".encode()
        return {"Authorization": f"Basic {base64.b64encode(pair).decode()}", "Accept": "application/json"}

    def account_request(self, credentials: Mapping[str, str], cursor: Mapping[str, Any] | None = None) -> SourceRequest:
        """Return the request for one partnership: the API has no account of its own."""
        return SourceRequest("/partnerships", {"limit": "1"})

    def read_account(
        self, credentials: Mapping[str, str], response: SourceResponse, cursor: Mapping[str, Any] | None = None
    ) -> SourceAccount:
        """Return the account, which is known only by the end of its public key. Raises UnreadablePage."""
        _read_items(response.json)
        campaign = SourceCampaign(ONLY_CAMPAIGN, "All partnerships")
        return SourceAccount("PartnerStack", f"…{credentials['publicKey'][-4:]}", [campaign])

    def lists(self, context: SwitchContext) -> Sequence[SourceList]:
        """Return the lists: partnerships by status, links per partnership, customers, rewards and scheduled ones."""
        return [
            SourceList("partnerships", Collection.Affiliates, "stable", _PAGE_SIZE),
            *(SourceList(name, Collection.Affiliates, "stable", _PAGE_SIZE, is_optional=True) for name in _FILTERED),
            SourceList(
                "links", Collection.Links, "stable", _PAGE_SIZE, is_optional=True, of_parents=Collection.Affiliates
            ),
            SourceList("customers", Collection.Customers, "stable", _PAGE_SIZE),
            SourceList("rewards", Collection.Commissions, "stable", _PAGE_SIZE),
            SourceList("rewards_scheduled", Collection.Commissions, "stable", _PAGE_SIZE),
        ]

    def request(
        self, walked: SourceList, cursor: Mapping[str, Any] | None, context: SwitchContext, parent: str | None = None
    ) -> SourceRequest:
        """Return the request for a page after the last key."""
        query = {"limit": str(_PAGE_SIZE)}
        if cursor and cursor["after"] is not None:
            query["starting_after"] = str(cursor["after"])
        if parent is not None:
            return SourceRequest(f"/links/partnership/{quote(parent, safe='')}", query)
        query["order_by"] = "created_at"
        if walked.collection == Collection.Affiliates:
            status = _read_status(walked, cursor)
            if status:
                query |= {"include_archived": "true"} if status == "archived" else {"approved_status": status}
            return SourceRequest("/partnerships", query)
        if walked.name == "rewards_scheduled":
            query["status"] = "scheduled"
        return SourceRequest("/customers" if walked.collection == Collection.Customers else "/rewards", query)

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
        """Return the rows of a page; those of partnerships with their tokens, those of rewards with their partners."""
        items, has_more = _read_items(response.json)
        page_rows: list[SourceRow | None] = []
        figures: list[StatedFigure] = []
        for item in items:
            if walked.collection == Collection.Affiliates:
                page_rows += _partnership_rows(item, _read_status(walked, cursor))
                figures += _figures(item)
            elif walked.collection == Collection.Links:
                page_rows.append(_build_row(Collection.Links, item, partnership=parent))
            else:
                page_rows += [_build_row(walked.collection, item), _mention(item)]
        phases = len(_PHASES) if walked.name == "partnerships" else 1
        following = _next_cursor(items, has_more, cursor, phases=phases)
        return SourcePage(rows.drop_repeats(page_rows), following, figures=figures)

    def understand(self, row: SourceRow, context: SwitchContext) -> Record:
        """Return what a row means. Raises UnreadableRow."""
        rows.require_id(row, key="key")
        match row.collection:
            case Collection.Affiliates:
                return partnerstack.read_affiliate(row)
            case Collection.Links:
                return partnerstack.read_link(row)
            case Collection.Customers:
                return partnerstack.read_customer(row)
            case Collection.Commissions:
                return partnerstack.read_commission(row)
        raise UnreadableRow("this source has no such rows")


SOURCE = PartnerStack()


def _read_items(body: Any) -> tuple[list[Any], bool | None]:
    """Return the items of a page and whether more follow, if it tells. Raises UnreadablePage."""
    data = values.get(body, "data")
    items = data if isinstance(data, list) else values.get(data, "items")
    if not isinstance(items, list):
        raise UnreadablePage("the answer has no list of items")
    has_more = values.get(data, "has_more")
    return items, has_more if isinstance(has_more, bool) else None


def _next_cursor(
    items: Sequence[Any], has_more: bool | None, cursor: Mapping[str, Any] | None, *, phases: int
) -> Mapping[str, Any] | None:
    """Return the cursor of the next page, or of the next phase; None after the last page of the last phase."""
    phase, after = (cursor["phase"], cursor["after"]) if cursor else (0, None)
    if not items or not (has_more if has_more is not None else len(items) >= _PAGE_SIZE):
        return {"phase": phase + 1, "after": None} if phase + 1 < phases else None
    keys = [key for item in items if (key := values.text(item, "key")) is not None]
    if not keys or after == keys[-1]:
        raise UnreadablePage("the page tells no next one")
    return {"phase": phase, "after": keys[-1]}


def _read_status(walked: SourceList, cursor: Mapping[str, Any] | None) -> str:
    """Return the status of the partnerships on a page of a list."""
    return _FILTERED.get(walked.name) or _PHASES[cursor["phase"] if cursor else 0]


def _build_row(collection: Collection, item: Any, **added: Any) -> SourceRow:
    return rows.build_row(collection, {**item, **added} if isinstance(item, Mapping) else item, key="key")


def _partnership_rows(item: Any, listed_as: str) -> list[SourceRow]:
    """Return a partnership's row and those of its tokens: the partner key and its base64."""
    row = _build_row(Collection.Affiliates, item, listed_as=listed_as)
    partner_key = values.token(row.data, "partner_key")
    if partner_key is None or values.get(row.data, "key") is None:
        return [row]
    encoded = base64.b64encode(partner_key.encode()).decode()
    tokens = [("partner_key", partner_key), ("partner_key_base64", encoded)]
    return [row] + [
        rows.build_row(
            Collection.Links,
            {"key": f"{row.source_id}/{name}", "partnership": row.source_id, "token": token, "place": place},
            key="key",
        )
        for place, (name, token) in enumerate(tokens)
    ]


def _figures(item: Any) -> list[StatedFigure]:
    key, count = rows.read_id(values.get(item, "key")), values.count(item, "stats", "CUSTOMER_COUNT")
    return [] if key is None or count is None else [StatedFigure(FigureName.Referrals, key, "", count)]


def _mention(item: Any) -> SourceRow | None:
    """Return the partner that a reward names, in case no list has them any more."""
    partner = values.get(item, "partnership")
    return rows.build_mention(partner, key="key") if values.email(partner, "email") else None

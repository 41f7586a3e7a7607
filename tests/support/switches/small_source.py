"""A small source with a list of each kind, and the server that plays it.

Affiliates are newest first with a total, links are requested for each affiliate, codes may be missing, customers are
newest first without a total, commissions oldest first by cursor.
"""

import sys
import types
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from adapters.gateways.base import CredentialField
from adapters.switches import client
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
from commands.demo.played import paging
from commands.demo.played.account import PlayedAccount, PlayedRows
from commands.demo.played.server import PlayedServer, playing
from commands.demo.played.source import PlayedRequest, PlayedResponse, PlayedSource
from domain.switches.records import CampaignTerms, SourceCampaign
from domain.switches.sources import Collection, SourceName
from tests.support.settings_overrides import override_settings

SIZE = 3
KEY = "secret-key-1"
CAMPAIGN = "main"


class SmallSource:
    """The source: it takes the place of Rewardful."""

    info = SourceInfo(
        name=SourceName.Rewardful,
        label="Small",
        address="https://api.small.example/v1",
        fields=(CredentialField("apiKey", "API key", "Settings"),),
        collections=(
            Collection.Affiliates,
            Collection.Links,
            Collection.Codes,
            Collection.Customers,
            Collection.Commissions,
        ),
        parameters=("via",),
        requests_per_s=1.4,
    )

    def headers(self, credentials: Mapping[str, str]) -> Mapping[str, str]:
        return {"Authorization": f"Bearer {credentials['apiKey']}"}

    def account_request(self, credentials: Mapping[str, str], cursor: Mapping[str, Any] | None = None) -> SourceRequest:
        return SourceRequest("/account")

    def read_account(
        self, credentials: Mapping[str, str], response: SourceResponse, cursor: Mapping[str, Any] | None = None
    ) -> SourceAccount:
        if not isinstance(response.json, dict):
            raise UnreadablePage("the answer is no account")
        campaign = SourceCampaign(CAMPAIGN, "Main", CampaignTerms(cookie_window_days=30), affiliates=7)
        return SourceAccount("Small Inc", "small-inc", [campaign])

    def lists(self, context: SwitchContext) -> Sequence[SourceList]:
        return [
            SourceList("affiliates", Collection.Affiliates, "by_total", SIZE),
            SourceList("links", Collection.Links, "stable", SIZE, is_optional=True, of_parents=Collection.Affiliates),
            SourceList("codes", Collection.Codes, "stable", SIZE, is_optional=True),
            SourceList("customers", Collection.Customers, "unknown", SIZE),
            SourceList("commissions", Collection.Commissions, "stable", SIZE),
        ]

    def request(
        self, walked: SourceList, cursor: Mapping[str, Any] | None, context: SwitchContext, parent: str | None = None
    ) -> SourceRequest:
        query = {name: str(value) for name, value in (cursor or {}).items()}
        return SourceRequest(f"/affiliates/{parent}/links" if parent else f"/{walked.name}", query)

    def step_back(self, walked: SourceList, cursor: Mapping[str, Any], pages: int) -> Mapping[str, Any] | None:
        page = cursor["page"] - pages
        return {"page": page} if page > 1 else None

    def read_page(
        self,
        walked: SourceList,
        cursor: Mapping[str, Any] | None,
        response: SourceResponse,
        context: SwitchContext,
        parent: str | None = None,
    ) -> SourcePage:
        if not isinstance(response.json, dict) or not isinstance(response.json.get("data"), list):
            raise UnreadablePage("the answer has no list")
        data, total = response.json["data"], response.json.get("total")
        rows = [SourceRow(walked.collection, row["id"], row) for row in data]
        rows += [
            SourceRow(Collection.Affiliates, row["by"], {"id": row["by"]}, is_mention=True)
            for row in data
            if "by" in row
        ]
        figures = [StatedFigure("total_affiliates", "", "", total)] if total is not None else []
        return SourcePage(rows, response.json["next"], total, figures)

    def understand(self, row: SourceRow, context: SwitchContext) -> Any:
        raise UnreadableRow("its rows are only read")


class PlayedSmall(PlayedSource):
    """The server's side. An account without `codes` has no such list."""

    path = "/v1"
    routes = {
        r"/account": "_account",
        r"/affiliates": "_by_total",
        r"/affiliates/([^/]+)/links": "_links",
        r"/(customers)": "_newest_first",
        r"/(commissions|codes)": "_by_cursor",
    }

    def is_authorized(self, request: PlayedRequest) -> bool:
        return request.headers.get("authorization") == f"Bearer {self.account.credentials['apiKey']}"

    def _account(self, request: PlayedRequest) -> PlayedResponse:
        return PlayedResponse({"name": "Small Inc"})

    def _by_total(self, request: PlayedRequest) -> PlayedResponse:
        return self._page(self.account["affiliates"], request, total=len(self.account["affiliates"]))

    def _newest_first(self, request: PlayedRequest, name: str) -> PlayedResponse:
        return self._page(self.account[name], request)

    def _by_cursor(self, request: PlayedRequest, name: str) -> PlayedResponse:
        if name not in self.account.collections:
            return self.miss(request)
        rows, more = paging.page_after(self.account[name], request.value("after"), size=SIZE)
        return PlayedResponse({"data": rows, "next": {"after": rows[-1]["id"]} if more else None})

    def _links(self, request: PlayedRequest, affiliate: str) -> PlayedResponse:
        rows = [row for row in self.account["links"] if row["affiliate"] == affiliate]
        return PlayedResponse({"data": rows, "next": None}) if rows else self.miss(request)

    def _page(self, rows: PlayedRows, request: PlayedRequest, **more: Any) -> PlayedResponse:
        page = paging.page_number(request)
        has_next = page < paging.count_pages(len(rows), SIZE)
        page_rows = paging.newest_first(rows, page=page, size=SIZE)
        return PlayedResponse({"data": page_rows, "next": {"page": page + 1} if has_next else None, **more})


def create_account(*, affiliates: int = 7, customers: int = 7, commissions: int = 7) -> PlayedAccount:
    """Return an account in which affiliate n has link n, and commission n names affiliate n."""
    return PlayedAccount(
        {"apiKey": KEY},
        {
            "affiliates": PlayedRows({"id": f"a{n}"} for n in range(1, affiliates + 1)),
            "links": PlayedRows({"id": f"l{n}", "affiliate": f"a{n}"} for n in range(1, affiliates + 1)),
            "codes": PlayedRows({"id": f"k{n}"} for n in range(1, 3)),
            "customers": PlayedRows({"id": f"c{n}"} for n in range(1, customers + 1)),
            "commissions": PlayedRows({"id": f"m{n}", "amount": 12.5} for n in range(1, commissions + 1)),
        },
    )


@contextmanager
def play_small(monkeypatch: pytest.MonkeyPatch, account: PlayedAccount, **settings: Any) -> Iterator[PlayedServer]:
    """Serve an account, and read it without a pace of our own; `settings` are others of the switches."""
    module = types.ModuleType("adapters.switches.rewardful")
    module.SOURCE = SmallSource()  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    with playing(PlayedSmall(account)) as server:
        switches = {"requests_per_s": 0.0, "rewardful_base_url": server.url} | settings
        override_settings(monkeypatch, switches=switches)
        yield server
        for timeout_s in (client.READ_TIMEOUT_S, client.CONNECT_TIMEOUT_S):
            client._client(client._policy(is_replaced=True, timeout_s=timeout_s)).close()

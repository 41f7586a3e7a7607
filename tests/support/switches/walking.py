"""Walks a source's lists at its played server, page by page, without jobs and storage."""

import importlib
import json
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlsplit

import requests

from adapters.switches import registry
from adapters.switches.base import (
    Source,
    SourceAccount,
    SourceList,
    SourcePage,
    SourceRequest,
    SourceResponse,
    SourceRow,
    SwitchContext,
    UnreadableRow,
)
from commands.demo.played.account import PlayedAccount
from commands.demo.played.sample import Sample
from commands.demo.played.server import PlayedServer, playing
from domain.switches.options import SwitchOptions
from domain.switches.records import Record
from domain.switches.sources import Collection

#: The sources with a played server.
PLAYED = ("rewardful", "firstpromoter", "tolt", "partnerstack", "tapfiliate", "lemonsqueezy", "dub")
#: Lists whose objects add to rows or are figures, and are no rows themselves.
WITHOUT_ROWS = ("profiles", "paid_commissions", "balances")
_MOST_PAGES = 10_000


@dataclass
class Walk:
    """A source at its played server, and what walking it brought: rows by collection and id, figures, last totals.

    A mention is kept only if no list brought the affiliate, an addition only if a list brought its row.
    """

    source: Source
    server: PlayedServer
    context: SwitchContext
    rows: dict[tuple[Collection, str], SourceRow] = field(default_factory=dict)
    figures: dict[tuple[str, str, str], int] = field(default_factory=dict)
    totals: dict[str, int | None] = field(default_factory=dict)
    before_page: Callable[[SourceList, int], None] = lambda walked, page: None

    @property
    def account(self) -> PlayedAccount:
        """The played account."""
        return self.server.source.account

    def fetch(self, request: SourceRequest, credentials: Mapping[str, str] | None = None) -> requests.Response:
        """Return the response to a request, with the context's credentials or others."""
        path = urlsplit(self.source.info.address).path
        query = [
            (name, value)
            for name, raw in request.query.items()
            for value in ([raw] if isinstance(raw, str) else list(raw))
        ]
        headers = self.source.headers(self.context.credentials if credentials is None else credentials)
        return requests.get(f"{self.server.url}{path}{request.path}", params=query, headers=dict(headers), timeout=10)

    def connect(self) -> None:
        """Read the account, and map all of its campaigns."""
        account = self.read_account()
        currencies = {
            campaign.source_id: campaign.terms.commission_currency
            for campaign in account.campaigns
            if campaign.terms.commission_currency
        }
        self.context = replace(
            self.context,
            campaigns=[campaign.source_id for campaign in account.campaigns],
            all_campaigns=[campaign.source_id for campaign in account.campaigns],
            currencies=currencies,
        )

    def read_account(self) -> SourceAccount:
        """Return the account as the first request finds it."""
        response = self.fetch(self.source.account_request(self.context.credentials))
        return self.source.read_account(self.context.credentials, _to_response(response))

    def walk(self) -> "Walk":
        """Walk all lists once and keep their rows."""
        for walked in self.source.lists(self.context):
            if walked.of_parents is None:
                self.walk_list(walked)
                continue
            parents = sorted(key[1] for key, row in self.rows.items() if key[0] == walked.of_parents)
            for parent in parents:
                self.walk_list(walked, parent)
        return self

    def walk_list(self, walked: SourceList, parent: str | None = None) -> None:
        """Walk a list from its first page to its last."""
        cursor: Mapping[str, Any] | None = None
        for number in range(1, _MOST_PAGES):
            self.before_page(walked, number)
            page = self.read(walked, cursor, parent)
            if page is None or page.cursor is None:
                return
            # The cursor is stored as JSON.
            cursor = json.loads(json.dumps(page.cursor))
        raise AssertionError(f"{walked.name} has no end")

    def read(
        self, walked: SourceList, cursor: Mapping[str, Any] | None, parent: str | None = None
    ) -> SourcePage | None:
        """Read a page and keep its rows; None for a list that the account does not have."""
        response = self.fetch(self.source.request(walked, cursor, self.context, parent))
        if response.status_code == 404 and (walked.is_optional or parent is not None):
            return None
        page = self.source.read_page(walked, cursor, _to_response(response), self.context, parent)
        self.totals[walked.name] = page.total
        self.figures |= {(figure.name, figure.subject, figure.currency): figure.value for figure in page.figures}
        for row in page.rows:
            key = row.collection, row.source_id
            # Rows are stored as JSON.
            stored = replace(row, data=json.loads(json.dumps(row.data)))
            if row.is_addition:
                if key in self.rows:
                    self.rows[key] = replace(self.rows[key], data={**self.rows[key].data, **stored.data})
            elif not (row.is_mention and key in self.rows):
                self.rows[key] = stored
        return page

    def rows_of(self, collection: Collection) -> list[SourceRow]:
        """Return the rows of a collection that its list brought, without mentions."""
        return [row for (kind, _), row in self.rows.items() if kind == collection and not row.is_mention]

    def mentions(self) -> list[SourceRow]:
        """Return the affiliates whom only other rows name."""
        return [row for row in self.rows.values() if row.is_mention]

    def understand(self, collection: Collection) -> list[Any]:
        """Return the records of a collection's rows, without mentions."""
        return [self.source.understand(row, self.context) for row in self.rows_of(collection)]

    def record(self, collection: Collection, source_id: str) -> Any:
        """Return the record of a row."""
        return self.source.understand(self.rows[collection, source_id], self.context)

    def try_to_understand(self, row: SourceRow) -> Record | None:
        """Return the record of a row, None for an unreadable one."""
        try:
            return self.source.understand(row, self.context)
        except UnreadableRow:
            return None


def start(
    stack: ExitStack, name: str, sample: Sample | None = None, *, currency: str | None = None, **options: Any
) -> Walk:
    """Return a connected source at its played server, which runs until the stack closes."""
    played = importlib.import_module(f"commands.demo.played.{name}")
    account = played.build_account(sample or Sample())
    server = stack.enter_context(playing(played.build_source(account)))
    source = registry.get(name)
    chosen = SwitchOptions(currency=currency or ("USD" if source.info.needs_currency else None), **options)
    walk = Walk(source, server, SwitchContext(chosen, account.credentials, []))
    walk.connect()
    return walk


def _to_response(response: requests.Response) -> SourceResponse:
    return SourceResponse(response.status_code, response.headers, response.json())

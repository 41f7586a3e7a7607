"""Tapfiliate's REST API 1.6: its lists, and how their pages become rows; `objects.tapfiliate` understands these.

Lists are requested per program, and each row is checked to belong to it. A commission's row does not tell whether it
was paid: the list of paid ones adds that. Likewise the list of all affiliates adds group and recruiter.
Source: the switch-over rules, part A, "Tapfiliate".
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import parse_qsl, quote, urlsplit

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
from adapters.switches.objects import tapfiliate
from adapters.switches.reading import rows, values
from adapters.switches.reading.amounts import AmountReader
from domain.switches.figures import FigureName
from domain.switches.records import CampaignTerms, Record, SourceCampaign
from domain.switches.sources import Collection, SourceName

_PAGE_SIZE = 25
_NEXT_LINK = re.compile(r'<([^<>]*)>\s*;\s*rel="?next"?', re.IGNORECASE)
# What a commission's row keeps of its conversion.
_CONVERSION_FIELDS = ("id", "external_id", "amount", "created_at", "customer", "affiliate")


class Tapfiliate:
    """Tapfiliate 1.6. Amounts are decimals, pages are named by the Link header only."""

    info = SourceInfo(
        name=SourceName.Tapfiliate,
        label="Tapfiliate",
        address="https://api.tapfiliate.com/1.6",
        fields=(CredentialField("apiKey", "API key", "Profile settings, API key"),),
        collections=(
            Collection.Affiliates,
            Collection.Links,
            Collection.Codes,
            Collection.Customers,
            Collection.Commissions,
            Collection.Payouts,
        ),
        parameters=tapfiliate.PARAMETERS,
        requests_per_s=2,
        recognized_by="campaigns",
    )

    def headers(self, credentials: Mapping[str, str]) -> Mapping[str, str]:
        """Return the key's header."""
        return {"X-Api-Key": credentials["apiKey"], "Accept": "application/json"}

    def account_request(self, credentials: Mapping[str, str], cursor: Mapping[str, Any] | None = None) -> SourceRequest:
        """Return the request for the programs: 25 on a page."""
        return SourceRequest("/programs/", cursor["query"] if cursor else {})

    def read_account(
        self, credentials: Mapping[str, str], response: SourceResponse, cursor: Mapping[str, Any] | None = None
    ) -> SourceAccount:
        """Return the account with its programs, by which it is known: it has no name. Raises UnreadablePage."""
        campaigns = []
        for program in rows.read_list(response):
            program_id = rows.read_id(values.get(program, "id"))
            if program_id is not None:
                terms = CampaignTerms(
                    commission_currency=AmountReader().currency(program, "currency"),
                    cookie_window_days=values.count(program, "cookie_time"),
                )
                campaigns.append(SourceCampaign(program_id, values.text(program, "title") or program_id, terms))
        reference = ", ".join(campaign.source_id for campaign in campaigns[:3])
        is_only = len(campaigns) == 1 and cursor is None
        name = campaigns[0].name if is_only else "Tapfiliate"
        return SourceAccount(name, reference, campaigns, cursor=_read_next(response, cursor))

    def lists(self, context: SwitchContext) -> Sequence[SourceList]:
        """Return the lists of each program, then those of the account.

        A program that leads to none is read too: people may choose one for it after reading.
        """

        def per_program(name: str, collection: Collection) -> list[SourceList]:
            programs = context.all_campaigns
            return [SourceList(f"{name}/{program}", collection, "unknown", _PAGE_SIZE) for program in programs]

        return [
            *per_program("affiliates", Collection.Affiliates),
            SourceList("profiles", Collection.Affiliates, "unknown", _PAGE_SIZE, is_optional=True),
            SourceList("prospects", Collection.Affiliates, "unknown", _PAGE_SIZE, is_optional=True),
            *per_program("customers", Collection.Customers),
            *per_program("conversions", Collection.Commissions),
            SourceList("paid_commissions", Collection.Commissions, "unknown", _PAGE_SIZE),
            SourceList("payments", Collection.Payouts, "unknown", _PAGE_SIZE, is_optional=True),
            SourceList("balances", Collection.Payouts, "unknown", _PAGE_SIZE, is_optional=True),
        ]

    def request(
        self, walked: SourceList, cursor: Mapping[str, Any] | None, context: SwitchContext, parent: str | None = None
    ) -> SourceRequest:
        """Return the request for a page: of the next address only the query counts."""
        name, _, program = walked.name.partition("/")
        query = {"program_id": program} if name in ("customers", "conversions") else {}
        if name == "paid_commissions":
            query["paid"] = "1"
        path = {
            "affiliates": f"/programs/{quote(program, safe='')}/affiliates/",
            "profiles": "/affiliates/" if cursor and cursor["phase"] == "affiliates" else "/affiliate-groups/",
            "prospects": "/affiliate-prospects/",
            "paid_commissions": "/commissions/",
        }.get(name, f"/{name}/")
        return SourceRequest(path, {**query, **(cursor["query"] if cursor else {})})

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
        """Return the rows of a page. Raises UnreadablePage."""
        items = rows.read_list(response)
        following = _read_next(response, cursor)
        name, _, program = walked.name.partition("/")
        page_rows: list[SourceRow | None] = []
        figures: list[StatedFigure] = []
        match name:
            case "affiliates":
                page_rows = [row for item in items for row in _affiliation_rows(item, program)]
            case "profiles":
                return _read_profiles(items, cursor, following, context)
            case "prospects":
                page_rows = [_prospect_row(item) for item in items]
            case "customers":
                page_rows = [_customer_row(item, program) for item in items]
            case "conversions":
                page_rows = [row for item in items for row in _conversion_rows(item, program)]
            case "paid_commissions":
                page_rows = [_payment_mark(item) for item in items]
            case "payments":
                page_rows = [rows.build_row(Collection.Payouts, item) for item in items]
            case "balances":
                figures = [figure for item in items for figure in _balance_figures(item, context)]
        return SourcePage(rows.drop_repeats(page_rows), following, figures=figures)

    def understand(self, row: SourceRow, context: SwitchContext) -> Record:
        """Return what a row means. Raises UnreadableRow."""
        rows.require_id(row)
        match row.collection:
            case Collection.Affiliates:
                return tapfiliate.read_affiliate(row, context)
            case Collection.Links:
                return tapfiliate.read_link(row)
            case Collection.Codes:
                return tapfiliate.read_code(row)
            case Collection.Customers:
                return tapfiliate.read_customer(row)
            case Collection.Commissions:
                return tapfiliate.read_commission(row, context)
            case Collection.Payouts:
                return tapfiliate.read_payout(row, context)
        raise UnreadableRow("this source has no such rows")


SOURCE = Tapfiliate()


def _read_next(response: SourceResponse, cursor: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """Return the cursor of the next page that the Link header names. Raises UnreadablePage if it is this page again."""
    link = _NEXT_LINK.search(response.headers.get("Link") or "")
    if link is None:
        return None
    try:
        query = dict(parse_qsl(urlsplit(link[1]).query))
    except ValueError:
        query = {}
    if not query or (cursor and cursor["query"] == query):
        raise UnreadablePage("the page names no next one")
    return {"query": query, "phase": cursor["phase"] if cursor else ""}


def _belongs_to(item: Any, program: str) -> bool:
    """Return whether a row is of a program: the filter may let others through. A row that names none is."""
    return values.text(item, "program", "id") in (None, program)


def _build(collection: Collection, item: Any, row_id: str | None, **data: Any) -> SourceRow:
    """Return a row of an object with an id; one without, or that is no object, is stored as it is."""
    return rows.build_row(collection, item if row_id is None else {"id": row_id, **data})


def _affiliation_rows(item: Any, program: str) -> list[SourceRow]:
    """Return an affiliate of a program with their link and code."""
    person = rows.read_id(values.get(item, "affiliate", "id"))
    if person is None:
        return [rows.build_row(Collection.Affiliates, {"item": item})]
    row_id = tapfiliate.build_affiliate_id(person, program)
    affiliation_rows = [_build(Collection.Affiliates, item, row_id, **{**item, "program": program, "id": row_id})]
    url = values.text(item, "referral_link") or values.text(item, "referral_link", "link")
    if url is not None:
        affiliation_rows.append(_build(Collection.Links, item, row_id, affiliate=row_id, url=url))
    code = values.text(item, "coupon") or values.text(item, "coupon", "code")
    if code is not None:
        affiliation_rows.append(_build(Collection.Codes, item, f"{row_id}/{code}", affiliate=row_id, code=code))
    return affiliation_rows


def _read_profiles(
    items: Sequence[Any],
    cursor: Mapping[str, Any] | None,
    following: Mapping[str, Any] | None,
    context: SwitchContext,
) -> SourcePage:
    """Return a page of the groups, whose titles the cursor carries on, or after them one of all affiliates."""
    titles = dict(cursor["titles"]) if cursor else {}
    if cursor and cursor["phase"] == "affiliates":
        added = [row for item in items for row in _profile_rows(item, titles, context)]
        return SourcePage(added, following and {**following, "titles": titles})
    figures = []
    for group in items:
        group_id, title = rows.read_id(values.get(group, "id")), values.first_text(group, "title", "name")
        if group_id is not None and title is not None:
            titles[group_id] = title
            affiliates = values.count(group, "affiliate_count")
            if affiliates is not None:
                figures.append(StatedFigure(FigureName.GroupAffiliates, title, "", affiliates))
    following = {**following, "phase": "groups"} if following else {"query": {}, "phase": "affiliates"}
    return SourcePage([], {**following, "titles": titles}, figures=figures)


def _profile_rows(item: Any, titles: Mapping[str, str], context: SwitchContext) -> list[SourceRow]:
    """Return what the list of all affiliates adds to a person's row of each program."""
    person = rows.read_id(values.get(item, "id"))
    if person is None:
        return []
    group_id = rows.read_id(values.get(item, "affiliate_group_id")) or rows.read_id(values.get(item, "group", "id"))
    data = {"profile": rows.make_storable(item), "group": titles.get(group_id or "")}
    return [
        SourceRow(Collection.Affiliates, tapfiliate.build_affiliate_id(person, program), data, is_addition=True)
        for program in context.all_campaigns
    ]


def _prospect_row(item: Any) -> SourceRow:
    """Return an applicant, with the program that they name."""
    program, person = values.text(item, "program", "id"), rows.read_id(values.get(item, "id"))
    row_id = person and f"prospect-{person}"
    if row_id and program:
        row_id = tapfiliate.build_affiliate_id(row_id, program)
    return _build(Collection.Affiliates, item, row_id, affiliate=item, program=program, is_prospect=True)


def _customer_row(item: Any, program: str) -> SourceRow | None:
    if not _belongs_to(item, program):
        return None
    row = rows.build_row(Collection.Customers, item)
    return rows.build_row(Collection.Customers, {**row.data, "program": program})


def _conversion_rows(item: Any, program: str) -> list[SourceRow | None]:
    """Return a row for each commission of a conversion, and one for the affiliate whom it names with an email."""
    if not _belongs_to(item, program):
        return []
    if not isinstance(item, Mapping) or rows.read_id(item.get("id")) is None:
        return [rows.build_row(Collection.Commissions, {"item": item})]
    conversion = {name: item.get(name) for name in _CONVERSION_FIELDS}
    commission_rows: list[SourceRow | None] = []
    commissions = item.get("commissions")
    for commission in commissions if isinstance(commissions, list) else []:
        row_id = rows.read_id(values.get(commission, "id"))
        data = {"program": program, "conversion": conversion, "commission": commission}
        commission_rows.append(rows.build_row(Collection.Commissions, {"id": row_id, **data}))
        commission_rows.append(_mention(values.get(commission, "affiliate"), program))
    return [*commission_rows, _mention(item.get("affiliate"), program)]


def _mention(affiliate: Any, program: str) -> SourceRow | None:
    person = rows.read_id(values.get(affiliate, "id"))
    if person is None or values.email(affiliate, "email") is None:
        return None
    row_id = tapfiliate.build_affiliate_id(person, program)
    return rows.build_mention({"id": row_id, "affiliate": affiliate, "program": program})


def _payment_mark(item: Any) -> SourceRow | None:
    """Return the addition that a commission was paid."""
    row_id = rows.read_id(values.get(item, "id"))
    if row_id is None:
        return None
    return SourceRow(Collection.Commissions, row_id, {"is_paid": True}, is_addition=True)


def _balance_figures(item: Any, context: SwitchContext) -> list[StatedFigure]:
    """Return the balances of an affiliate: an object of amounts by currency, or one amount beside its currency.

    They are of all programs together.
    """
    person = tapfiliate.read_person(item)
    subject = person and tapfiliate.find_only_row(person, context.all_campaigns)
    if subject is None:
        return []
    balances = values.get(item, "balances")
    if not isinstance(balances, Mapping):
        amount = values.get(item, "balance")
        balances = {values.text(item, "currency") or "": values.get(item, "amount") if amount is None else amount}
    figures = []
    for currency in balances:
        amounts = AmountReader()
        code = amounts.check_currency(str(currency))
        try:
            value = amounts.decimals(balances, currency, currency=code)
        except UnreadableRow:
            continue
        if amounts.problem is None:
            figures.append(StatedFigure(FigureName.Balance, subject, code, value))
    return figures

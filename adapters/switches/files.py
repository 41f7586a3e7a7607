"""Source files: exports of any other affiliate system, by columns that the brand names. Nothing is requested.

A stored row has its cells by heading, and what they mean depends on the mapping of the switch. A row of affiliates that
has a token is stored as a row of links too.
Source: the switch-over rules, A8 (files that services export) and "Routes" (source files).
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from adapters.switches.base import (
    Source,
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
from domain.imports.rows import BadRow
from domain.money import currencies
from domain.statuses import AffiliateStatus
from domain.switches.files.field_texts import explain
from domain.switches.files.file_fields import FIGURES, WITHOUT_WORD, link_columns, normalize_heading
from domain.switches.files.mapped_cells import AmountOutOfRange, MappedCells
from domain.switches.reasons import LeftOutReason
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
from domain.text import one_line

#: The name of the campaign `all`: of files without a column of campaigns, and of rows in which it is empty.
ONLY_CAMPAIGN_NAME = "All affiliates"
NO_CAMPAIGN_NAME = "No campaign"
# Lost words of a sale that was taken back; others were denied from the start.
_REFUNDED_WORDS = frozenset({"refunded", "refund", "void", "voided", "reversed", "chargeback", "charged back"})
_CURRENCY_CHARACTERS = 10
# Figures that are numbers of rows, not amounts.
_COUNT = re.compile("total_.*|referrals|paying_customers|sales|customer_sales|group_affiliates")
# More than the lines of a part: links are placed in the order of parts and lines.
_PART_PLACES = 100_000_000


class FilesSource:
    """The source `files`."""

    info = SourceInfo(
        name=SourceName.Files,
        label="Files",
        address="",
        fields=(),
        collections=(
            Collection.Affiliates,
            Collection.Links,
            Collection.Codes,
            Collection.Customers,
            Collection.Commissions,
        ),
        parameters=(),
        requests_per_s=0,
    )

    def headers(self, credentials: Mapping[str, str]) -> Mapping[str, str]:
        """Return no headers."""
        return {}

    def account_request(self, credentials: Mapping[str, str], cursor: Mapping[str, Any] | None = None) -> SourceRequest:
        """Raise LookupError: there is no account to ask for."""
        raise LookupError("source files makes no requests")

    def read_account(
        self,
        credentials: Mapping[str, str],
        response: SourceResponse | None = None,
        cursor: Mapping[str, Any] | None = None,
    ) -> SourceAccount:
        """Return the account, which is the same for all: one campaign until files name others."""
        campaign = SourceCampaign(ONLY_CAMPAIGN, ONLY_CAMPAIGN_NAME)
        return SourceAccount(name=self.info.label, reference="", campaigns=(campaign,))

    def lists(self, context: SwitchContext) -> Sequence[SourceList]:
        """Return no lists: the rows are stored as they are sent."""
        return ()

    def request(
        self, walked: SourceList, cursor: Mapping[str, Any] | None, context: SwitchContext, parent: str | None = None
    ) -> SourceRequest:
        """Raise LookupError: there are no lists."""
        raise LookupError("source files makes no requests")

    def step_back(self, walked: SourceList, cursor: Mapping[str, Any], pages: int) -> Mapping[str, Any] | None:
        """Return None: there are no lists."""
        return None

    def read_page(
        self,
        walked: SourceList,
        cursor: Mapping[str, Any] | None,
        response: SourceResponse,
        context: SwitchContext,
        parent: str | None = None,
    ) -> SourcePage:
        """Return no rows: there are no lists."""
        return SourcePage((), None)

    def understand(self, row: SourceRow, context: SwitchContext) -> Record:
        """Return what a stored row means under the columns and words of the context. Raises UnreadableRow."""
        columns = context.columns.get(row.collection, {})
        if "of" in row.data:
            columns = link_columns(context.columns.get(row.data["of"], {}), has_id=row.data.get("has_id", False))
        try:
            return _READERS[row.collection](MappedCells.read(row.collection, row.data, columns), row, context)
        except BadRow as bad:
            raise UnreadableRow(explain(bad.code), label=_describe_unreadable(row, columns, bad)) from bad


def _describe_unreadable(row: SourceRow, columns: Mapping[str, str], bad: BadRow) -> str:
    """Return where a row is in the files, why it cannot be read, and what it says."""
    part, line = map(int, row.source_id.split("/")[-2:])
    by_heading = row.data.get("cells", {})
    cells = [(heading, by_heading.get(normalize_heading(heading))) for heading in dict.fromkeys(columns.values())]
    text = row.data.get("text") or "; ".join(f"{heading}: {cell}" for heading, cell in cells if cell)
    return one_line.clean(f"Part {part}, line {line}: {explain(bad.code)} {text}".rstrip())


def read_figure(data: Mapping[str, Any], columns: Mapping[str, str], currency: str | None) -> StatedFigure | None:
    """Return the figure that a stored row of `figures` states, None if it cannot be read.

    `subject` is the affiliate's email in lower case, `currency` that of amounts without one.
    """
    try:
        cells = MappedCells.read(FIGURES, data, columns)
        value = cells.cents("cents")
        name, of = cells.needed_text("name"), cells.email("of")
    except (BadRow, AmountOutOfRange):
        return None
    currency_cell = cells.filled.get("currency")
    name = re.sub("[ -]", "_", name.lower())
    code = currencies.normalize(currency_cell) if currency_cell else "" if _COUNT.fullmatch(name) else currency or ""
    if value is None or code is None:
        return None
    return StatedFigure(name, of.lower() if of else "", code, value)


def _read_affiliate(cells: MappedCells, row: SourceRow, context: SwitchContext) -> SourceAffiliate:
    word = cells.text("status") or ""
    group = cells.text("group")
    parts = [part for part in (cells.text("firstName"), cells.text("lastName")) if part]
    return SourceAffiliate(
        source_id=cells.key(),
        campaign=cells.text("campaign") or ONLY_CAMPAIGN,
        email=cells.email("email"),
        full_name=cells.text("fullName") or " ".join(parts),
        status=_find_status(word, context),
        word=word,
        wallet_email=cells.email("walletEmail"),
        group=SourceGroup(group) if group else None,
    )


def _find_status(word: str, context: SwitchContext) -> AffiliateStatus | None:
    """Return the status of an affiliate, None for an unknown word.

    Without a word it is what the brand says that the empty word means, else Approved, as in imports.
    """
    by_own_name = {status.value.casefold(): status for status in AffiliateStatus}
    ours = _find_word(word, context.words.get(Collection.Affiliates, {}))
    if not word:
        ours = ours or WITHOUT_WORD[Collection.Affiliates]
    return AffiliateStatus(ours) if ours else by_own_name.get(word.casefold())


def _find_word(word: str, words: Mapping[str, str]) -> str | None:
    return next((ours for theirs, ours in words.items() if theirs.strip().casefold() == word.casefold()), None)


def _read_link(cells: MappedCells, row: SourceRow, context: SwitchContext) -> SourceLink:
    token = cells.token()
    if token is None:
        raise BadRow("missing:token")
    who = cells.affiliate_ref()
    return SourceLink(
        source_id=cells.key(),
        affiliate=replace(who or AffiliateRef(), campaign=cells.text("campaign") or _only_campaign(context)),
        token=token,
        parameter=cells.text("parameter"),
        # The token that a person chose comes before their id, and both before the links of a file.
        place=int(row.data.get("has_id", False)) if "of" in row.data else _place(row.source_id),
        problem=None if who else LeftOutReason.AffiliateUnknown,
    )


def _place(source_id: str) -> int:
    part, _, line = source_id.partition("/")
    return int(part) * _PART_PLACES + int(line)


def _only_campaign(context: SwitchContext) -> str | None:
    """Return the campaign of rows that name none: None if affiliates have several, whose own one counts."""
    return None if context.columns.get(Collection.Affiliates, {}).get("campaign") else ONLY_CAMPAIGN


def _read_code(cells: MappedCells, row: SourceRow, context: SwitchContext) -> SourceCode:
    who = cells.affiliate_ref()
    return SourceCode(
        source_id=cells.key(),
        affiliate=replace(who or AffiliateRef(), campaign=_only_campaign(context)),
        code=cells.needed_text("code"),
        problem=None if who else LeftOutReason.AffiliateUnknown,
    )


def _read_customer(cells: MappedCells, row: SourceRow, context: SwitchContext) -> SourceCustomer:
    who = cells.affiliate_ref()
    return SourceCustomer(
        source_id=cells.key(),
        affiliate=replace(who, campaign=_only_campaign(context)) if who else None,
        campaign=_only_campaign(context),
        claimed_id=cells.text("customerId"),
        subscription_id=cells.text("subscriptionId"),
        email=cells.email("email"),
        name=cells.text("name"),
        first_paid_at=cells.time("firstPaidAt"),
        payments=cells.count("payments"),
        problem=None if who else LeftOutReason.CustomerWithoutAffiliate,
    )


def _read_commission(cells: MappedCells, row: SourceRow, context: SwitchContext) -> SourceCommission:
    who, word, order = cells.affiliate_ref(), cells.text("state") or "", cells.text("orderId")
    occurred_at, customer_id = cells.time("occurredAt"), cells.text("customerId")
    if occurred_at is None:
        raise BadRow("missing:occurredAt")
    amounts = _read_amounts(cells, context)
    has_customers = bool(context.columns.get(Collection.Customers, {}).get("id"))
    return SourceCommission(
        source_id=cells.key(),
        affiliate=replace(who, campaign=_only_campaign(context)) if who else None,
        campaign=_only_campaign(context),
        kind=_find_kind(word, amounts.refunded, context),
        word=word,
        currency=amounts.currency,
        amount_cents=amounts.amount,
        commission_cents=amounts.commission,
        occurred_at=occurred_at,
        refunded_cents=amounts.refunded,
        payment=order,
        charge_id=order,
        customer=customer_id if has_customers else None,
        claimed_id=customer_id,
        subscription_id=cells.text("subscriptionId"),
        customer_email=cells.email("customerEmail"),
        problem=amounts.problem or (None if who else LeftOutReason.AffiliateUnknown),
    )


def _find_kind(word: str, refunded_cents: int, context: SwitchContext) -> CommissionKind | None:
    """Return what a state means, None for a state without a meaning.

    If there is no column of states, it is what the brand says that the empty word means, else Paid.
    """
    ours = _find_word(word, context.words.get(Collection.Commissions, {})) or word.casefold()
    if not ours and not context.columns.get(Collection.Commissions, {}).get("state"):
        ours = WITHOUT_WORD[Collection.Commissions]
    if ours == "lost":
        is_refunded = refunded_cents > 0 or word.casefold() in _REFUNDED_WORDS
        return CommissionKind.Refunded if is_refunded else CommissionKind.Denied
    return CommissionKind(ours) if ours in _KINDS else None


@dataclass(frozen=True, slots=True)
class _Amounts:
    """The amounts of a commission in minor units of `currency`, and why they do not count."""

    currency: str | None
    amount: int
    commission: int
    refunded: int
    problem: LeftOutReason | None


def _read_amounts(cells: MappedCells, context: SwitchContext) -> _Amounts:
    """Return the amounts of a row. Raises BadRow. Refunds are of the sale, and in the unit of its column."""
    columns = context.columns.get(Collection.Commissions, {})
    code = cells.text("currency") or context.options.currency or ""
    currency = currencies.normalize(code)
    exponent = currencies.exponent(currency) if currency else None
    out_of_range = False

    def read(field: str, *, is_minor: bool) -> int | None:
        nonlocal out_of_range
        try:
            return cells.cents(field) if is_minor else cells.major(field, exponent=exponent)
        except AmountOutOfRange as beyond:
            out_of_range = True
            return beyond.cents

    is_sale_minor = "amountCents" in columns
    has_sale = is_sale_minor or "amount" in columns
    is_earned_minor = "commissionCents" in columns
    commission = read("commissionCents" if is_earned_minor else "commission", is_minor=is_earned_minor)
    amount = read("amountCents" if is_sale_minor else "amount", is_minor=is_sale_minor) or 0
    refunded = (read("refunded", is_minor=is_sale_minor) or 0) if has_sale else 0
    if commission is None:
        raise BadRow("missing:commission")
    # A negative commission takes another row back.
    out_of_range |= commission >= 0 and not 0 <= refunded <= amount
    problem = LeftOutReason.AmountOutOfRange if out_of_range else None
    if currency is None:
        problem = LeftOutReason.UnsupportedCurrency
    return _Amounts(currency or code.upper()[:_CURRENCY_CHARACTERS] or None, amount, commission, refunded, problem)


_KINDS = frozenset({"paid", "owed", "pending", "held"})
_READERS: Mapping[str, Callable[[MappedCells, SourceRow, SwitchContext], Record]] = MappingProxyType(
    {
        Collection.Affiliates: _read_affiliate,
        Collection.Links: _read_link,
        Collection.Codes: _read_code,
        Collection.Customers: _read_customer,
        Collection.Commissions: _read_commission,
    }
)
SOURCE: Source = FilesSource()

"""The preview of a switch, and its rows. Source: the switch-over rules, "Preview"."""

from marshmallow import fields

from domain.switches.reasons import LeftOutReason, SwitchVerdict
from domain.switches.sources import Collection
from schemas.base import MAY_LACK, Instant, Wire, one_of, text
from schemas.paging import PageQuery
from schemas.switches.switch import SwitchCampaignTerms

_MAX_CURSOR_CHARS = 1_000
_TARGETS = ("program", "affiliate", "link", "code", "customer", "conversion", "refund")


class CollectionCounts(Wire):
    """How many rows of a collection were read, by verdict.

    `implied` of them are in no list: other rows alone name them. It is absent if there are none.
    """

    read = fields.Integer()
    new = fields.Integer()
    known_rows = fields.Integer(data_key="known", attribute="known")
    changed = fields.Integer()
    merged = fields.Integer()
    left_out = fields.Integer()
    implied = fields.Integer(metadata=MAY_LACK)


class SwitchCounts(Wire):
    """The counts of each collection that the source has."""

    campaigns = fields.Nested(CollectionCounts, metadata=MAY_LACK)
    affiliates = fields.Nested(CollectionCounts, metadata=MAY_LACK)
    links = fields.Nested(CollectionCounts, metadata=MAY_LACK)
    codes = fields.Nested(CollectionCounts, metadata=MAY_LACK)
    customers = fields.Nested(CollectionCounts, metadata=MAY_LACK)
    commissions = fields.Nested(CollectionCounts, metadata=MAY_LACK)
    payouts = fields.Nested(CollectionCounts, metadata=MAY_LACK)


class SwitchMoney(Wire):
    """The money of all rows of one currency, left out or not."""

    currency = fields.String()
    sales = fields.Integer()
    gross_cents = fields.Integer()
    refunded_cents = fields.Integer()
    commission_cents = fields.Integer()
    paid_cents = fields.Integer()
    owed_cents = fields.Integer()
    pending_cents = fields.Integer()
    lost_cents = fields.Integer()


class ExplainedDifference(Wire):
    """A part of a difference and its reason."""

    reason = fields.String()
    count = fields.Integer()
    cents = fields.Integer(allow_none=True)


class SwitchFigure(Wire):
    """A figure that the source states of itself, compared with the rows that were read."""

    name = fields.String()
    of = fields.String(allow_none=True)
    currency = fields.String(allow_none=True)
    theirs = fields.Integer()
    read = fields.Integer()
    difference = fields.Integer()
    explained = fields.List(fields.Nested(ExplainedDifference))


class CurrencyCents(Wire):
    """An amount of one currency."""

    currency = fields.String()
    cents = fields.Integer()


class LeftOutCount(Wire):
    """How many rows of a collection are left out for a reason, and their commission."""

    collection = one_of(Collection)
    reason = one_of(LeftOutReason)
    count = fields.Integer()
    commission = fields.List(fields.Nested(CurrencyCents))


class TermsComparison(Wire):
    """The terms of a campaign there and of its program here, and the names of those that differ."""

    campaign = fields.String()
    theirs = fields.Nested(SwitchCampaignTerms)
    ours = fields.Nested(SwitchCampaignTerms)
    differ = fields.List(fields.String())


class SwitchWarningCount(Wire):
    """A warning that stops nothing, how often, and an example."""

    code = fields.String()
    count = fields.Integer()
    example = fields.String(allow_none=True)


class SwitchConfirm(Wire):
    """The totals to repeat with Run."""

    affiliates = fields.Integer()
    customers = fields.Integer()
    commissions = fields.Integer()
    payable = fields.List(fields.Nested(CurrencyCents))


class SwitchPreviewRecord(Wire):
    """What Run would write, and how what was read compares with what the source states of itself."""

    as_of = Instant()
    counts = fields.Nested(SwitchCounts)
    money = fields.List(fields.Nested(SwitchMoney))
    figures = fields.List(fields.Nested(SwitchFigure))
    left_out = fields.List(fields.Nested(LeftOutCount))
    terms = fields.List(fields.Nested(TermsComparison))
    warnings = fields.List(fields.Nested(SwitchWarningCount))
    to_confirm = fields.Nested(SwitchConfirm)
    letters = fields.Integer()


class RowTarget(Wire):
    """The record here that a row becomes."""

    type = one_of(_TARGETS)
    id = fields.UUID()


class SwitchRowRecord(Wire):
    """A row of the source, its verdict, and the record here that it becomes."""

    collection = one_of(Collection)
    source_id = fields.String()
    label = fields.String()
    verdict = one_of(SwitchVerdict)
    reason = one_of(LeftOutReason, allow_none=True)
    currency = fields.String(allow_none=True)
    amount_cents = fields.Integer(allow_none=True)
    commission_cents = fields.Integer(allow_none=True)
    affiliate = fields.String(allow_none=True)
    occurred_at = Instant(allow_none=True)
    target = fields.Nested(RowTarget, allow_none=True)


class SwitchRowsFilter(Wire):
    """The filter of rows."""

    collection = one_of(Collection, load_default=None)
    verdict = one_of(SwitchVerdict, load_default=None)
    reason = one_of(LeftOutReason, load_default=None)


class SwitchRowsQuery(PageQuery):
    """The filter of rows, and the page."""

    collection = one_of(Collection, load_default=None)
    verdict = one_of(SwitchVerdict, load_default=None)
    reason = one_of(LeftOutReason, load_default=None)
    cursor = text(longest=_MAX_CURSOR_CHARS, load_default=None)

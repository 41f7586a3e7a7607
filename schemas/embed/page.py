"""The data of an affiliate for the embedded page on their brand's site, in the API.

It contains nothing about buyers: neither who bought nor which order it was.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from marshmallow import fields, validate

from domain import links, statuses
from domain.conversions.earnings import EarningState
from domain.payouts.states import PayoutStatus
from schemas.affiliates.affiliate import alias, link_records
from schemas.affiliates.balance import BalanceRecord
from schemas.base import Instant, Wire, one_of
from schemas.me.earning import own_conversion_records
from schemas.me.person import terms_of
from schemas.paging import QueryInteger
from schemas.payouts.payout import day

_DEFAULT_DAYS = 30
_MAX_DAYS = 90


class EmbedDaysQuery(Wire):
    """The number of days, including today (UTC)."""

    days = QueryInteger(load_default=_DEFAULT_DAYS, validate=validate.Range(min=1, max=_MAX_DAYS))


class EmbedLinkBody(Wire):
    """A further link. Loads to `alias`, None for a random slug."""

    alias = alias()


class EmbedAffiliateRecord(Wire):
    """The affiliate."""

    full_name = fields.String()
    status = one_of(statuses.AffiliateStatus)


class EmbedProgramRecord(Wire):
    """Their program; `commission` is a sentence on what they earn."""

    name = fields.String()
    commission = fields.String()


class EmbedBrandRecord(Wire):
    """The brand's name, colour and logo."""

    name = fields.String()
    primary_brand_color = fields.String(allow_none=True)
    logo_url = fields.String(allow_none=True)


class EmbedLinkRecord(Wire):
    """A link of the affiliate."""

    id = fields.UUID()
    slug = fields.String()
    url = fields.String()
    is_default = fields.Boolean()


class EmbedDayRecord(Wire):
    """The numbers of one day (UTC); what conversions still earn is by currency, including overrides."""

    date = day(attribute="key")
    clicks = fields.Integer()
    leads = fields.Integer()
    sales = fields.Integer()
    earned_cents = fields.Dict(keys=fields.String(), values=fields.Integer(), attribute="commission_cents")


class EmbedMeRecord(Wire):
    """All data for the start of the page."""

    affiliate = fields.Nested(EmbedAffiliateRecord)
    program = fields.Nested(EmbedProgramRecord)
    brand = fields.Nested(EmbedBrandRecord)
    links = fields.List(fields.Nested(EmbedLinkRecord))
    links_left = fields.Integer()
    recruiting_url = fields.String(allow_none=True)
    balances = fields.List(fields.Nested(BalanceRecord))
    min_payout_cents = fields.Integer(allow_none=True)
    min_payout_currency = fields.String(allow_none=True)
    has_payout_account = fields.Boolean()
    series = fields.List(fields.Nested(EmbedDayRecord))


class EmbedConversionRecord(Wire):
    """A conversion of the affiliate; `state` is the state of its money, `why` explains it in sentences."""

    id = fields.UUID()
    type = one_of(statuses.ConversionType)
    status = one_of(statuses.ConversionStatus)
    state = one_of(EarningState)
    commission_cents = fields.Integer()
    currency = fields.String()
    occurred_at = Instant()
    payable_at = Instant(allow_none=True)
    locked = fields.Boolean()
    why = fields.List(fields.String())


class EmbedPayoutRecord(Wire):
    """A payout to the affiliate, in US cents, without its destination."""

    id = fields.UUID()
    amount_cents = fields.Integer()
    currency = fields.String()
    status = one_of(PayoutStatus)
    created_at = Instant()
    paid_at = Instant(allow_none=True)
    voided_at = Instant(allow_none=True)


def _keys(schema: Wire) -> tuple[str, ...]:
    return tuple(field.data_key or name for name, field in schema.fields.items())


_CONVERSION_KEYS, _LINK_KEYS = _keys(EmbedConversionRecord()), _keys(EmbedLinkRecord())
_AFFILIATE, _BALANCE, _DAY = EmbedAffiliateRecord(), BalanceRecord(), EmbedDayRecord()
_BRAND = EmbedBrandRecord(exclude=("logo_url",))


@dataclass(frozen=True, slots=True)
class FramedRows:
    """The rows for the start of the page: Affiliate, JoinedProgram, Organization, LinkView and CurrencyBalance of
    models, KeyedNumbers of domain.
    """

    affiliate: Any
    joined: Any
    brand: Any
    links: Sequence[Any]
    balances: Sequence[Any]
    days: Sequence[Any]
    recruiting_url: str | None
    has_payout_account: bool


def me_record(rows: FramedRows, *, base_url: str) -> dict[str, Any]:
    """Return the data for the start of the page. `base_url` is the public URL of this service."""
    brand, logo = rows.brand, rows.brand.logo_file_id
    limit = 0 if rows.joined.archived_at else links.max_links(rows.joined.model)
    return {
        "affiliate": _AFFILIATE.dump(rows.affiliate),
        "program": {"name": rows.joined.name, "commission": terms_of(rows.joined)},
        "brand": _BRAND.dump(brand) | {"logoUrl": f"{base_url}/api/brand-files/{logo}" if logo else None},
        "links": embed_link_records(rows.links, base_url=base_url),
        "linksLeft": max(0, limit - len(rows.links)),
        "recruitingUrl": rows.recruiting_url,
        "balances": _BALANCE.dump(rows.balances, many=True),
        "minPayoutCents": brand.min_payout_cents,
        "minPayoutCurrency": brand.min_payout_currency,
        "hasPayoutAccount": rows.has_payout_account,
        "series": _DAY.dump(rows.days, many=True),
    }


def embed_link_records(rows: Sequence[Any], *, base_url: str) -> list[dict[str, Any]]:
    """Return links for the embedded page."""
    return [{name: record[name] for name in _LINK_KEYS} for record in link_records(rows, base_url=base_url)]


def embed_conversion_records(rows: Iterable[Any], *, now: datetime) -> list[dict[str, Any]]:
    """Return conversions for the embedded page. Rows are `models.conversions.earnings.Earning`."""
    return [{name: record[name] for name in _CONVERSION_KEYS} for record in own_conversion_records(rows, now=now)]

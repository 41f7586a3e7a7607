"""What an affiliate sees of themselves in the frame of their brand's site, on the wire.

Nothing of a buyer is in it: neither who bought nor which order it was.
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

_USUAL_DAYS = 30
_MOST_DAYS = 90


class EmbedDaysQuery(Wire):
    """Over how many days, today (UTC) included."""

    days = QueryInteger(load_default=_USUAL_DAYS, validate=validate.Range(min=1, max=_MOST_DAYS))


class EmbedLinkBody(Wire):
    """One more link. Loads to `alias`, None for a random slug."""

    alias = alias()


class EmbedAffiliateRecord(Wire):
    """Who is looking."""

    wire_name = "EmbedAffiliate"

    full_name = fields.String()
    status = one_of(statuses.AffiliateStatus)


class EmbedProgramRecord(Wire):
    """The program that they are in; `commission` says in a sentence what they earn."""

    wire_name = "EmbedProgram"

    name = fields.String()
    commission = fields.String()


class EmbedBrandRecord(Wire):
    """The brand, as it shows itself."""

    wire_name = "EmbedBrand"

    name = fields.String()
    primary_brand_color = fields.String(allow_none=True)
    logo_url = fields.String(allow_none=True)


class EmbedLinkRecord(Wire):
    """A link of theirs."""

    wire_name = "EmbedLink"

    id = fields.UUID()
    slug = fields.String()
    url = fields.String()
    is_default = fields.Boolean()


class EmbedDayRecord(Wire):
    """What one day (UTC) brought; what conversions still earn is by currency, overrides with it."""

    wire_name = "EmbedDay"

    date = day(attribute="key")
    clicks = fields.Integer()
    leads = fields.Integer()
    sales = fields.Integer()
    earned_cents = fields.Dict(keys=fields.String(), values=fields.Integer(), attribute="commission_cents")


class EmbedMeRecord(Wire):
    """Everything that the page begins with."""

    wire_name = "EmbedMe"

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
    """What credits them; `state` is where its money stands, `why` says it in sentences."""

    wire_name = "EmbedConversion"

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
    """A payout to them, in US cents; where it goes is not in it."""

    wire_name = "EmbedPayout"

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
    """What the page begins with, as rows: an Affiliate, a JoinedProgram, an Organization, ShownLinks and
    CurrencyBalances of models, KeyedNumbers of domain.
    """

    affiliate: Any
    joined: Any
    brand: Any
    links: Sequence[Any]
    balances: Sequence[Any]
    days: Sequence[Any]
    recruiting_url: str | None
    has_payout_account: bool


def me_record(found: FramedRows, *, base_url: str) -> dict[str, Any]:
    """Return what the page begins with. `base_url` is where this service is reached."""
    brand, logo = found.brand, found.brand.logo_file_id
    most = 0 if found.joined.archived_at else links.max_links(found.joined.model)
    return {
        "affiliate": _AFFILIATE.dump(found.affiliate),
        "program": {"name": found.joined.name, "commission": terms_of(found.joined)},
        "brand": _BRAND.dump(brand) | {"logoUrl": f"{base_url}/api/brand-files/{logo}" if logo else None},
        "links": embed_link_records(found.links, base_url=base_url),
        "linksLeft": max(0, most - len(found.links)),
        "recruitingUrl": found.recruiting_url,
        "balances": _BALANCE.dump(found.balances, many=True),
        "minPayoutCents": brand.min_payout_cents,
        "minPayoutCurrency": brand.min_payout_currency,
        "hasPayoutAccount": found.has_payout_account,
        "series": _DAY.dump(found.days, many=True),
    }


def embed_link_records(held: Sequence[Any], *, base_url: str) -> list[dict[str, Any]]:
    """Return links as the frame shows them."""
    return [{name: one[name] for name in _LINK_KEYS} for one in link_records(held, base_url=base_url)]


def embed_conversion_records(rows: Iterable[Any], *, now: datetime) -> list[dict[str, Any]]:
    """Return conversions as the frame shows them. Rows are `models.conversions.earnings.Earning`."""
    return [{name: one[name] for name in _CONVERSION_KEYS} for one in own_conversion_records(rows, now=now)]

"""Organizations, the tenants. Their members are in `members`, their keys in `api_keys`."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from uuid import UUID

import peewee

from models.db import db, savepoint
from models.prepared_statements import Lookup
from models.table import Table


@dataclass(frozen=True, slots=True)
class Organization:
    """A tenant: the brand whose affiliates and money these are."""

    id: UUID
    name: str
    slug: str
    plan_tier: str
    subscription_status: str
    trial_ends_at: datetime | None
    home_currency: str
    payout_grace_days: int
    payout_grace_days_max: int
    gateways: tuple[str, ...]
    connected_gateways: tuple[str, ...]
    subdomain: str | None
    subdomain_change_count: int
    portal_host: str | None
    description: str | None
    billing_email: str | None
    timezone: str
    industry_category: str | None
    primary_brand_color: str | None
    logo_file_id: UUID | None
    favicon_file_id: UUID | None
    white_label_enabled: bool
    min_payout_cents: int | None
    min_payout_currency: str | None
    automatic_payout_enabled: bool
    automatic_payout_cadence: str
    automatic_payout_since: date | None
    last_automatic_payout_at: datetime | None
    home_currency_changed_at: datetime | None
    attribution_params: str | None
    billing_provider: str | None
    billing_interval: str | None
    processor_customer_id: str | None
    processor_subscription_id: str | None
    affiliate_limit: int | None
    fraud_strictness: str
    fraud_score: int
    banned_referrers: tuple[str, ...]
    lead_preview: bool
    leads_per_day: int
    pixel_public_key: str | None
    tracking_domain: str | None
    tracking_domain_verified: bool
    sandbox_rail: str | None
    commission_basis: str
    self_referrals: str
    require_second_factor: bool
    large_sale_cents: int | None
    large_sale_currency: str | None
    first_sale_at: datetime | None
    verification_state: str
    identity_required: bool | None
    identity_threshold: int
    high_risk_threshold: int
    funding_mode: str
    bank_balance_cents: int
    funding_frozen: bool
    payouts_need_review: bool
    payout_hold_days: int
    tax_form_required: bool
    deal_funding_source: str | None
    created_at: datetime


_TABLE = Table("organization", Organization, key=("id",))
#: Insert an organization.
insert = _TABLE.insert
#: Change columns of a locked organization and return it as it is now.
change = _TABLE.update_locked
_FIND = f"select {_TABLE.columns} from organization where id = %s"
_LOCK = f"{_FIND} for no key update"
_ANY_ORG_LIST = f"select {_TABLE.columns} from organization order by created_at"


def any_org_list() -> list[Organization]:
    """Return every organization, oldest first. For the operator."""
    return _TABLE.all(_ANY_ORG_LIST)


def find(organization_id: UUID) -> Organization | None:
    """Return the organization of this unit of work."""
    return _TABLE.first(_FIND, (organization_id,))


def lock(organization_id: UUID) -> Organization | None:
    """Return the organization of this unit of work, locked until the transaction ends.

    Rows that reference it can be written meanwhile.
    """
    return _TABLE.first(_LOCK, (organization_id,))


def update(organization_id: UUID, changes: Mapping[str, Any]) -> Organization | None:
    """Change columns of an organization and return it as it is now; None when there is no such organization."""
    return _TABLE.update({"id": organization_id}, changes)


_ANY_ORG_PARAMS_AT = """
select attribution_params from organization where tracking_domain = %s and tracking_domain_verified
"""


def any_org_find_params_by_host(host: str) -> str | None:
    """Return the custom attribution parameters of the organization with this verified tracking domain."""
    row = db.row(_ANY_ORG_PARAMS_AT, (host,))
    return row[0] if row else None


_ANY_ORG_PARAMS_OF = """
select o.attribution_params from program p join organization o on o.id = p.organization_id where p.id = %s
"""


def any_org_find_params_by_program(program_id: UUID) -> str | None:
    """Return the custom attribution parameters of the organization that has a program."""
    row = db.row(_ANY_ORG_PARAMS_OF, (program_id,))
    return row[0] if row else None


def read_home_currency(organization_id: UUID) -> str:
    """Return the organization's home currency code."""
    row = db.row("select home_currency from organization where id = %s", (organization_id,))
    assert row is not None
    return str(row[0])


_SANDBOX_RAIL = Lookup("select sandbox_rail from organization where id = %s")


def read_sandbox_rail(organization_id: UUID) -> str | None:
    """Return the mode of the organization's sandbox rail, None without its own."""
    row = db.row(_SANDBOX_RAIL, (organization_id,))
    return row[0] if row else None


def update_unless_taken(organization_id: UUID, changes: Mapping[str, Any]) -> Organization | None:
    """Update columns whose values are unique among organizations; None when another organization has the value.

    Row-level security hides the other organization from a select, but not from the unique index.
    """
    with suppress(peewee.IntegrityError), savepoint():
        return update(organization_id, changes)
    return None


@dataclass(frozen=True, slots=True)
class Usage:
    """An organization's usage that counts against its plan. `paid_cents` maps a currency to its minor units."""

    affiliates: int
    campaigns: int
    team_seats: int
    paid_cents: Mapping[str, int]


_CAMPAIGNS = "select count(*) from program where organization_id = %s and archived_at is null"
_SEATS = "select count(*) from member where organization_id = %s and removed_at is null"
_PAID = """
select currency, -sum(amount_cents) from ledger_entry
where organization_id = %s and kind in ('pay', 'clawback', 'escrow_out') and created_at >= %s and not is_test
group by currency
"""
_AFFILIATES = """
select count(*) from affiliate
where organization_id = %s and deleted_at is null and not is_test and status <> 'Rejected'
"""


def count_usage(*, organization_id: UUID, paid_since: datetime) -> Usage:
    """Return the usage of the plan; `paid_cents` is what payouts paid since a time, less what they held back."""
    return Usage(
        affiliates=count_affiliates(organization_id),
        campaigns=_count(_CAMPAIGNS, organization_id),
        team_seats=_count(_SEATS, organization_id),
        paid_cents={currency: int(cents) for currency, cents in db.run(_PAID, (organization_id, paid_since))},
    )


def count_affiliates(organization_id: UUID) -> int:
    """Return how many affiliates count against the plan: all but deleted, rejected and test ones."""
    return _count(_AFFILIATES, organization_id)


def _count(sql: str, organization_id: UUID) -> int:
    row = db.row(sql, (organization_id,))
    assert row is not None
    return int(row[0])

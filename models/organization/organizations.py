"""Organizations, the tenants. Their people are in `members`, their keys in `api_keys`."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import peewee
from playhouse.postgres_ext import ArrayField

from models.db import db, savepoint
from models.hot import Hot
from models.mutable import Moment, Table


class Organization(Table):
    """A tenant: the brand whose affiliates and money these are."""

    id = peewee.UUIDField(primary_key=True)
    name = peewee.TextField()
    slug = peewee.TextField(unique=True)
    plan_tier = peewee.TextField()
    subscription_status = peewee.TextField()
    trial_ends_at = Moment(null=True)
    home_currency = peewee.TextField(default="USD")
    payout_grace_days = peewee.IntegerField(default=30)
    payout_grace_days_max = peewee.IntegerField(default=90)
    gateways = ArrayField(peewee.TextField, default=list, index=False)
    subdomain = peewee.TextField(null=True)
    subdomain_change_count = peewee.IntegerField(default=0)
    portal_host = peewee.TextField(null=True)
    description = peewee.TextField(null=True)
    billing_email = peewee.TextField(null=True)
    timezone = peewee.TextField(default="UTC")
    industry_category = peewee.TextField(null=True)
    primary_brand_color = peewee.TextField(null=True)
    logo_file_id = peewee.UUIDField(null=True)
    favicon_file_id = peewee.UUIDField(null=True)
    white_label_enabled = peewee.BooleanField(default=False)
    min_payout_cents = peewee.BigIntegerField(null=True)
    min_payout_currency = peewee.TextField(null=True)
    automatic_payout_enabled = peewee.BooleanField(default=False)
    automatic_payout_cadence = peewee.TextField(default="Manual")
    automatic_payout_since = peewee.DateField(null=True)
    last_automatic_payout_at = Moment(null=True)
    home_currency_changed_at = Moment(null=True)
    attribution_params = peewee.TextField(null=True)
    billing_provider = peewee.TextField(null=True)
    billing_interval = peewee.TextField(null=True)
    processor_customer_id = peewee.TextField(null=True)
    processor_subscription_id = peewee.TextField(null=True)
    affiliate_limit = peewee.IntegerField(null=True)
    fraud_strictness = peewee.TextField(default="balanced")
    fraud_score = peewee.IntegerField(default=0)
    banned_referrers = ArrayField(peewee.TextField, default=list, index=False)
    lead_preview = peewee.BooleanField(default=False)
    leads_per_day = peewee.IntegerField(default=100)
    pixel_public_key = peewee.TextField(null=True)
    tracking_domain = peewee.TextField(null=True)
    tracking_domain_verified = peewee.BooleanField(default=False)
    sandbox_rail = peewee.TextField(null=True)
    verification_state = peewee.TextField(default="unverified")
    identity_required = peewee.BooleanField(null=True)
    identity_threshold = peewee.IntegerField(default=85)
    high_risk_threshold = peewee.IntegerField(default=60)
    funding_mode = peewee.TextField(default="balance")
    bank_balance_cents = peewee.BigIntegerField(default=0)
    funding_frozen = peewee.BooleanField(default=False)
    payouts_need_review = peewee.BooleanField(default=False)
    payout_hold_days = peewee.IntegerField(default=0)
    tax_form_required = peewee.BooleanField(default=False)
    created_at = Moment()

    def columns(self) -> dict[str, Any]:
        """Return the columns by name, to be shown with what is not one."""
        return dict(self.__data__)


def any_org_list() -> list[Organization]:
    """Return every organization, oldest first. For the operator."""
    return list(Organization.select().order_by(Organization.created_at))


def find(organization_id: UUID) -> Organization | None:
    """Return the organization of this unit of work."""
    return Organization.get_or_none(Organization.id == organization_id)


def lock(organization_id: UUID) -> Organization | None:
    """Return the organization of this unit of work, locked until the transaction ends.

    Rows that refer to it can be written meanwhile.
    """
    organizations = Organization.select().where(Organization.id == organization_id)
    clause: Any = "for no key update"  # peewee takes the clause itself too
    locked: Organization | None = organizations.for_update(clause).get_or_none()
    return locked


def insert(values: Mapping[str, Any]) -> None:
    """Insert an organization."""
    Organization.insert(values).execute()


def update(organization_id: UUID, changes: Mapping[str, Any]) -> bool:
    """Change columns of an organization; False when there is none."""
    return bool(Organization.update(changes).where(Organization.id == organization_id).execute())


def any_org_params_at(host: str) -> str | None:
    """Return the custom attribution parameters of the organization whose verified tracking domain a host is."""
    row = db.row(
        "select attribution_params from organization where tracking_domain = %s and tracking_domain_verified", (host,)
    )
    return row[0] if row else None


def any_org_params_of(program_id: UUID) -> str | None:
    """Return the custom attribution parameters of the organization that has a program."""
    row = db.row(
        "select o.attribution_params from program p join organization o on o.id = p.organization_id where p.id = %s",
        (program_id,),
    )
    return row[0] if row else None


def home_currency(organization_id: UUID) -> str:
    """Return the organization's home currency code."""
    row = db.row("select home_currency from organization where id = %s", (organization_id,))
    assert row is not None
    return str(row[0])


_SANDBOX_RAIL = Hot("select sandbox_rail from organization where id = %s")


def sandbox_rail(organization_id: UUID) -> str | None:
    """Return how the organization's sandbox rail behaves, None when it has none of its own."""
    row = db.row(_SANDBOX_RAIL, (organization_id,))
    return row[0] if row else None


def update_unless_taken(organization_id: UUID, changes: Mapping[str, Any]) -> bool:
    """Change columns that no two organizations share the value of; False when another one has it.

    Row-level security hides the other one from a look-up, but not from the index.
    """
    with suppress(peewee.IntegrityError), savepoint():
        return update(organization_id, changes)
    return False


def stage_capacity_turn(organization_id: UUID) -> None:
    """Let only one transaction at a time decide whether the organization has room for one more affiliate."""
    db.stage("select pg_advisory_xact_lock(hashtextextended(%s, 0))", (f"capacity:{organization_id}",))


@dataclass(frozen=True, slots=True)
class Usage:
    """What of an organization counts against its plan. `paid_cents` maps a currency to its minor units."""

    affiliates: int
    campaigns: int
    team_seats: int
    paid_cents: Mapping[str, int]


def usage(*, organization_id: UUID, paid_since: datetime) -> Usage:
    """Return what is used of the plan; of payouts what was paid from a moment on, less what they held back."""
    campaigns = db.row(
        "select count(*) from program where organization_id = %s and archived_at is null", (organization_id,)
    )
    seats = db.row("select count(*) from member where organization_id = %s", (organization_id,))
    paid = db.run(
        "select currency, -sum(amount_cents) from ledger_entry"
        " where organization_id = %s and kind in ('pay', 'clawback') and created_at >= %s and not is_test"
        " group by currency",
        (organization_id, paid_since),
    )
    assert campaigns is not None
    assert seats is not None
    return Usage(
        affiliates=count_affiliates(organization_id),
        campaigns=campaigns[0],
        team_seats=seats[0],
        paid_cents={currency: int(cents) for currency, cents in paid},
    )


def count_affiliates(organization_id: UUID) -> int:
    """Return how many affiliates count against the plan: not the deleted, the rejected and the test ones."""
    row = db.row(
        "select count(*) from affiliate where organization_id = %s and deleted_at is null and not is_test"
        " and status <> 'Rejected'",
        (organization_id,),
    )
    assert row is not None
    return int(row[0])

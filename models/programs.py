"""Programs (campaigns) with their tiers and groups."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import peewee

from models.db import db
from models.table import Moment, Table, rate


class Program(Table):
    """A campaign that affiliates promote. Amounts are minor units of the organization's home currency."""

    id = peewee.UUIDField(primary_key=True)
    organization_id = peewee.UUIDField()
    name = peewee.TextField()
    slug = peewee.TextField()
    description = peewee.TextField(null=True)
    terms_url = peewee.TextField(null=True)
    is_active = peewee.BooleanField(default=True)
    default_commission_type = peewee.TextField()
    default_commission_value = rate()
    default_commission_model = peewee.TextField()
    sale_commission_type = peewee.TextField(null=True)
    sale_commission_value = rate(null=True)
    cookie_window_days = peewee.IntegerField(default=30)
    recurring_months = peewee.IntegerField(null=True)
    recurring_delay_invoices = peewee.IntegerField(default=0)
    attribution_model = peewee.TextField(default="LastTouch")
    auto_approve = peewee.BooleanField(default=False)
    custom_domain = peewee.TextField(null=True)
    custom_domain_verified = peewee.BooleanField(default=False)
    network_visibility = peewee.TextField(default="Private")
    is_publicly_discoverable = peewee.BooleanField(default=True)
    budget_cents = peewee.BigIntegerField(null=True)
    referral_destination_url = peewee.TextField(null=True)
    min_payout_cents = peewee.BigIntegerField(null=True)
    hosted_checkout_door_enabled = peewee.BooleanField(default=False)
    hosted_checkout_door_mode = peewee.TextField(default="redirect")
    hosted_checkout_thank_you_url = peewee.TextField(null=True)
    lead_bounty_cents = peewee.BigIntegerField(null=True)
    click_reward_cents = peewee.BigIntegerField(null=True)
    sub_affiliate_enabled = peewee.BooleanField(default=False)
    sub_affiliate_percent = peewee.DecimalField(max_digits=7, decimal_places=4, default=0)
    suspended_at = Moment(null=True)
    archived_at = Moment(null=True)
    created_at = Moment()
    updated_at = Moment()


def insert(values: Mapping[str, Any]) -> bool:
    """Insert a program; False when the organization has one, archived or not, with this slug."""
    inserted = Program.insert(values).on_conflict(action="IGNORE", conflict_target=("organization_id", "slug"))
    return bool(inserted.as_rowcount().execute() == 1)


def update(*, organization_id: UUID, program_id: UUID, changes: Mapping[str, Any]) -> bool:
    """Change columns of a program; False when the organization has none with this id."""
    return bool(
        Program.update(changes).where(Program.organization_id == organization_id, Program.id == program_id).execute()
    )


def find(*, organization_id: UUID, program_id: UUID) -> Program | None:
    """Return one program of the organization, archived or not."""
    return Program.get_or_none(Program.organization_id == organization_id, Program.id == program_id)


def find_open(*, organization_id: UUID, program_id: UUID) -> Program | None:
    """Return one program of the organization that is active, not archived and not suspended."""
    return Program.get_or_none(
        Program.organization_id == organization_id,
        Program.id == program_id,
        Program.is_active,
        Program.archived_at.is_null(),
        Program.suspended_at.is_null(),
    )


def lock(*, organization_id: UUID, program_id: UUID) -> Program | None:
    """Return one program of the organization, locked until the transaction ends."""
    programs = Program.select().where(Program.organization_id == organization_id, Program.id == program_id)
    found: Program | None = programs.for_update().get_or_none()
    return found


def page(
    *,
    organization_id: UUID,
    after: tuple[datetime, UUID] | None,
    limit: int,
    includes_archived: bool = False,
) -> list[Program]:
    """Return up to `limit` programs, newest first, after the keyset position `after`."""
    programs = Program.select().where(Program.organization_id == organization_id)
    if not includes_archived:
        programs = programs.where(Program.archived_at.is_null())
    if after is not None:
        programs = programs.where(peewee.Tuple(Program.created_at, Program.id) < peewee.Tuple(*after))
    return list(programs.order_by(Program.created_at.desc(), Program.id.desc()).limit(limit))


def any_org_owner(program_id: UUID) -> UUID | None:
    """Return the organization of a program, for callers who have none; whether it is open is not asked here."""
    row = db.row("select organization_id from program where id = %s", (program_id,))
    return row[0] if row else None


@dataclass(frozen=True, slots=True)
class Tier:
    """A performance tier: from this lifetime revenue on (home currency, minor units), this rate."""

    min_revenue_cents: int
    type: str
    value: Decimal


def tiers(*, organization_id: UUID, program_id: UUID) -> list[Tier]:
    """Return a program's performance tiers, lowest first."""
    rows = db.run(
        "select min_revenue_cents, commission_type, commission_value from performance_tier"
        " where organization_id = %s and program_id = %s order by min_revenue_cents",
        (organization_id, program_id),
    )
    return [Tier(*row) for row in rows]


def replace_tiers(*, organization_id: UUID, program_id: UUID, tiers: Sequence[Tier]) -> None:
    """Set a program's performance tiers as a whole."""
    db.stage(
        "delete from performance_tier where organization_id = %s and program_id = %s", (organization_id, program_id)
    )
    for tier in tiers:
        db.stage(
            "insert into performance_tier (organization_id, program_id, min_revenue_cents, commission_type,"
            " commission_value) values (%s, %s, %s, %s, %s)",
            (organization_id, program_id, tier.min_revenue_cents, tier.type, tier.value),
        )


def insert_group(
    *, organization_id: UUID, program_id: UUID, group_id: UUID, name: str, type: str, value: Decimal
) -> None:
    """Insert a partner group: affiliates of one program who share a rate."""
    db.stage(
        "insert into partner_group (id, organization_id, program_id, name, commission_type, commission_value)"
        " values (%s, %s, %s, %s, %s, %s)",
        (group_id, organization_id, program_id, name, type, value),
    )


def stage_affiliate_turn(*, organization_id: UUID, affiliate_id: UUID) -> None:
    """Let the sales of one affiliate settle one after the other, so that each sees the revenue before it."""
    db.stage(
        "select from affiliate where organization_id = %s and id = %s for no key update",
        (organization_id, affiliate_id),
    )

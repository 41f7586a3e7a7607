"""Programs (campaigns)."""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import peewee

from models.db import db, savepoint
from models.mutable import Moment, Table, rate


class Program(Table):
    """A campaign that affiliates promote.

    Amounts are minor units of the currency beside them: what was the home currency when they were set.
    """

    id = peewee.UUIDField(primary_key=True)
    organization_id = peewee.UUIDField()
    name = peewee.TextField()
    slug = peewee.TextField()
    description = peewee.TextField(null=True)
    terms_url = peewee.TextField(null=True)
    is_active = peewee.BooleanField(default=True)
    default_commission_type = peewee.TextField()
    default_commission_value = rate()
    fee_currency = peewee.TextField(null=True)
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
    budget_currency = peewee.TextField(null=True)
    referral_destination_url = peewee.TextField(null=True)
    min_payout_cents = peewee.BigIntegerField(null=True)
    min_payout_currency = peewee.TextField(null=True)
    hosted_checkout_door_enabled = peewee.BooleanField(default=False)
    hosted_checkout_door_mode = peewee.TextField(default="redirect")
    hosted_checkout_thank_you_url = peewee.TextField(null=True)
    lead_bounty_cents = peewee.BigIntegerField(null=True)
    lead_bounty_currency = peewee.TextField(null=True)
    click_reward_cents = peewee.BigIntegerField(null=True)
    click_reward_currency = peewee.TextField(null=True)
    is_primary = peewee.BooleanField(default=False)
    sub_affiliate_enabled = peewee.BooleanField(default=False)
    sub_affiliate_percent = peewee.DecimalField(max_digits=7, decimal_places=4, default=0)
    suspended_at = Moment(null=True)
    archived_at = Moment(null=True)
    # When a page of the brand last said that the script or the picture is in it.
    install_seen_at = Moment(null=True)
    script_seen_at = Moment(null=True)
    script_origin = peewee.TextField(null=True)
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


def columns(program: Program) -> dict[str, Any]:
    """Return the columns of a program that was read, by name."""
    return dict(program.__data__)


def rename(*, organization_id: UUID, program_id: UUID, slug: str) -> bool:
    """Give a program another slug; False when the organization has a program, archived or not, with this one."""
    renamed = Program.update(slug=slug).where(Program.organization_id == organization_id, Program.id == program_id)
    try:
        with savepoint():
            renamed.execute()
    except peewee.IntegrityError:
        return False
    return True


def stage_primary_turn(*, organization_id: UUID) -> None:
    """Let only one transaction at a time decide which program of this organization is the primary one.

    It comes before any lock on a program: two that each hold one and want the other's would wait for ever.
    """
    db.stage("select pg_advisory_xact_lock(hashtextextended(%s, 0))", (f"primary program:{organization_id}",))


def stage_no_primary(*, organization_id: UUID) -> None:
    """Take the primary flag from the program that has it, so that another one can get it."""
    db.stage("update program set is_primary = false where organization_id = %s and is_primary", (organization_id,))


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


def newest_open(*, organization_id: UUID) -> Program | None:
    """Return the organization's newest program that is active, not archived and not suspended."""
    programs = Program.select().where(
        Program.organization_id == organization_id,
        Program.is_active,
        Program.archived_at.is_null(),
        Program.suspended_at.is_null(),
    )
    newest: Program | None = programs.order_by(Program.created_at.desc(), Program.id.desc()).first()
    return newest


def lock(*, organization_id: UUID, program_id: UUID) -> Program | None:
    """Return one program of the organization, locked until the transaction ends.

    Rows that only refer to it (a conversion that is being settled) do not wait for it.
    """
    programs = Program.select().where(Program.organization_id == organization_id, Program.id == program_id)
    locked = programs.for_update("FOR NO KEY UPDATE")  # type: ignore[arg-type]  # peewee takes the text of a lock too
    found: Program | None = locked.get_or_none()
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


def partner_rates(*, organization_id: UUID, program_id: UUID) -> list[tuple[str, Decimal, str | None]]:
    """Return the different rates that affiliates, groups and tiers of a program have, or will by a pending invite.

    Each is a type, a value and the currency that a Fixed one was set in.
    """
    rates: list[Any] = db.run(
        "select custom_commission_type, custom_commission_value, custom_commission_currency from affiliate"
        " where organization_id = %(organization)s and program_id = %(program)s"
        " and custom_commission_type is not null and deleted_at is null"
        " union select custom_commission_type, custom_commission_value, custom_commission_currency"
        " from affiliate_invite where organization_id = %(organization)s and program_id = %(program)s"
        " and custom_commission_type is not null and state = 'Pending'"
        " union select commission_type, commission_value, commission_currency from partner_group"
        " where organization_id = %(organization)s and program_id = %(program)s"
        " union select commission_type, commission_value, case when commission_type = 'Fixed' then currency end"
        " from performance_tier"
        " where organization_id = %(organization)s and program_id = %(program)s",
        {"organization": organization_id, "program": program_id},
    )
    return rates


def any_org_list(organization_id: UUID | None) -> list[Program]:
    """Return the programs of one organization or of all, archived ones too, oldest first."""
    listed = Program.select()
    if organization_id is not None:
        listed = listed.where(Program.organization_id == organization_id)
    return list(listed.order_by(Program.organization_id, Program.created_at, Program.id))


def stage_domain_turn(domain: str) -> None:
    """Let only one transaction at a time decide who answers for a domain."""
    db.stage("select pg_advisory_xact_lock(hashtextextended(%s, 0))", (f"domain:{domain}",))


def any_org_domain_holder(domain: str) -> UUID | None:
    """Return the living program of the whole service that has this domain verified."""
    row = db.row(
        "select id from program where custom_domain = %s and custom_domain_verified and archived_at is null", (domain,)
    )
    return row[0] if row else None


def any_org_owner(program_id: UUID) -> UUID | None:
    """Return the organization of a program, for callers who have none; whether it is open is not asked here."""
    row = db.row("select organization_id from program where id = %s", (program_id,))
    return row[0] if row else None


def any_org_is_portal_host(*, host: str, handle: str | None) -> bool:
    """Say whether a host is some brand's portal: a verified custom domain, their own host, or their subdomain."""
    return bool(
        db.run(
            "select from program where custom_domain = %(host)s and custom_domain_verified and archived_at is null"
            " union all select from organization where portal_host = %(host)s or subdomain = %(handle)s limit 1",
            {"host": host, "handle": handle},
        )
    )


def stage_affiliate_turn(*, organization_id: UUID, affiliate_id: UUID) -> None:
    """Let the sales of one affiliate settle one after the other, so that each sees the revenue before it."""
    db.stage(
        "select from affiliate where organization_id = %s and id = %s for no key update",
        (organization_id, affiliate_id),
    )

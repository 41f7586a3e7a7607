"""Programs (campaigns)."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

import peewee

from models.conditions import OPEN_PROGRAM
from models.db import Json, db, savepoint
from models.table import Rows, Table


@dataclass(frozen=True, slots=True)
class Program:
    """A campaign that affiliates promote.

    Amounts are minor units of the currency next to them: the home currency when they were set.
    """

    id: UUID
    organization_id: UUID
    name: str
    slug: str
    description: str | None
    terms_url: str | None
    is_active: bool
    default_commission_type: str
    default_commission_value: Decimal
    fee_currency: str | None
    default_commission_model: str
    sale_commission_type: str | None
    sale_commission_value: Decimal | None
    cookie_window_days: int
    recurring_months: int | None
    recurring_delay_invoices: int
    attribution_model: str
    auto_approve: bool
    custom_domain: str | None
    custom_domain_verified: bool
    network_visibility: str
    is_publicly_discoverable: bool
    budget_cents: int | None
    budget_currency: str | None
    referral_destination_url: str | None
    min_payout_cents: int | None
    min_payout_currency: str | None
    hosted_checkout_door_enabled: bool
    hosted_checkout_door_mode: str
    hosted_checkout_thank_you_url: str | None
    lead_bounty_cents: int | None
    lead_bounty_currency: str | None
    click_reward_cents: int | None
    click_reward_currency: str | None
    is_primary: bool
    # As `domain.programs.application_form` defines it; None: the application has no further questions.
    application_form: Mapping[str, Any] | None
    sub_affiliate_enabled: bool
    sub_affiliate_percent: Decimal
    # The landing page, as `schemas.programs.landing_page` defines it; None: built from the program itself.
    landing_page_config: Mapping[str, Any] | None
    suspended_at: datetime | None
    archived_at: datetime | None
    # When a page of the brand last loaded the script or the picture.
    install_seen_at: datetime | None
    script_seen_at: datetime | None
    script_origin: str | None
    category: str | None
    # The operator's review of listing it in the network; the brand sees the reason.
    network_review: str | None
    network_asked_at: datetime | None
    network_decided_at: datetime | None
    network_decided_by: str | None
    network_reason: str | None
    created_at: datetime
    updated_at: datetime

    @property
    def listing_review(self) -> "ProgramReview | None":
        """The network review as its brand sees it; None if none was requested."""
        if self.network_review is None:
            return None
        return ProgramReview(self.network_review, self.network_reason, self.network_decided_at)


class ProgramReview(NamedTuple):
    """The status of a program's review, its reason, and when it was decided; None while it waits."""

    status: str
    reason: str | None
    decided_at: datetime | None


_TABLE = Table("program", Program)
_OBJECTS = ("application_form", "landing_page_config")


def insert(values: Mapping[str, Any]) -> Program | None:
    """Insert a program and return it; None if the organization has one with this slug, archived or not."""
    return _TABLE.insert_returning(_to_columns(values), conflict="organization_id, slug")


def change(program: Program, changes: Mapping[str, Any]) -> Program:
    """Change columns of a locked program and return it as it is now."""
    different = {name: value for name, value in changes.items() if getattr(program, name) != value}
    return _TABLE.update_locked(program, _to_columns(different))


def _to_columns(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return column values in the form that the database takes."""
    objects = {name: Json(values[name]) for name in _OBJECTS if values.get(name) is not None}
    return {**values, **objects}


_RENAME = "update program set slug = %s where organization_id = %s and id = %s"


def rename(*, organization_id: UUID, program_id: UUID, slug: str) -> bool:
    """Change a program's slug; False if the organization has a program with it, archived or not."""
    try:
        with savepoint():
            db.run(_RENAME, (slug, organization_id, program_id))
    except peewee.IntegrityError:
        return False
    return True


def stage_no_primary(*, organization_id: UUID) -> None:
    """Stage the removal of the primary flag from the program that has it, so that another one can get it."""
    db.stage("update program set is_primary = false where organization_id = %s and is_primary", (organization_id,))


_FIND = f"select {_TABLE.columns} from program where organization_id = %s and id = %s"
_LOCK = f"{_FIND} for no key update"
_OPEN = f"select {_TABLE.columns} from program p where organization_id = %s and {OPEN_PROGRAM}"
_FIND_OPEN = f"{_OPEN} and id = %s"
_NEWEST_OPEN = f"{_OPEN} order by created_at desc, id desc limit 1"


def find(*, organization_id: UUID, program_id: UUID) -> Program | None:
    """Return one program of the organization, archived or not."""
    return _TABLE.first(_FIND, (organization_id, program_id))


def find_open(*, organization_id: UUID, program_id: UUID) -> Program | None:
    """Return one program of the organization that is active, not archived and not suspended."""
    return _TABLE.first(_FIND_OPEN, (organization_id, program_id))


def find_newest_open(*, organization_id: UUID) -> Program | None:
    """Return the organization's newest program that is active, not archived and not suspended."""
    return _TABLE.first(_NEWEST_OPEN, (organization_id,))


def lock(*, organization_id: UUID, program_id: UUID) -> Program | None:
    """Return one program of the organization, locked until the transaction ends.

    Inserts of rows that only reference it (such as a conversion) do not wait for it.
    """
    return _TABLE.first(_LOCK, (organization_id, program_id))


_PAGE = f"""
select {_TABLE.columns} from program
where organization_id = %(org)s and (%(archived)s or archived_at is null)
  and (%(at)s::timestamptz is null or (created_at, id) < (%(at)s, %(id)s::uuid))
order by created_at desc, id desc limit %(limit)s
"""


def page(
    *,
    organization_id: UUID,
    after: tuple[datetime, UUID] | None,
    limit: int,
    includes_archived: bool = False,
) -> list[Program]:
    """Return up to `limit` programs, newest first, after the keyset position `after`."""
    at, id = after or (None, None)
    return _TABLE.all(
        _PAGE, {"org": organization_id, "archived": includes_archived, "at": at, "id": id, "limit": limit}
    )


_MATCHING = f"""
select {_TABLE.columns} from program
where organization_id = %(org)s and archived_at is null {{}}
order by created_at desc, id desc limit %(limit)s
"""


def find_matching(*, organization_id: UUID, slug: str | None, name: str | None, limit: int) -> list[Program]:
    """Return up to `limit` unarchived programs with this slug and this name, newest first.

    None does not filter. Budget: 1 round trip.
    """
    parts = (("and slug = lower(%(slug)s)", slug), ("and name = %(name)s", name))
    conditions_sql = " ".join(part for part, value in parts if value is not None)
    params = {"org": organization_id, "slug": slug, "name": name, "limit": limit}
    return _TABLE.all(_MATCHING.format(conditions_sql), params)


class PartnerRate(NamedTuple):
    """A rate that replaces the program's for some affiliates; `currency` is the currency of a Fixed rate."""

    type: str
    value: Decimal
    currency: str | None


_PARTNER_RATES = """
select custom_commission_type, custom_commission_value, custom_commission_currency from affiliate
where organization_id = %(org)s and program_id = %(program)s and custom_commission_type is not null
  and deleted_at is null
union
select custom_commission_type, custom_commission_value, custom_commission_currency from affiliate_invite
where organization_id = %(org)s and program_id = %(program)s and custom_commission_type is not null
  and state = 'Pending'
union
select commission_type, commission_value, commission_currency from partner_group
where organization_id = %(org)s and program_id = %(program)s
union
select commission_type, commission_value, case when commission_type = 'Fixed' then currency end from performance_tier
where organization_id = %(org)s and program_id = %(program)s
"""


def list_partner_rates(*, organization_id: UUID, program_id: UUID) -> list[PartnerRate]:
    """Return the distinct rates of a program's affiliates, groups, tiers and pending invites."""
    return Rows(PartnerRate).all(_PARTNER_RATES, {"org": organization_id, "program": program_id})


_ANY_ORG_LIST = f"""
select {_TABLE.columns} from program where %(org)s::uuid is null or organization_id = %(org)s
order by organization_id, created_at, id
"""


def any_org_list(organization_id: UUID | None) -> list[Program]:
    """Return the programs of one organization or of all, archived ones too, oldest first."""
    return _TABLE.all(_ANY_ORG_LIST, {"org": organization_id})


_DOMAIN_HOLDER = """
select id from program where custom_domain = %s and custom_domain_verified and archived_at is null
"""


def any_org_find_by_domain(domain: str) -> UUID | None:
    """Return the unarchived program of any organization with this verified domain."""
    row = db.row(_DOMAIN_HOLDER, (domain,))
    return row[0] if row else None


def any_org_find_organization(program_id: UUID) -> UUID | None:
    """Return the organization of a program, open or not, for callers without an organization."""
    row = db.row("select organization_id from program where id = %s", (program_id,))
    return row[0] if row else None


_IS_PORTAL_HOST = """
select from program where custom_domain = %(host)s and custom_domain_verified and archived_at is null
union all
select from organization where portal_host = %(host)s or subdomain = %(handle)s limit 1
"""


def any_org_is_portal_host(*, host: str, handle: str | None) -> bool:
    """Return whether a host is a brand's portal: a verified custom domain, its own host, or its subdomain."""
    return bool(db.run(_IS_PORTAL_HOST, {"host": host, "handle": handle}))


def stage_affiliate_locks(*, organization_id: UUID, affiliate_ids: Collection[UUID]) -> None:
    """Stage locks of these affiliates, so that their sales settle one after the other and see the earlier revenue."""
    db.stage(
        "select from affiliate where organization_id = %s and id = any(%s) order by id for no key update",
        (organization_id, list(affiliate_ids)),
    )

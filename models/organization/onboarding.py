"""The facts by which the steps of setting up a brand are checked."""

from dataclasses import dataclass
from uuid import UUID

from domain.organization.onboarding import OnboardingFacts
from models.table import Rows, columns

# The newest programs and conversions are searched.
_MAX_PROGRAMS, _MAX_CONVERSIONS = 20, 50


@dataclass(frozen=True, slots=True)
class PayoutStanding:
    """The columns of an organization that decide whether it may pay out."""

    plan_tier: str
    subscription_status: str
    verification_state: str
    fraud_score: int
    identity_required: bool | None
    identity_threshold: int
    high_risk_threshold: int
    funding_mode: str
    funding_frozen: bool
    payouts_need_review: bool
    payout_hold_days: int


@dataclass(frozen=True, slots=True)
class OnboardingRow:
    """The facts of an organization, and its standing for payouts."""

    facts: OnboardingFacts
    standing: PayoutStanding


_ROWS = Rows(OnboardingRow)
_FACTS = columns(
    OnboardingFacts,
    "o",
    program_id="newest.id",
    program_at="newest.created_at",
    gateway="connection.gateway",
    connected_at="connection.connected_at",
    last_click_at="traffic.last_click_at",
    last_sale_at="sold.created_at",
    is_last_sale_test="sold.is_test",
    tag_seen_at="tag.seen_at",
    tag_origin="tag.script_origin",
    affiliate_at="""(select created_at from affiliate where organization_id = o.id and status = 'Approved'
      and deleted_at is null order by created_at limit 1)""",
    webhook_at="""(select created_at from webhook_endpoint where organization_id = o.id and deleted_at is null
      order by created_at limit 1)""",
)
_SELECT = columns(OnboardingRow, facts=_FACTS, standing=columns(PayoutStanding, "o"))
_FIND = f"""
with some_programs as materialized (
  select id, created_at, script_origin, greatest(script_seen_at, install_seen_at) as seen_at from program
  where organization_id = %(org)s and archived_at is null order by created_at desc, id desc limit {_MAX_PROGRAMS}
)
select {_SELECT}
from organization o
left join lateral (select id, created_at from some_programs order by created_at desc, id desc limit 1) newest on true
left join lateral (
  select seen_at, script_origin from some_programs where seen_at is not null order by seen_at desc limit 1
) tag on true
left join lateral (
  select gateway, connected_at from gateway_connection where organization_id = o.id and status = 'Active'
  order by connected_at limit 1
) connection on true
left join lateral (
  select max(greatest(recent.at, counted.at)) as last_click_at from some_programs p
  left join lateral (
    select occurred_at as at from click where organization_id = o.id and program_id = p.id
    order by occurred_at desc, id desc limit 1
  ) recent on true
  left join lateral (
    select last_at as at from click_hour where organization_id = o.id and program_id = p.id
    order by last_at desc limit 1
  ) counted on true
) traffic on true
left join lateral (
  select created_at, is_test from (
    select created_at, is_test, source, type from conversion where organization_id = o.id
    order by created_at desc, id desc limit {_MAX_CONVERSIONS}
  ) latest
  where type in ('OneTime', 'Recurring') and source not in ('import', 'manual', 'restore') limit 1
) sold on true
where o.id = %(org)s
"""


def find(organization_id: UUID) -> OnboardingRow | None:
    """Return the facts of an organization; reads a bounded number of rows. Budget: 1 statement."""
    return _ROWS.first(_FIND, {"org": organization_id})

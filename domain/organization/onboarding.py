"""The steps of setting up a brand, each checked by facts."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID


class StepKey(StrEnum):
    """The steps, in order."""

    Profile = "profile"
    Program = "program"
    Sales = "sales"
    Tag = "tag"
    Affiliate = "affiliate"
    Payouts = "payouts"
    Webhook = "webhook"


@dataclass(frozen=True, slots=True)
class OnboardingFacts:
    """The facts of an organization; a missing one is None.

    The program is the newest one, the gateway that of the oldest live connection. The last sale is the latest that
    tracking or a connection recorded, of recent conversions; `first_sale_at` is that of the first one that was no test.
    The times of clicks and of the tag are the latest.
    """

    name: str
    home_currency: str
    created_at: datetime
    program_id: UUID | None
    program_at: datetime | None
    gateway: str | None
    connected_at: datetime | None
    last_click_at: datetime | None
    last_sale_at: datetime | None
    is_last_sale_test: bool | None
    first_sale_at: datetime | None
    tag_seen_at: datetime | None
    tag_origin: str | None
    affiliate_at: datetime | None
    webhook_at: datetime | None


@dataclass(frozen=True, slots=True)
class SetupStep:
    """A step: whether it is done, since when (None if unknown), and the page where it is done."""

    key: StepKey
    is_done: bool
    done_at: datetime | None
    path: str


def build_steps(facts: OnboardingFacts, *, may_pay: bool) -> Sequence[SetupStep]:
    """Return the steps in order; `may_pay` if the organization could make a payout run."""
    sales_at = facts.connected_at or facts.last_sale_at or facts.first_sale_at
    install = f"/dashboard/programs/{facts.program_id}/install" if facts.program_id else "/dashboard/programs/new"
    return [
        SetupStep(
            StepKey.Profile,
            bool(facts.name and facts.home_currency),
            facts.created_at,
            "/dashboard/settings/profile",
        ),
        _step(StepKey.Program, facts.program_at, "/dashboard/programs/new"),
        _step(StepKey.Sales, sales_at, "/dashboard/connections"),
        SetupStep(StepKey.Tag, facts.tag_seen_at is not None, None, install),
        _step(StepKey.Affiliate, facts.affiliate_at, "/dashboard/invites"),
        SetupStep(StepKey.Payouts, may_pay, None, "/dashboard/payouts"),
        _step(StepKey.Webhook, facts.webhook_at, "/dashboard/webhooks"),
    ]


def _step(key: StepKey, at: datetime | None, path: str) -> SetupStep:
    return SetupStep(key, at is not None, at, path)

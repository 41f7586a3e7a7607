"""A switch that is Ready, with rows as judging leaves them: for tests of what Run writes."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any
from uuid import UUID

import orjson

from domain.switches.decisions import (
    AffiliateDecision,
    CodeDecision,
    CommissionDecision,
    CustomerDecision,
    LinkDecision,
    external_event_id,
)
from domain.switches.sources import Collection
from models import db
from models.ledger import rules
from models.switches import switches
from models.switches.judgement import judging_state
from pipelines.switches import running
from tests.support.job_queues import drain
from tests.support.rows.brands import Brand
from tests.support.running import row_ids

_NUMBERS = count(1)
_TARGET_TYPES = {
    "affiliates": "affiliate",
    "links": "link",
    "codes": "code",
    "customers": "customer",
    "commissions": "conversion",
}
NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
PAID_AT = NOW - timedelta(days=90)
TO_CONFIRM = {"affiliates": 1, "customers": 1, "commissions": 1, "payable": [{"currency": "USD", "cents": 100}]}


def list_exceptions(organization_id: UUID) -> list[tuple[str, str]]:
    """Return what `flask ledger check` would report of an organization."""
    with db.unit_of_work(organization_id):
        return rules.find_exceptions(organization_id, limit=20)


@dataclass(slots=True)
class JudgedSwitch:
    """A switch of a brand in its first program; each method adds a judged row and returns its id here."""

    brand: Brand
    source: str = "rewardful"
    options: Mapping[str, Any] = field(default_factory=dict)
    id: UUID = field(default_factory=row_ids.new_id)

    def __post_init__(self) -> None:
        now = datetime.now(UTC)
        with db.unit_of_work(self.brand.id):
            values: Mapping[str, Any] = {
                "id": self.id,
                "organization_id": self.brand.id,
                "source": self.source,
                "state": "Ready",
                "account_name": "Account",
                "account_reference": "account",
                "preview": db.Json({"to_confirm": TO_CONFIRM}),
                "options": db.Json(dict(self.options)),
                "parameters": ["ref_token_param"],
                "cut_over_at": NOW,
                "created_at": now,
                "reading_at": now,
                "touched_at": now,
            }
            assert switches.insert(values)
            judging_state.stage_ensure(
                organization_id=self.brand.id, switch_id=self.id, collections=[name.value for name in Collection]
            )

    def affiliate(self, email: str, **changes: Any) -> UUID:
        """Add a new affiliate with a default link."""
        slug = email.partition("@")[0]
        decision = AffiliateDecision(
            **{
                "affiliate_id": row_ids.new_id(),
                "program_id": self.brand.programs[0],
                "email": email,
                "full_name": slug.title(),
                "status": "Approved",
                "link_id": row_ids.new_id(),
                "slug": slug,
                **changes,
            }
        )
        self.add("affiliates", decision, target=decision.affiliate_id, key=email)
        return decision.affiliate_id

    def link(self, affiliate: UUID, link_id: UUID, *, slug: str | None = None, old_token: str | None = None) -> None:
        """Add a link with a slug, or an old token that leads to a link."""
        decision = LinkDecision(affiliate, self.brand.programs[0], link_id, slug, old_token)
        self.add("links", decision, target=link_id)

    def code(self, affiliate: UUID, code: str) -> None:
        """Add an external code."""
        self.add("codes", CodeDecision(affiliate, self.brand.programs[0], code), target=row_ids.new_id())

    def customer(self, affiliate: UUID, billing_id: str, **changes: Any) -> UUID:
        """Add a customer who has paid once."""
        decision = CustomerDecision(
            **{
                "customer_id": row_ids.new_id(),
                "affiliate_id": affiliate,
                "program_id": self.brand.programs[0],
                "processor_customer_id": billing_id,
                "processor_subscription_id": None,
                "email": f"{billing_id.replace('_', '-')}@example.com",
                "name": None,
                "first_paid_at": PAID_AT,
                "payments": 1,
                "added_payments": 1,
                "seen_at": PAID_AT,
                **changes,
            }
        )
        self.add("customers", decision, target=decision.customer_id)
        return decision.customer_id

    def commission(self, affiliate: UUID, *, target: UUID | None = None, **changes: Any) -> UUID:
        """Add a commission of 20.00 for a sale of 100.00 that was paid there: locked history."""
        number = f"c{next(_NUMBERS):06}"
        decision = CommissionDecision(
            **{
                "act": "create",
                "conversion_id": row_ids.new_id(),
                "affiliate_id": affiliate,
                "program_id": self.brand.programs[0],
                "external_event_id": external_event_id(self.source, number),
                "status": "Paid",
                "is_locked": True,
                "type": "OneTime",
                "currency": "USD",
                "amount_cents": 10_000,
                "refunded_cents": 0,
                "commission_cents": 2_000,
                "occurred_at": PAID_AT,
                **changes,
            }
        )
        if target is None:
            target = row_ids.new_id() if decision.act == "refund" else decision.conversion_id
        verdict = "changed" if decision.act == "change" else "new"
        self.add("commissions", decision, target=target, source_id=number, verdict=verdict)
        return decision.conversion_id

    def add(self, collection: str, decision: Any, *, target: UUID, verdict: str = "new", **columns: Any) -> str:
        """Add a judged row and return its source id."""
        source_id: str = columns.get("source_id") or f"r{next(_NUMBERS):06}"
        stored = orjson.dumps(asdict(decision), default=str).decode()
        kind = "refund" if getattr(decision, "act", None) == "refund" else _TARGET_TYPES[collection]
        with db.unit_of_work(self.brand.id):
            db.db.stage(
                "insert into switch_item (organization_id, switch_id, collection, source_id, verdict, decision,"
                " target_id, key, target_type) values (%s, %s, %s, %s, %s, %s, %s, %s, %s)",
                (self.brand.id, self.id, collection, source_id, verdict, stored, target, columns.get("key"), kind),
            )
        return source_id

    def run(self) -> None:
        """Run the switch to its end."""
        self.start()
        drain()

    def start(self) -> None:
        """Begin the run; the jobs are only staged."""
        with db.unit_of_work(self.brand.id):
            running.start(
                organization_id=self.brand.id,
                switch_id=self.id,
                member_id=None,
                confirm=TO_CONFIRM,
                now=datetime.now(UTC),
            )

    def run_jobs(self) -> None:
        """Run the jobs that are staged."""
        drain()

    def find(self) -> switches.Switch:
        """Return the switch as it is now."""
        with db.unit_of_work(self.brand.id):
            switch = switches.find(organization_id=self.brand.id, switch_id=self.id)
        assert switch is not None
        return switch

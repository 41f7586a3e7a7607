"""A brand that makes deals and a creator who works for it: both sides of a deal, through HTTP."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

from adapters import clock
from models import db
from pipelines.deals import release
from tests.support.job_queues import drain
from tests.support.rows.brands import Brand, Partner
from tests.support.rows.payroll import VERIFIED

URL, OWN = "/api/v1/deals", "/api/me/deals"
URLS = ["https://video.example.com/watch/1"]
REASON = {"reason": "It is not what we agreed on.", "proposedResolution": "Half of it."}


@dataclass
class DealScene:
    """A verified brand that pays through the sandbox rail, and its Approved affiliate, who has a payout account."""

    brand: Brand
    owner: Brand
    creator: Partner
    program_id: UUID
    affiliate_id: UUID

    @classmethod
    def create(cls, app: Any, *, rail: str = "ok") -> "DealScene":
        """Create a brand and its creator; `rail` is the behavior of the sandbox rail."""
        return cls.for_brand(Brand.create(app), rail=rail)

    @classmethod
    def for_brand(cls, brand: Brand, *, rail: str = "ok") -> "DealScene":
        """Create a creator for an existing brand; `rail` is the behavior of the sandbox rail."""
        with db.any_org_work():
            db.db.run(VERIFIED, (rail, brand.id))
        program_id = brand.program()
        email = f"cleo-{uuid4().hex}@example.com"
        affiliate_id = brand.affiliate(
            "cleo", email=email, email_normalized=email, payout_method="Wallet", payout_destination="cleo@example.com"
        )
        return cls(brand, brand.person("Owner"), Partner(brand.app, email), program_id, affiliate_id)

    def release_due(self) -> None:
        """Release the milestones that are due, as the schedule does, and pay them."""
        with db.any_org_work():
            release.any_org_start(now=clock.now())
        drain("payouts")

    def payouts(self) -> list[tuple[Any, ...]]:
        """Return status and amount of each payout, oldest first."""
        return self.brand.rows("select status, amount_cents from payout order by created_at, id")

    def body(self, *cents: int, **more: Any) -> dict[str, Any]:
        """Return the request body that drafts a deal with a milestone for each of these amounts."""
        parts = [{"title": f"Part {n}", "amountCents": part} for n, part in enumerate(cents or (50_000,), start=1)]
        return {
            "affiliateId": str(self.affiliate_id),
            "programId": str(self.program_id),
            "title": "Autumn video",
            "currency": "USD",
            "milestones": parts,
        } | more

    def draft(self, *cents: int, **more: Any) -> str:
        """Draft a deal and return its id."""
        answer = self.owner.post(URL, self.body(*cents, **more))
        assert answer.status_code == 201, answer.get_data(as_text=True)
        return str((answer.json or {})["id"])

    def act(self, deal_id: str, verb: str, body: Any = None, *, who: Any = None) -> Any:
        """Post an action on a deal as `who` (by default the Owner) and return the response."""
        who = who or self.owner
        return who.post(f"{OWN if who is self.creator else URL}/{deal_id}/{verb}", body)

    def create_offered(self, *cents: int, **more: Any) -> str:
        """Create a deal that is offered, and return its id."""
        deal_id = self.draft(*cents, **more)
        assert self.act(deal_id, "offer").status_code == 200
        return deal_id

    def create_accepted(self, *cents: int, **more: Any) -> str:
        """Create a deal that the creator has accepted, and return its id."""
        deal_id = self.create_offered(*cents, **more)
        assert self.act(deal_id, "accept", who=self.creator).status_code == 200
        return deal_id

    def create_funded(self, *cents: int, **more: Any) -> str:
        """Create a deal that is funded, and return its id."""
        deal_id = self.create_accepted(*cents, **more)
        answer = self.act(deal_id, "fund")
        assert answer.status_code == 200, answer.get_data(as_text=True)
        drain("payouts")
        assert self.get_deal(deal_id)["status"] == "Funded"
        return deal_id

    def submit(self, deal_id: str, seq: int = 1, urls: Any = URLS) -> Any:
        """Submit a milestone and return the response."""
        return self.act(deal_id, f"milestones/{seq}/submit", {"urls": urls}, who=self.creator)

    def approve(self, deal_id: str, seq: int = 1) -> Any:
        """Approve a milestone and return the response."""
        return self.act(deal_id, f"milestones/{seq}/approve")

    def dispute(self, deal_id: str, seq: int = 1, *, who: Any = None) -> Any:
        """Open a dispute and return the response."""
        return self.act(deal_id, f"milestones/{seq}/dispute", REASON, who=who)

    def get_deal(self, deal_id: str) -> dict[str, Any]:
        """Return a deal as the brand sees it."""
        answer = self.owner.get(f"{URL}/{deal_id}")
        assert answer.status_code == 200, answer.get_data(as_text=True)
        return dict(answer.json or {})

    def list_statuses(self, deal_id: str) -> list[str]:
        """Return the statuses of a deal's milestones."""
        return [row["status"] for row in self.get_deal(deal_id)["milestones"]]

    def list_event_data(self, kind: str) -> list[dict[str, Any]]:
        """Return the data of the events of a type, oldest first."""
        rows = self.brand.rows("select body::jsonb->'data' from event where type = %s order by created_at, id", kind)
        return [data for (data,) in rows]

    def entries(self) -> list[tuple[str, int]]:
        """Return kind and amount of each ledger entry, oldest first."""
        return self.brand.rows("select kind, amount_cents from ledger_entry order by created_at, kind, amount_cents")

    def execute(self, sql: str, *params: object) -> None:
        """Run a statement on the organization's rows."""
        with db.unit_of_work(self.brand.id):
            db.db.run(sql, params)

    def release_at(self, deal_id: str, at: datetime) -> None:
        """Set when the submitted milestones of a deal are released automatically."""
        self.execute(
            "update deal_milestone set auto_release_at = %s where deal_id = %s and status = 'Submitted' returning 1",
            at,
            deal_id,
        )

    def pass_retry_delay(self) -> None:
        """Make charges and transfers an hour old and all jobs due, and run the jobs that ask for their outcome."""
        for table in ("sandbox_charge", "sandbox_transfer"):
            self.execute(f"update {table} set created_at = created_at - interval '1 hour' returning 1")
        self.execute("update job set run_at = now() - interval '1 second', deadline = null returning 1")
        drain("payouts")

    def rate(self, currency: str, per_usd: str) -> None:
        """Publish today's reference rate."""
        with db.any_org_work():
            db.db.run(
                "insert into fx_rate values (%s, %s, %s) on conflict (currency, published_on) do update"
                " set per_usd = excluded.per_usd returning 1",
                (currency, datetime.now(UTC).date(), Decimal(per_usd)),
            )


def _create_submitted_milestone(owner: Brand) -> str:
    """Create a deal with a submitted milestone and return the milestone's URL."""
    dealing = DealScene.for_brand(owner)
    deal_id = dealing.create_funded()
    dealing.submit(deal_id)
    return f"{URL}/{deal_id}/milestones/1"


#: A valid call of every route with which a brand writes deals, as its path and body.
WRITES: Mapping[str, Callable[[Brand], tuple[str, Any]]] = {
    f"POST {URL}": lambda owner: (URL, DealScene.for_brand(owner).body()),
    f"POST {URL}/<deal_id>/offer": lambda owner: (f"{URL}/{DealScene.for_brand(owner).draft()}/offer", None),
    f"POST {URL}/<deal_id>/cancel": lambda owner: (f"{URL}/{DealScene.for_brand(owner).draft()}/cancel", None),
    f"POST {URL}/<deal_id>/fund": lambda owner: (f"{URL}/{DealScene.for_brand(owner).create_accepted()}/fund", None),
    f"POST {URL}/<deal_id>/milestones/<seq>/approve": lambda owner: (
        f"{_create_submitted_milestone(owner)}/approve",
        None,
    ),
    f"POST {URL}/<deal_id>/milestones/<seq>/request-changes": lambda owner: (
        f"{_create_submitted_milestone(owner)}/request-changes",
        {"note": "Please show the knife."},
    ),
    f"POST {URL}/<deal_id>/milestones/<seq>/dispute": lambda owner: (
        f"{_create_submitted_milestone(owner)}/dispute",
        REASON,
    ),
}

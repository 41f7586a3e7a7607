"""An organization that may pay: verified, without grace days, with affiliates who have payout accounts."""

from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from adapters import clock
from domain.payouts.confirmation import RunFilters, RunRequest
from models import db
from pipelines.payouts import run, run_plan
from pipelines.payouts.run import Receipt
from tests.support.job_queues import drain
from tests.support.rows.brands import Brand

EVERYTHING = RunFilters()
VERIFIED = (
    "update organization set verification_state = 'verified', payout_grace_days = 0, sandbox_rail = %s where id = %s"
)


@dataclass
class Payroll:
    """A brand with one program, and its affiliates by slug."""

    brand: Brand
    affiliates: dict[str, UUID] = field(default_factory=dict)

    @classmethod
    def create(cls, app: Any, *, rail: str = "ok") -> "Payroll":
        """Create a brand that may pay, with a program that pays 20 %."""
        brand = Brand.create(app)
        with db.any_org_work():
            db.db.run(VERIFIED, (rail, brand.id))
        brand.program()
        return cls(brand)

    def affiliate(self, slug: str, *, method: str | None = "ProcessorConnect") -> UUID:
        """Insert an Approved affiliate with a payout method."""
        affiliate_id = self.brand.affiliate(slug=slug)
        self.affiliates[slug] = affiliate_id
        if method is not None:
            self.execute(
                "update affiliate set payout_method = %s, payout_destination = %s where id = %s",
                method,
                f"acct_{slug}",
                affiliate_id,
            )
        return affiliate_id

    def sell(self, slug: str, amount_cents: int = 10_000, currency: str = "USD", **more: Any) -> str:
        """Post a sale through an affiliate, settle it, and return the conversion id."""
        answer = self.brand.sale(affiliateSlug=slug, amountCents=amount_cents, currency=currency, **more)
        assert answer.status_code == 200, answer.get_data(as_text=True)
        drain("sales")
        return str(answer.json["conversionId"])

    def preview(self, filters: RunFilters = EVERYTHING, method: str | None = None) -> run_plan.PayoutPreview:
        """Return the preview of a run."""
        with db.unit_of_work(self.brand.id):
            return run_plan.preview(organization_id=self.brand.id, filters=filters, method=method, now=clock.now())

    def run(self, total_cents: int | None = None, filters: RunFilters = EVERYTHING) -> Receipt:
        """Create a run with the total of its preview, or with `total_cents`."""
        confirmed_cents = self.preview(filters).planned.confirm_total_cents if total_cents is None else total_cents
        request = RunRequest(confirm_total_cents=confirmed_cents, filters=filters)
        with db.unit_of_work(self.brand.id):
            return run.create(organization_id=self.brand.id, request=request, now=clock.now())

    @classmethod
    def create_owing(cls, app: Any) -> "Payroll":
        """Create a brand that owes ann 20.00 USD."""
        payroll = cls.create(app)
        payroll.affiliate("ann")
        payroll.sell("ann")
        return payroll

    def create_run_under_review(self) -> str:
        """Create a run that waits for a review; return its id."""
        self.brand.set(needsReview="on")
        self.run()
        ((row_id,),) = self.brand.rows("select id from payout_run")
        return str(row_id)

    def create_stuck_payout(self) -> str:
        """Create a payout whose rail has reported no outcome for an hour; return its id."""
        self.brand.set(sandboxRail="slow")
        self.run()
        self.pay()
        self.execute(
            "update payout_attempt set created_at = now() - interval '1 hour' where organization_id = %s", self.brand.id
        )
        ((row_id,),) = self.payouts("id")
        return str(row_id)

    def pay(self) -> None:
        """Run the queued payout jobs."""
        drain("payouts")

    def rate(self, currency: str, per_usd: str, on: date | None = None) -> None:
        """Publish a reference rate."""
        with db.any_org_work():
            db.db.run(
                "insert into fx_rate values (%s, %s, %s) on conflict (currency, published_on) do update"
                " set per_usd = excluded.per_usd",
                (currency, on or datetime.now(UTC).date(), Decimal(per_usd)),
            )

    def execute(self, sql: str, *params: object) -> None:
        """Run a statement on the organization's rows."""
        with db.unit_of_work(self.brand.id):
            db.db.run(sql, params)

    def payouts(self, columns: str = "status, amount_cents") -> list[tuple[Any, ...]]:
        """Return columns of the payouts, oldest first."""
        return self.brand.rows(
            f"select {columns} from payout where organization_id = %s order by created_at, id", self.brand.id
        )

    def lines(self, columns: str = "native_amount_cents, amount_cents, is_open") -> list[tuple[Any, ...]]:
        """Return columns of the payout lines, by conversion."""
        return self.brand.rows(
            f"select {columns} from payout_line where organization_id = %s order by conversion_id, id", self.brand.id
        )

    def balance(self, slug: str) -> dict[str, int]:
        """Return an affiliate's balance in the ledger, by currency."""
        return dict(
            self.brand.rows(
                "select currency, sum(amount_cents)::bigint from ledger_entry where organization_id = %s"
                " and affiliate_id = %s group by currency",
                self.brand.id,
                self.affiliates[slug],
            )
        )

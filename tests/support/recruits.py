"""A recruiter and a recruit, and their conversion rows; for the tests of overrides."""

import json
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from uuid import UUID

from adapters import clock
from models import db
from pipelines.conversions import settlement
from tests.support.rows.brands import Brand


@dataclass(frozen=True, slots=True)
class Recruits:
    """A brand whose affiliate `ann` recruited `ben`."""

    brand: Brand
    ann: UUID
    ben: UUID

    @classmethod
    def create(cls, brand: Brand, *, percent: str = "10", recruiter: Any = None, **program: Any) -> "Recruits":
        """Create the campaign (20 % of a sale unless `program` has another rate) and both affiliates."""
        brand.program(**{"sub_affiliate_enabled": True, "sub_affiliate_percent": Decimal(percent)} | program)
        ann = brand.affiliate("ann", **(recruiter or {}))
        return cls(brand, ann, brand.affiliate("ben", recruited_by_affiliate_id=ann))

    def sell(self, **fields: Any) -> UUID:
        """Post a sale through ben and return its conversion id; it is not settled."""
        answer = self.brand.sale(**fields)
        assert answer.status_code == 200, answer.data
        return UUID((answer.json or {})["conversionId"])

    def settle(self, conversion_id: UUID) -> None:
        """Settle the sale without its override, which waits in the queue."""
        with db.unit_of_work(self.brand.id):
            settlement.settle_sale(organization_id=self.brand.id, sale_id=conversion_id, now=clock.now())

    def change(self, sql: str) -> None:
        """Run a statement on the brand's rows."""
        with db.unit_of_work(self.brand.id):
            db.db.run(sql)

    def overrides(self, columns: str) -> list[tuple[Any, ...]]:
        """Return columns of the override rows."""
        return self.brand.rows(f"select {columns} from conversion where parent_id is not null order by created_at, id")

    def parents(self, columns: str) -> list[tuple[Any, ...]]:
        """Return columns of the sales' own rows."""
        return self.brand.rows(f"select {columns} from conversion where parent_id is null order by created_at, id")

    def events(self, type: str, *, is_override: bool) -> list[dict[str, Any]]:
        """Return the data of the events about sales or about overrides, by refunded amount."""
        bodies = [json.loads(body) for (body,) in self.brand.rows("select body from event where type = %s", type)]
        event_data = [body["data"] for body in bodies if ("parentAffiliateConversionId" in body["data"]) == is_override]
        return sorted(event_data, key=lambda data: data.get("cumulativeRefundedAmountCents", 0))

    def balance(self, affiliate_id: UUID) -> int:
        """Return an affiliate's balance in the ledger."""
        rows = self.brand.rows(
            "select coalesce(sum(amount_cents), 0)::int from ledger_entry where affiliate_id = %s", affiliate_id
        )
        return int(rows[0][0])

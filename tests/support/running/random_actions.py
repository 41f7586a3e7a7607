"""Actions of a brand in a random order, after which stored sums must equal the rows."""

import random
from datetime import UTC, datetime, timedelta
from uuid import uuid4

from tests.support import owed_totals
from tests.support.api.import_requests import build_past_sale, import_sales
from tests.support.job_queues import drain
from tests.support.recruits import Recruits
from tests.support.rows.brands import Brand
from tests.support.rows.program_rows import insert_click


class RandomActions:
    """Actions that may happen to a brand in any order; each is a request that a user sends, or a job."""

    def __init__(self, brand: Brand, dice: random.Random) -> None:
        self.brand, self.dice, self.imported = brand, dice, []
        self.recruits = Recruits.create(brand)
        self.manager = brand.person("Admin")

    def sell(self) -> None:
        self.brand.sale(amountCents=self.dice.randint(1, 9_999))
        drain("sales")

    def sell_by_ann(self) -> None:
        self.brand.sale(affiliateSlug="ann", amountCents=self.dice.randint(1, 9_999))

    def refund(self) -> None:
        rows = self.brand.rows("select external_event_id, amount_cents from sale order by id")
        if rows:
            event, cents = self.dice.choice(rows)
            self.brand.refund(event, self.dice.choice([None, 1, max(1, cents // 3)]))

    def run_jobs(self) -> None:
        drain("sales", "refunds")

    def review(self) -> None:
        rows = self.brand.rows("select id from conversion order by id")
        if rows:
            action = self.dice.choice(["v1/{}/validate", "v1/{}/invalidate", "{}/approve", "{}/deny"])
            version, rest = ("v1/", action[3:]) if action.startswith("v1") else ("", action)
            path = f"/api/{version}conversions/{rest.format(self.dice.choice(rows)[0])}"
            assert self.manager.post(path, {"reason": "checked"}).status_code < 500

    def create_bonus(self) -> None:
        body = {"programId": str(self.brand.programs[-1]), "affiliateId": str(self.recruits.ben), "kind": "bonus"}
        assert self.manager.post("/api/v1/conversions", body | {"commissionCents": 77}).status_code == 201

    def import_past_sales(self) -> None:
        day = datetime.now(UTC) - timedelta(days=self.dice.randint(1, 600))
        rows = [build_past_sale(externalId=str(uuid4()), occurredAt=day.isoformat()) for _ in range(3)]
        answer = import_sales(self.brand, *rows, confirmUnpaidPayout=True)
        assert answer.status_code == 200, answer.data
        self.imported.append(answer.json["jobId"])

    def undo_import(self) -> None:
        if self.imported:
            self.manager.post(f"/api/imports/{self.imported.pop()}/undo")

    def click(self) -> None:
        insert_click(self.brand, self.recruits.ben, outcome=self.dice.choice(["recorded", "blocked", "unscored"]))

    def score_clicks(self) -> None:
        outcome = self.dice.choice(["blocked", "recorded"])
        self.brand.rows("update click set outcome = %s where outcome = 'unscored' returning 1", outcome)

    def fold_changes(self) -> None:
        owed_totals.fold_changes(self.brand)

    @property
    def names(self) -> list[str]:
        """The names of all actions."""
        return sorted(name for kind in type(self).__mro__ for name in vars(kind) if _is_action(kind, name))


def _is_action(kind: type, name: str) -> bool:
    return not name.startswith("_") and name != "names" and callable(vars(kind)[name])

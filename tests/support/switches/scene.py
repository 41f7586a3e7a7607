"""A brand with a switch whose rows were read and wait for judging."""

import functools
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import orjson

from adapters import clock
from domain.switches.sources import Collection
from models import db
from models.switches import switches
from models.switches.judgement import items
from models.switches.switches import Switch, SwitchCampaign
from pipelines.switches import judging
from tests.support.rows.brands import Brand
from tests.support.running import row_ids
from tests.support.switches import record_source

_PLACES = {name: place for place, name in enumerate(Collection)}


@dataclass(slots=True)
class SwitchScene:
    """A switch of a brand, Reading at the stage `judge`; campaign `main` leads to the brand's last program."""

    brand: Brand
    id: UUID
    now: datetime = field(default_factory=clock.now)

    @classmethod
    def create(
        cls,
        brand: Brand,
        monkeypatch: Any,
        *,
        campaigns: Mapping[str, UUID | None] | None = None,
        options: Mapping[str, Any] | None = None,
        **columns: Any,
    ) -> "SwitchScene":
        """Create the switch. `campaigns` lead to programs by source id; None: left out.

        Its source understands records (`record_source`), unless a column `source` names a real one.
        """
        if "source" not in columns:
            monkeypatch.setattr("adapters.switches.registry.get", lambda name: record_source.RecordSource())
        scene = cls(brand, row_ids.new_id())
        mapped = campaigns if campaigns is not None else {"main": brand.programs[-1]}
        values = {
            "id": scene.id,
            "organization_id": brand.id,
            "source": "rewardful",
            "state": "Reading",
            "stage": "judge",
            "account_name": "Account",
            "account_reference": "account",
            "options": db.Json(dict(options or {})),
            "created_at": scene.now,
            "reading_at": scene.now,
            "touched_at": scene.now,
        } | columns
        with db.unit_of_work(brand.id):
            switches.insert(values)
            switches.stage_campaigns(
                organization_id=brand.id,
                switch_id=scene.id,
                campaigns=[SwitchCampaign(name, name.title(), None, {}, None) for name in mapped],
            )
            for name, program_id in mapped.items():
                switches.stage_program(
                    organization_id=brand.id, switch_id=scene.id, source_id=name, program_id=program_id
                )
        return scene

    def read(self, collection: str, records: Sequence[Any]) -> None:
        """Store records as rows that were read of the source, in the order of the switch's reading."""
        self.read_raw(collection, record_source.rows_of(records))

    def read_raw(self, collection: str, rows: Sequence[tuple[str, Any]], *, is_mention: bool = False) -> None:
        """Store raw rows (source id, data)."""
        with db.unit_of_work(self.brand.id):
            db.db.stage(
                """
                insert into switch_row (organization_id, switch_id, collection, source_id, data, is_mention, read_at)
                select w.organization_id, w.id, %s, r.*, %s, greatest(now(), w.reading_at)
                from switch w, unnest(%s::text[], %s::jsonb[]) r
                where w.organization_id = %s and w.id = %s on conflict do nothing
                """,
                (
                    collection,
                    is_mention,
                    [source_id for source_id, _ in rows],
                    [orjson.dumps(data, default=str).decode() for _, data in rows],
                    self.brand.id,
                    self.id,
                ),
            )
            db.db.stage(
                """
                insert into switch_collection (organization_id, switch_id, collection, place, read)
                values (%s, %s, %s, %s, %s)
                on conflict (organization_id, switch_id, collection) do update
                set read = switch_collection.read + excluded.read
                """,
                (self.brand.id, self.id, collection, _PLACES[Collection(collection)], len(rows)),
            )

    def state_figure(self, name: str, value: int, *, subject: str = "", currency: str = "") -> None:
        """Store a figure that the source states."""
        with db.unit_of_work(self.brand.id):
            db.db.stage(
                """
                insert into switch_figure (organization_id, switch_id, name, subject, currency, value)
                values (%s, %s, %s, %s, %s, %s)
                """,
                (self.brand.id, self.id, name, subject, currency, value),
            )

    def judge(self, *, max_slices: int = 100) -> Mapping[str, Any]:
        """Judge slice by slice, each in a transaction of its own, and return the preview."""
        for _ in range(max_slices):
            self.judge_slice()
            switch = self.switch()
            if switch.state != "Reading":
                assert switch.preview is not None
                return json.loads(json.dumps(switch.preview))
        raise AssertionError(f"the switch is not judged after {max_slices} slices")

    def judge_slice(self) -> None:
        """Judge one slice, as the job does."""
        with db.unit_of_work(self.brand.id):
            judging.judge_next(organization_id=self.brand.id, switch_id=self.id, now=self.now)

    def switch(self) -> Switch:
        """Return the switch as it is now."""
        with db.unit_of_work(self.brand.id):
            switch = switches.find(organization_id=self.brand.id, switch_id=self.id)
        assert switch is not None
        return switch

    def change(self, **columns: Any) -> None:
        """Change columns of the switch."""
        with db.unit_of_work(self.brand.id):
            switch = switches.lock(organization_id=self.brand.id, switch_id=self.id)
            assert switch is not None
            switches.update(switch, columns)

    def judge_again(self, **columns: Any) -> Mapping[str, Any]:
        """Change columns of the switch, judge it from the start, and return the preview."""
        self.change(state="Reading", stage="judge", **columns)
        return self.judge()

    def rows(self, collection: str) -> dict[str, items.ListedItem]:
        """Return the judged rows of a collection by source id."""
        with db.unit_of_work(self.brand.id):
            listed, _ = items.list_rows(
                organization_id=self.brand.id,
                switch_id=self.id,
                collection=collection,
                verdict=None,
                reason=None,
                take=10_000,
                cursor=None,
            )
        return {row.source_id: row for row in listed}

    def reasons(self, collection: str) -> dict[str, str | None]:
        """Return the reason of each judged row of a collection by source id; None: it comes over."""
        return {source_id: row.reason for source_id, row in self.rows(collection).items()}

    def verdicts(self, collection: str) -> dict[str, str | None]:
        """Return the verdict of each judged row of a collection by source id."""
        return {source_id: row.verdict for source_id, row in self.rows(collection).items()}

    def decisions(self, collection: str) -> dict[str, Any]:
        """Return what is decided for each row of a collection by source id; None where nothing is."""
        rows = self.brand.rows(
            "select source_id, decision from switch_item where switch_id = %s and collection = %s", self.id, collection
        )
        return dict(rows)

    def count(self, preview: Mapping[str, Any], collection: str) -> Counter[str]:
        """Return the counts of a collection in a preview that are not 0."""
        return +Counter(preview["counts"][collection])


def days_ago(days: float) -> datetime:
    """Return the time so many days ago, in whole seconds; equal in each call of a process."""
    return _find_now() - timedelta(days=days)


@functools.cache
def _find_now() -> datetime:
    return datetime.now(UTC).replace(microsecond=0)

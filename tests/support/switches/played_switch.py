"""A switch of a brand from a played source: connect, map, read and judge, with the service's own jobs."""

import importlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from adapters import clock
from commands.demo.played.account import PlayedAccount
from commands.demo.played.sample import Sample
from commands.demo.played.server import PlayedServer, playing
from models import db
from models.switches import switches
from models.switches.switches import Switch
from pipelines.switches import changes, connecting, running, undoing
from tests.support.job_queues import drain
from tests.support.rows.brands import Brand
from tests.support.settings_overrides import override_settings


@dataclass
class WholeSwitch:
    """A switch from a played source, whose address is the server's; `program_id` is where all campaigns lead."""

    brand: Brand
    name: str
    server: PlayedServer
    program_id: UUID
    id: UUID | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def account(self) -> PlayedAccount:
        """The played account."""
        return self.server.source.account

    def connect(self) -> None:
        """Connect with the account's credentials and map all campaigns to the program."""
        switch = connecting.connect(
            organization_id=self.brand.id,
            member_id=None,
            source=self.name,
            credentials=self.account.credentials,
            now=clock.now(),
        )
        self.id = switch.id
        with db.unit_of_work(self.brand.id):
            campaigns = switches.list_campaigns(organization_id=self.brand.id, switch_id=switch.id)
        mapping = [{"source_id": row.source_id, "program_id": self.program_id} for row in campaigns]
        self._change({"campaigns": mapping, "options": dict(self.options)})

    def start_reading(self) -> None:
        """Begin to read; the jobs are only staged."""
        assert self.id is not None
        with db.unit_of_work(self.brand.id):
            changes.start_reading(organization_id=self.brand.id, switch_id=self.id, now=clock.now())

    def read(self) -> None:
        """Read all lists and judge their rows."""
        self.start_reading()
        drain()

    def let_time_pass(self) -> None:
        """Make a waiting job and the switch due now, as after the time until which it waits."""
        assert self.id is not None
        with db.unit_of_work(self.brand.id):
            db.db.run("update job set run_at = now() where name = 'switch.read' returning 1")
            switch = switches.lock(organization_id=self.brand.id, switch_id=self.id)
            assert switch is not None
            switches.update(switch, {"waiting_until": None})
        drain()

    def start_run(self) -> None:
        """Confirm the preview; the jobs are only staged."""
        assert self.id is not None
        preview = self.find().preview
        assert preview is not None
        with db.unit_of_work(self.brand.id):
            running.start(
                organization_id=self.brand.id,
                switch_id=self.id,
                member_id=None,
                confirm=preview["to_confirm"],
                now=clock.now(),
            )

    def run(self) -> None:
        """Confirm the preview and write."""
        self.start_run()
        drain()

    def undo(self) -> None:
        """Begin the undo; its jobs are only staged."""
        assert self.id is not None
        with db.unit_of_work(self.brand.id):
            undoing.start(organization_id=self.brand.id, switch_id=self.id, now=clock.now())

    def find(self) -> Switch:
        """Return the switch as it is stored."""
        assert self.id is not None
        with db.unit_of_work(self.brand.id):
            switch = switches.find(organization_id=self.brand.id, switch_id=self.id)
        assert switch is not None
        return switch

    def _change(self, body: Mapping[str, Any]) -> None:
        assert self.id is not None
        with db.unit_of_work(self.brand.id):
            changes.change(organization_id=self.brand.id, switch_id=self.id, body=body, proved=None, now=clock.now())


@contextmanager
def switching(
    brand: Brand, monkeypatch: Any, name: str, sample: Sample | None = None, **options: Any
) -> Iterator[WholeSwitch]:
    """Play a source during the context, with a switch of the brand's last program that is not connected yet."""
    played = importlib.import_module(f"commands.demo.played.{name}")
    account = played.build_account(sample or Sample())
    with playing(played.build_source(account)) as server:
        override_settings(monkeypatch, switches={f"{name}_base_url": server.url, "requests_per_s": 0.0})
        if name == "firstpromoter":
            options.setdefault("currency", "USD")
        yield WholeSwitch(brand, name, server, brand.programs[-1], options=options)

"""A mail server that this process's settings lead to, and rows of messages and their jobs."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

import settings
from domain.mail import smtp_address
from models import db
from pipelines import mail
from tests.support.databases import run_for_all_tenants
from tests.support.outside.smtp_sink import Sink
from tests.support.rows.brands import Brand
from tests.support.running import ports
from tests.support.settings_overrides import override_settings


class PostOffice:
    """A running mail server, and settings that lead to it until the test ends."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch
        self.settings = settings.current()
        self.sink = Sink()
        self._point_settings_at(self.sink.port, per_min=60_000)
        run_for_all_tenants("update mail_pace set next_at = now()")

    def set(self, **changed: Any) -> None:
        """Change the mail settings of this process."""
        self.settings = override_settings(self._monkeypatch, mail=changed)

    def close(self) -> None:
        """Stop the server."""
        self.sink.stop()

    @contextmanager
    def take_offline(self) -> Iterator[None]:
        """Point the settings at a port that refuses connections, while the block runs."""
        with closing(ports.hold_port()) as unused_port:
            self._point_settings_at(ports.port_number(unused_port))
            yield
        self._point_settings_at(self.sink.port)

    def _point_settings_at(self, port: int, **changed: Any) -> None:
        self.set(smtp=smtp_address.parse(f"smtp://127.0.0.1:{port}"), **changed)

    @property
    def subjects(self) -> list[str]:
        """The subjects of the received messages, in order."""
        return [received.message["Subject"] for received in self.sink.messages]


def stage_messages(brand: Brand, *subjects: str, **fields: Any) -> list[UUID]:
    """Stage a message per subject in one transaction and return the ids, in no particular order."""
    values = {"to": "ben@example.com", "text": "Hello", "kind": "affiliate.invite", "at": datetime.now(UTC)} | fields
    before = {message_id for (message_id,) in brand.rows("select id from mail_message")}
    with db.unit_of_work(brand.id):
        for subject in subjects or ("Join us",):
            mail.send(organization_id=brand.id, subject=subject, **values)
    return [message_id for (message_id,) in brand.rows("select id from mail_message") if message_id not in before]


def read_message(brand: Brand, columns: str = "status, attempts, last_error") -> tuple[Any, ...]:
    """Return columns of the brand's only message."""
    (row,) = brand.rows(f"select {columns} from mail_message")
    return row


def make_jobs_due(*, slots: bool = True) -> None:
    """Make every waiting job due now, and with `slots` also the reserved sending slots."""
    run_for_all_tenants("update job set run_at = now() where failed_at is null and deadline is null")
    if slots:
        run_for_all_tenants("update mail_message set slot_at = now() where slot_at is not null")


def list_jobs(brand) -> list[tuple]:
    """Return attempts left, and whether it has failed, of every job of the brand."""
    return brand.rows("select max_attempts - attempt, failed_at is not null from job order by id")


def list_waits_s(brand, column="run_at") -> list[float]:
    """Return in how many seconds each job is due, or each message by one of its columns."""
    table = "job" if column == "run_at" else "mail_message"
    rows = brand.rows(f"select extract(epoch from {column} - now())::float from {table} order by id")
    return [wait_s for (wait_s,) in rows]

"""Clicks beside their stream: entries that cannot be written, which become dead letters, and clicks that came late."""

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from adapters.clicks import serialization
from domain import jobs
from domain.clicks.raw_click import RawClick
from models.jobs import rows
from pipelines import work
from pipelines.clicks import clicks
from pipelines.work import GiveUp, NotReadable

# Longer than any click (raw_click bounds what is in one); of what is longer the beginning tells what it was.
_KEPT_BYTES = 32_768
_ERROR_CHARACTERS = 2_000


def bury(sent: bytes, *, entry_id: str, organization_id: UUID | None, why: str) -> None:
    """Stage the dead letter of one entry, once. `organization_id` None: nobody knows whose it is."""
    rows.stage_dead_letter(
        jobs.CLICK_UNREADABLE,
        organization_id=organization_id,
        args={"entry_id": entry_id, "entry": _storable(sent[:_KEPT_BYTES].decode("utf-8", "replace"))},
        fair_key=str(organization_id or ""),
        error=_storable(why[-_ERROR_CHARACTERS:]),
    )


def enqueue_late(click: RawClick) -> None:
    """Stage the job that writes a click, while other transactions hold the lock on the organization's clicks."""
    entry = serialization.to_bytes(click).decode()
    work.enqueue(jobs.CLICK_LATE, organization_id=UUID(click.organization_id), entry=entry)


def write_late(args: Mapping[str, str], *, now: datetime) -> None:
    """Write a click that was left for later. Raises NotReadable, GiveUp when it cannot be written."""
    try:
        click = serialization.from_bytes(args["entry"].encode())
    except ValueError as error:
        raise NotReadable(f"this click cannot be read: {error}") from error
    _write(click, now)


def write_again(args: Mapping[str, str], *, now: datetime) -> None:
    """Write the click of a dead letter that is replayed.

    Raises GiveUp when it still cannot be read: it waited for another release before.
    """
    try:
        click = serialization.from_bytes(args["entry"].encode())
    except ValueError as error:
        raise GiveUp(f"this click cannot be written: {error}") from error
    _write(click, now)


def _write(click: RawClick, now: datetime) -> None:
    try:
        clicks.write([click], now)
    except ValueError as error:
        raise GiveUp(f"this click cannot be written: {error}") from error


def _storable(text: str) -> str:
    return text.replace("\x00", "").encode("utf-8", "replace").decode()

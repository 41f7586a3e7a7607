"""Clicks that the stream's consumer does not write: unreadable entries become dead letters, late clicks become jobs."""

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from adapters.clicks import wire
from domain import jobs
from domain.clicks.raw_click import RawClick
from models.jobs import rows
from pipelines import work
from pipelines.clicks import clicks
from pipelines.work import GiveUp, NotReadable

# Longer than any click (raw_click bounds its fields); of a longer entry the start is stored, which shows what it was.
_MAX_BYTES = 32_768
_MAX_ERROR_CHARACTERS = 2_000


def stage_dead_letter(content: bytes, *, entry_id: str, organization_id: UUID | None, why: str) -> None:
    """Stage the dead letter of one entry, once. `organization_id` None: its organization is unknown."""
    rows.stage_dead_letter(
        jobs.CLICK_UNREADABLE,
        organization_id=organization_id,
        args={"entry_id": entry_id, "entry": _to_storable(content[:_MAX_BYTES].decode("utf-8", "replace"))},
        fair_key=str(organization_id or ""),
        error=_to_storable(why[-_MAX_ERROR_CHARACTERS:]),
    )


def enqueue_late(click: RawClick) -> None:
    """Stage the job that writes a click, while other transactions hold the lock on the organization's clicks."""
    entry = wire.to_bytes(click).decode()
    work.enqueue(jobs.CLICK_LATE, organization_id=UUID(click.organization_id), entry=entry)


def write_late(args: Mapping[str, str], *, now: datetime) -> None:
    """Write the click of a late job. Raises NotReadable, GiveUp when it cannot be written."""
    try:
        click = wire.from_bytes(args["entry"].encode())
    except ValueError as error:
        raise NotReadable(f"this click cannot be read: {error}") from error
    _write(click, now)


def replay(args: Mapping[str, str], *, now: datetime) -> None:
    """Write the click of a dead letter that is replayed.

    Raises GiveUp when it still cannot be read: it has waited for another release already.
    """
    try:
        click = wire.from_bytes(args["entry"].encode())
    except ValueError as error:
        raise GiveUp(f"this click cannot be written: {error}") from error
    _write(click, now)


def _write(click: RawClick, now: datetime) -> None:
    try:
        clicks.write([click], now)
    except ValueError as error:
        raise GiveUp(f"this click cannot be written: {error}") from error


def _to_storable(text: str) -> str:
    return text.replace("\x00", "").encode("utf-8", "replace").decode()

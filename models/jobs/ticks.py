"""The ticks of the schedule: each is a row, so that no two schedulers run the same one."""

from collections.abc import Sequence
from datetime import datetime

from models.db import db


def claim(*, name: str, scheduled_for: datetime) -> bool:
    """Claim a tick of the schedule; return False if another scheduler has claimed it."""
    rows = db.run(
        "insert into tick (name, scheduled_for) values (%s, %s) on conflict do nothing returning name",
        (name, scheduled_for),
    )
    return bool(rows)


def find_latest_and_now(name: str) -> tuple[datetime | None, datetime]:
    """Return the latest claimed tick of `name`, and the database's time."""
    row = db.row("select max(scheduled_for), now() from tick where name = %s", (name,))
    assert row is not None
    return row[0], row[1]


def find_latest_by_name(names: Sequence[str]) -> tuple[dict[str, datetime], datetime]:
    """Return the latest claimed tick of each of these names that has one, and the database's time."""
    rows = db.run(
        "select name, (select max(scheduled_for) from tick where tick.name = requested.name), now()"
        " from unnest(%s::text[]) as requested (name)",
        (list(names),),
    )
    return {name: last for name, last, _ in rows if last is not None}, rows[0][2]


def find_all_latest() -> tuple[dict[str, datetime], datetime]:
    """Return the latest claimed tick of every name, and the database's time."""
    rows = db.run("select name, max(scheduled_for), now() from tick group by name union all select null, null, now()")
    return {name: last for name, last, _ in rows if name is not None}, rows[0][2]


def stage_delete_old() -> None:
    """Stage the delete of ticks older than 30 days, except each name's latest.

    Without its latest tick a monthly line of the schedule would look as if it had never run.
    """
    db.stage(
        "delete from tick where scheduled_for < now() - interval '30 days' and exists"
        " (select from tick newer where newer.name = tick.name and newer.scheduled_for > tick.scheduled_for)"
    )

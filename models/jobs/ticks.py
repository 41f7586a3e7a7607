"""The ticks of the schedule: each is a row, so that no two schedulers fire the same one."""

from collections.abc import Sequence
from datetime import datetime

from models.db import db


def fire(*, name: str, scheduled_for: datetime) -> bool:
    """Claim a tick of the schedule; False when another scheduler has fired it."""
    rows = db.run(
        "insert into tick (name, scheduled_for) values (%s, %s) on conflict do nothing returning name",
        (name, scheduled_for),
    )
    return bool(rows)


def last_and_now(name: str) -> tuple[datetime | None, datetime]:
    """Return the latest tick of `name` that was fired, and the database's time."""
    row = db.row("select max(scheduled_for), now() from tick where name = %s", (name,))
    assert row is not None
    return row[0], row[1]


def last_of(names: Sequence[str]) -> tuple[dict[str, datetime], datetime]:
    """Return the latest tick that was fired of each of these names that has one, and the database's time."""
    rows = db.run(
        "select name, (select max(scheduled_for) from tick where tick.name = asked.name), now()"
        " from unnest(%s::text[]) as asked (name)",
        (list(names),),
    )
    return {name: last for name, last, _ in rows if last is not None}, rows[0][2]


def last_of_all() -> tuple[dict[str, datetime], datetime]:
    """Return the latest tick of every name that was fired, and the database's time."""
    rows = db.run("select name, max(scheduled_for), now() from tick group by name union all select null, null, now()")
    return {name: last for name, last, _ in rows if name is not None}, rows[0][2]


def stage_forget_old() -> None:
    """Drop ticks older than 30 days, but a name's latest.

    Without it a monthly line of the schedule would look as if it had never been fired.
    """
    db.stage(
        "delete from tick where scheduled_for < now() - interval '30 days' and exists"
        " (select from tick newer where newer.name = tick.name and newer.scheduled_for > tick.scheduled_for)"
    )

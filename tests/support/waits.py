"""How long a job waits, however long the test that asks takes."""

from collections.abc import Callable

from models import db


def waits_after(act: Callable[[], object]) -> tuple[float, float]:
    """Act; return for how many seconds the only job waits at least and at most, as it was put off in between."""
    with db.any_org_work():
        ((before,),) = db.db.run("select clock_timestamp()")
    act()
    with db.any_org_work():
        ((after, run_at),) = db.db.run("select clock_timestamp(), run_at from job")
    return (run_at - after).total_seconds(), (run_at - before).total_seconds()

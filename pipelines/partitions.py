"""Months are made ahead of their rows, and dropped when retention has emptied them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta

import structlog

import settings
from models.upkeep import partitions
from models.upkeep.partitions import MonthPartition

#: How many months beside the present one are kept ready.
MONTHS_AHEAD = 3
#: Without a partition for one of so many months, the present one included, somebody is told.
_MONTHS_NEEDED = 2

# The setting that says how long a table's rows are kept.
_KEPT_AS = {"click": "clicks", "event": "events", "delivery": "deliveries", "delivery_attempt": "deliveries"}

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class MonthStanding:
    """The partitions of a table, and which of this and the next month have none."""

    table: str
    partitions: list[MonthPartition]
    missing: list[date]


def any_org_keep(*, now: datetime) -> None:
    """Make the months that are missing ahead; in a night without one, drop those that are over and empty. Idempotent.

    Not both, since what either locks is locked until the transaction ends.
    """
    wanted = [(table, month) for table in partitions.TABLES for month in _months(now, number=MONTHS_AHEAD + 1)]
    made = [(table, month) for table, month in wanted if partitions.create(table, month)]
    if made:
        _log.info("partitions.made", months=[f"{table} {month:%Y-%m}" for table, month in made])
        return
    for partition in partitions.list_partitions():
        if _is_over(partition, now) and partitions.drop_if_empty(partition):
            _log.info("partitions.dropped", partition=partition.name)


def standing(*, now: datetime) -> list[MonthStanding]:
    """Return where each table stands. Budget: 1 statement."""
    of_table: Mapping[str, list[MonthPartition]] = {table: [] for table in partitions.TABLES}
    for partition in partitions.list_partitions():
        of_table[partition.table].append(partition)
    return [
        MonthStanding(table, there, [month for month in _months(now, number=_MONTHS_NEEDED) if not _has(there, month)])
        for table, there in of_table.items()
    ]


def _is_over(partition: MonthPartition, now: datetime) -> bool:
    """Say whether everything that a partition may hold has had its time, with a month for what came late."""
    days = settings.current().retention.days[_KEPT_AS[partition.table]] if partition.table in partitions.ENDING else 0
    until = partition.until
    return bool(days) and until is not None and until < now - timedelta(days=max(days, 31))


def _has(there: list[MonthPartition], month: date) -> bool:
    return any(
        part.until and (part.since is None or part.since.date() <= month) and part.until.date() > month
        for part in there
    )


def _months(now: datetime, *, number: int) -> Iterator[date]:
    month = now.date().replace(day=1)
    for _ in range(number):
        yield month
        month = (month + timedelta(days=32)).replace(day=1)

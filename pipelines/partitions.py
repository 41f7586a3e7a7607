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
_RETENTION_SETTINGS = {"click": "clicks", "event": "events", "delivery": "deliveries", "delivery_attempt": "deliveries"}

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class TablePartitions:
    """The partitions of a table, and which of this and the next month have none."""

    table: str
    partitions: list[MonthPartition]
    missing: list[date]


def any_org_maintain(*, now: datetime) -> None:
    """Make the months that are missing ahead; in a night without one, drop those that are over and empty. Idempotent.

    Not both, since what either locks is locked until the transaction ends.
    """
    months = [(table, month) for table in partitions.TABLES for month in _months(now, number=MONTHS_AHEAD + 1)]
    created = [(table, month) for table, month in months if partitions.create(table, month)]
    if created:
        _log.info("partitions.made", months=[f"{table} {month:%Y-%m}" for table, month in created])
        return
    for partition in partitions.list_partitions():
        if _is_expired(partition, now) and partitions.drop_if_empty(partition):
            _log.info("partitions.dropped", partition=partition.name)


def list_tables(*, now: datetime) -> list[TablePartitions]:
    """Return where each table stands. Budget: 1 statement."""
    by_table: Mapping[str, list[MonthPartition]] = {table: [] for table in partitions.TABLES}
    for partition in partitions.list_partitions():
        by_table[partition.table].append(partition)
    return [
        TablePartitions(
            table, months, [month for month in _months(now, number=_MONTHS_NEEDED) if not _has(months, month)]
        )
        for table, months in by_table.items()
    ]


def _is_expired(partition: MonthPartition, now: datetime) -> bool:
    """Say whether everything that a partition may hold has had its time, with a month for what came late."""
    days = (
        settings.current().retention.days[_RETENTION_SETTINGS[partition.table]]
        if partition.table in partitions.ENDING
        else 0
    )
    until = partition.until
    return bool(days) and until is not None and until < now - timedelta(days=max(days, 31))


def _has(months: list[MonthPartition], month: date) -> bool:
    return any(
        part.until and (part.since is None or part.since.date() <= month) and part.until.date() > month
        for part in months
    )


def _months(now: datetime, *, number: int) -> Iterator[date]:
    month = now.date().replace(day=1)
    for _ in range(number):
        yield month
        month = (month + timedelta(days=32)).replace(day=1)

"""Monthly partitions: created ahead of their rows, dropped when retention has emptied them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta

import structlog

import settings
from models.upkeep import partitions
from models.upkeep.partitions import MonthPartition

#: How many months in addition to the current one have partitions ready.
MONTHS_AHEAD = 3
#: If one of this many months, including the current one, has no partition, it is reported as missing.
_MONTHS_NEEDED = 2

# The retention setting of each table's rows.
_RETENTION_SETTINGS = {"click": "clicks", "event": "events", "delivery": "deliveries", "delivery_attempt": "deliveries"}

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class TablePartitions:
    """The partitions of a table, and which of the current and the next month have none."""

    table: str
    partitions: list[MonthPartition]
    missing: list[date]


def any_org_maintain(*, now: datetime) -> None:
    """Create missing partitions; if none is missing, drop those that are expired and empty. Idempotent.

    Never both in one transaction, because the locks of either are held until it ends.
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
    """Return the partitions of each table, and its missing months. Budget: 1 statement."""
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
    """Return whether all rows of a partition are past their retention period, allowing a month for late rows."""
    days = (
        settings.current().retention.days[_RETENTION_SETTINGS[partition.table]]
        if partition.table in partitions.EXPIRING
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

"""Tables whose rows lie in partitions, a month each: which there are, and making and dropping one.

The service owns no table. It asks the database's own functions, which make nothing but months that are near and drop
nothing but empty ones that are long over.
"""

from dataclasses import dataclass
from datetime import UTC, date, datetime
from uuid import UUID

from models.db import db
from models.table import Rows, columns

#: What lies in months.
TABLES = ("click", "audit_entry", "event", "delivery", "delivery_attempt")
#: What of it ends; of the rest no month is dropped.
ENDING = ("click", "event", "delivery", "delivery_attempt")


@dataclass(frozen=True, slots=True)
class MonthPartition:
    """A partition of a table: from when (None: from the first row on) until when its ids are made, with its size.

    One that is no month takes what no month is there for. `rows` is the database's estimate, None before its first.
    """

    name: str
    table: str
    first_id: UUID | None
    last_id: UUID | None
    is_month: bool
    rows: int | None
    bytes: int

    @property
    def since(self) -> datetime | None:
        """When its first id is made."""
        return _made_at(self.first_id)

    @property
    def until(self) -> datetime | None:
        """From when on ids are made that it does not take."""
        return _made_at(self.last_id)


_ROWS = Rows(MonthPartition)
_COLUMNS = columns(
    MonthPartition,
    name="part::text",
    table="whole::text",
    first_id="since",
    last_id="until",
    rows="nullif(reltuples, -1)::bigint",
)
_ALL = f"select {_COLUMNS} from partition_bounds order by whole::text, is_month desc, until"


def list_partitions() -> list[MonthPartition]:
    """Return every partition, table by table, the oldest first. Budget: 1 statement."""
    return _ROWS.all(_ALL)


def create(table: str, month: date) -> bool:
    """Make the partition of a month, within a year from now; False where that month has one."""
    row = db.row("select make_month(%s::regclass, %s)", (table, month))
    return row == (True,)


def drop_if_empty(partition: MonthPartition) -> bool:
    """Drop a month that ended a month ago or more; False where it has rows yet."""
    row = db.row("select drop_month(%s::regclass)", (partition.name,))
    return row == (True,)


def _made_at(first_id: UUID | None) -> datetime | None:
    return datetime.fromtimestamp((first_id.int >> 80) / 1000, UTC) if first_id else None

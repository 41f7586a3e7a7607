"""Tables with monthly partitions: lists, creates and drops partitions.

The service owns no table, so it calls database functions. These create only near months, and drop only empty months
that ended long ago.
"""

from dataclasses import dataclass
from datetime import UTC, date, datetime
from uuid import UUID

from models.db import db
from models.table import Rows, columns

#: The partitioned tables.
TABLES = ("click", "audit_entry", "event", "delivery", "delivery_attempt")
#: The tables whose rows expire. Months of the others are never dropped.
EXPIRING = ("click", "event", "delivery", "delivery_attempt")


@dataclass(frozen=True, slots=True)
class MonthPartition:
    """A partition of a table: the range of its ids (`first_id` None: from the first row on) and its size.

    The default partition, with `is_month` False, contains the rows of months without a partition. `rows` is the
    database's estimate, None before its first one.
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
        """The time of its first id."""
        return _time_of_id(self.first_id)

    @property
    def until(self) -> datetime | None:
        """The time from which on ids belong to later partitions."""
        return _time_of_id(self.last_id)


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
    """Return every partition, by table, oldest first. Budget: 1 statement."""
    return _ROWS.all(_ALL)


def create(table: str, month: date) -> bool:
    """Create the partition of a month, at most a year from now; return False if it exists."""
    row = db.row("select make_month(%s::regclass, %s)", (table, month))
    return row == (True,)


def drop_if_empty(partition: MonthPartition) -> bool:
    """Drop the partition of a month that ended at least a month ago; return False if it still has rows."""
    row = db.row("select drop_month(%s::regclass)", (partition.name,))
    return row == (True,)


def _time_of_id(id: UUID | None) -> datetime | None:
    return datetime.fromtimestamp((id.int >> 80) / 1000, UTC) if id else None

"""The bytes that a unit of work leaves on PostgreSQL's disk, and in its write-ahead log."""

from typing import Any

from bench.figure import Figure

# Tables whose rows expire; rows of other tables are permanent. Rows of jobs and processes are deleted with their work.
_PASSING = {"click", "event", "delivery", "delivery_attempt"}
_TRANSIENT = {"job", "worker_process", "tick"}

_SIZES = """
select coalesce(pg_partition_root(oid), oid)::regclass::text, sum(pg_total_relation_size(oid))::bigint
from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace
group by 1
"""
_WRITTEN = "select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint"


class DiskUse:
    """The bytes between two readings. `cursor` is the owner's."""

    def __init__(self, cursor: Any) -> None:
        self._cursor = cursor
        self.begin()

    def begin(self) -> None:
        """Start counting now."""
        self._sizes, self._written = self._read()

    def per(self, name: str, *, units: int) -> Figure:
        """Return the bytes per unit of work: permanent and expiring tables with their indexes, and the write-ahead log.

        Whole pages are counted, so a small run overstates; so does the log after a checkpoint, when it has whole pages.
        """
        sizes, written = self._read()
        growth = {table: size - self._sizes.get(table, 0) for table, size in sizes.items() if table not in _TRANSIENT}
        passing = sum(size for table, size in growth.items() if table in _PASSING)
        permanent = sum(growth.values()) - passing
        parts = {"kept": permanent, "passing": passing, "wal": written - self._written}
        shares = {part: count / units for part, count in parts.items()}
        return Figure(name, shares["kept"] + shares["passing"], "bytes", None, parts=shares)

    def _read(self) -> tuple[dict[str, int], int]:
        self._cursor.execute(_SIZES)
        sizes = dict(self._cursor.fetchall())
        self._cursor.execute(_WRITTEN)
        ((written,),) = self._cursor.fetchall()
        return sizes, written

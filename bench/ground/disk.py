"""The bytes that a unit of work leaves on PostgreSQL's disk, and in its write-ahead log."""

from typing import Any

from bench.figure import Figure

# Tables whose rows expire; those of the other tables stay. Rows of jobs and processes are deleted with their work.
_PASSING = {"click", "event", "delivery", "delivery_attempt"}
_PASSED = {"job", "worker_process", "tick"}

_SIZES = """
select coalesce(pg_partition_root(oid), oid)::regclass::text, sum(pg_total_relation_size(oid))::bigint
from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace
group by 1
"""
_WRITTEN = "select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint"


class DiskUse:
    """The bytes from one reading to the next. `cursor` is the owner's."""

    def __init__(self, cursor: Any) -> None:
        self._cursor = cursor
        self.begin()

    def begin(self) -> None:
        """Count from now on."""
        self._sizes, self._written = self._read()

    def per(self, name: str, *, units: int) -> Figure:
        """Return the bytes per unit of work: tables and indexes that stay, those that end, and the write-ahead log.

        Pages count whole, so a small run says too much; so does the log after a checkpoint, where it has whole pages.
        """
        sizes, written = self._read()
        grown = {table: size - self._sizes.get(table, 0) for table, size in sizes.items() if table not in _PASSED}
        passing = sum(size for table, size in grown.items() if table in _PASSING)
        permanent = sum(grown.values()) - passing
        parts = {"kept": permanent, "passing": passing, "wal": written - self._written}
        shares = {part: count / units for part, count in parts.items()}
        return Figure(name, shares["kept"] + shares["passing"], "bytes", None, parts=shares)

    def _read(self) -> tuple[dict[str, int], int]:
        self._cursor.execute(_SIZES)
        sizes = dict(self._cursor.fetchall())
        self._cursor.execute(_WRITTEN)
        ((written,),) = self._cursor.fetchall()
        return sizes, written

"""Replication slots: the log that PostgreSQL keeps for a replica or a backup that has not read it yet."""

from dataclasses import dataclass

from models.db import db


@dataclass(frozen=True, slots=True)
class LogSlot:
    """A slot, whether a reader is connected, and how many bytes of log are kept for it: None if the slot is lost."""

    name: str
    is_read: bool
    kept_bytes: int | None


def any_org_list_slots() -> list[LogSlot]:
    """Return the slots of the whole server. Budget: 1 statement."""
    rows = db.run("""
select slot_name::text, active,
       case when wal_status is distinct from 'lost' then pg_current_wal_lsn() - restart_lsn end
from pg_replication_slots where not temporary order by 1
""")
    return [
        LogSlot(name, is_read, None if kept_bytes is None else int(kept_bytes)) for name, is_read, kept_bytes in rows
    ]

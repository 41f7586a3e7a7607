"""What PostgreSQL keeps of its log for those who have not read it yet: a replica, or whoever follows it for backups."""

from dataclasses import dataclass

from models.db import db


@dataclass(frozen=True, slots=True)
class LogSlot:
    """A slot by its name, whether somebody reads by it, and what of the log is kept for it: None where it is lost."""

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
    return [LogSlot(name, is_read, None if kept is None else int(kept)) for name, is_read, kept in rows]

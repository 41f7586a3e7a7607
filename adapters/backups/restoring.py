"""Brings a copy back to a moment, or to the end of its log, in an empty data folder."""

import os
import shlex
import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from adapters.backups.store import Backup
from adapters.embedded import places, postgres_server

_SETTINGS = "postgresql.auto.conf"
#: What they were; the server puts it back when it has replayed the log.
_BEFORE = "postgresql.auto.conf.before"


def restore(backup: Backup, data_dir: Path, *, to: datetime | None, tell: Callable[[str], None]) -> None:
    """Make the embedded PostgreSQL of a data folder out of a copy, up to a moment (None: all of the log), and stop it.

    Raises places.DidNotStart, where the folder has a database, too; OSError.
    """
    place = places.of(data_dir)
    if place.postgres.exists() and any(place.postgres.iterdir()):
        advice = "Move it away, or restore with another DATA_DIR. Nothing was changed."
        raise places.DidNotStart(f"{place.postgres} has a database", advice=advice)
    places.prepare(place)
    with places.exclusive(place.lock):
        fresh = place.home / "postgres.new"
        shutil.rmtree(fresh, ignore_errors=True)
        prepare(backup, fresh, to=to, tell=tell)
        fresh.rename(place.postgres)
        place.owner_password.unlink(missing_ok=True)  # of another cluster; the next start makes one
        tell("replaying the log")
        try:
            postgres_server.recover(place)
        except BaseException:
            postgres_server.stop(place)
            shutil.rmtree(place.postgres)  # half restored is not restored, and would be started
            raise


def prepare(backup: Backup, folder: Path, *, to: datetime | None, tell: Callable[[str], None]) -> None:
    """Copy a backup into an empty folder, so that a PostgreSQL that is started there replays the log up to the moment.

    What it is told for that is gone from its settings when it is done. Root leaves it to whoever has the folder, or the
    one above. Raises OSError, and leaves nothing behind.
    """
    owner = (folder if folder.exists() else folder.parent).stat()
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    tell(f"copying {backup.name}, {backup.size_bytes >> 20} MB")
    try:
        shutil.copytree(backup.path, folder, dirs_exist_ok=True)
        folder.chmod(0o700)
        shutil.copy2(folder / _SETTINGS, folder / _BEFORE)
        with (folder / _SETTINGS).open("a", encoding="utf-8") as file:
            file.writelines(f"{name} = '{_quoted(value)}'\n" for name, value in _told(backup, to).items())
        (folder / "recovery.signal").touch(mode=0o600)
        if os.geteuid() == 0 and owner.st_uid != 0:
            for path in (folder, *folder.rglob("*")):
                os.chown(path, owner.st_uid, owner.st_gid, follow_symlinks=False)
    except BaseException:
        for path in folder.iterdir():  # the folder itself may be where a disk is mounted
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        raise


def _told(backup: Backup, to: datetime | None) -> dict[str, str]:
    return {
        "restore_command": _fetching(backup.path.parent.parent / "log"),
        "recovery_target_time": "" if to is None else to.astimezone(UTC).isoformat(),
        "recovery_target_timeline": "latest",
        "recovery_target_action": "promote",
        "recovery_end_command": f"mv {_BEFORE} {_SETTINGS}",
        # Who reads meanwhile would have to be let in as many times at once as where the copy is from.
        "hot_standby": "off",
    }


def _fetching(log: Path) -> str:
    """Return the command that brings a segment of the log: status 1 at its end, 126 where it is there and unreadable.

    PostgreSQL takes the first for the end of everything, and gives up at the second.
    """
    if not log.is_dir():
        return "false"
    place = shlex.quote(str(log)).replace("%", "%%")
    # The segment that was being received has its own name, and is no less true up to where it ends. While the log is
    # followed it may get its last name between the first look and the second.
    looks = (f"cp {place}/%f %p", f"cp {place}/%f.partial %p", f"cp {place}/%f %p")
    is_over = f"test -x {place} && ! test -e {place}/%f && ! test -e {place}/%f.partial"
    return f"{{ {' || '.join(looks)}; }} 2>/dev/null || {{ {is_over} && exit 1; exit 126; }}"


def _quoted(value: str) -> str:
    return value.replace("\\", "\\\\").replace("'", "''")

"""Restores a backup to a point in time, or to the end of the log, into an empty data folder."""

import os
import shlex
import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from adapters.backups.store import Backup
from adapters.embedded import data_folder, postgres_server

_SETTINGS = "postgresql.auto.conf"
#: A copy of the original settings, which the server puts back when it has replayed the log.
_ORIGINAL_SETTINGS = "postgresql.auto.conf.before"


def restore(backup: Backup, data_dir: Path, *, to: datetime | None, report: Callable[[str], None]) -> None:
    """Restore a backup as a data folder's embedded PostgreSQL, up to a time (None: all of the log), and stop it.

    Raises ServerNotStarted, also if the folder has a database; OSError.
    """
    folder = data_folder.resolve(data_dir)
    if folder.postgres.exists() and any(folder.postgres.iterdir()):
        advice = "Nothing was changed. Next: move it away, or restore with another DATA_DIR."
        raise data_folder.ServerNotStarted(f"{folder.postgres} has a database", advice=advice)
    data_folder.prepare(folder)
    with data_folder.exclusive_lock(folder.lock):
        fresh = folder.home / "postgres.new"
        shutil.rmtree(fresh, ignore_errors=True)
        prepare(backup, fresh, to=to, report=report)
        fresh.rename(folder.postgres)
        folder.owner_password.unlink(missing_ok=True)  # it belongs to another cluster; the next start creates one
        report("replaying the log")
        try:
            postgres_server.recover(folder)
        except BaseException:
            postgres_server.stop(folder)
            shutil.rmtree(folder.postgres)  # the next start would use a half-restored one
            raise


def prepare(backup: Backup, folder: Path, *, to: datetime | None, report: Callable[[str], None]) -> None:
    """Copy a backup into an empty folder; a PostgreSQL started there replays the log up to a time (None: all of it).

    It removes the recovery settings when it is done. If this runs as root, the files get the owner of the folder or of
    its parent. Raises OSError and leaves nothing behind.
    """
    owner = (folder if folder.exists() else folder.parent).stat()
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    report(f"copying {backup.name}, {backup.size_bytes >> 20} MB")
    try:
        shutil.copytree(backup.path, folder, dirs_exist_ok=True)
        folder.chmod(0o700)
        shutil.copy2(folder / _SETTINGS, folder / _ORIGINAL_SETTINGS)
        with (folder / _SETTINGS).open("a", encoding="utf-8") as file:
            file.writelines(f"{name} = '{_quote(value)}'\n" for name, value in _recovery_settings(backup, to).items())
        (folder / "recovery.signal").touch(mode=0o600)
        if os.geteuid() == 0 and owner.st_uid != 0:
            for path in (folder, *folder.rglob("*")):
                os.chown(path, owner.st_uid, owner.st_gid, follow_symlinks=False)
    except BaseException:
        for path in folder.iterdir():  # the folder itself may be a mount point
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        raise


def _recovery_settings(backup: Backup, to: datetime | None) -> dict[str, str]:
    return {
        "restore_command": _restore_command(backup.path.parent.parent / "log"),
        "recovery_target_time": "" if to is None else to.astimezone(UTC).isoformat(),
        "recovery_target_timeline": "latest",
        "recovery_target_action": "promote",
        "recovery_end_command": f"mv {_ORIGINAL_SETTINGS} {_SETTINGS}",
        # Serving reads during recovery would need max_connections to be at least the original server's.
        "hot_standby": "off",
    }


def _restore_command(log: Path) -> str:
    """Return the command that fetches a segment of the log. It exits with 1 after the last, with 126 on a failure.

    PostgreSQL treats 1 as the end of the log, and aborts recovery at 126.
    """
    if not log.is_dir():
        return "false"
    quoted_path = shlex.quote(str(log)).replace("%", "%%")
    # The segment being received is named .partial and is valid up to its end. While `flask backup follow` runs, it may
    # be renamed between the first and the second attempt.
    attempts = (f"cp {quoted_path}/%f %p", f"cp {quoted_path}/%f.partial %p", f"cp {quoted_path}/%f %p")
    is_missing = f"test -x {quoted_path} && ! test -e {quoted_path}/%f && ! test -e {quoted_path}/%f.partial"
    return f"{{ {' || '.join(attempts)}; }} 2>/dev/null || {{ {is_missing} && exit 1; exit 126; }}"


def _quote(value: str) -> str:
    return value.replace("\\", "\\\\").replace("'", "''")

"""The keys that seal secrets at rest: SECRET_KEY, or a key that is made once and kept in the data folder."""

import contextlib
import os
import secrets

from settings.concerns.servers import SHORTEST_SECRET_KEY, Servers
from settings.table import BadSetting


def in_force(servers: Servers) -> str:
    """Return the key that everything new is made with.

    Without SECRET_KEY (the embedded default) a key is made once and kept in the data folder, readable by
    its owner alone. A copy of the database is of no use elsewhere without that file.
    """
    if servers.secret_key:
        return servers.secret_key
    path = servers.data_dir / "secret_key"
    if not path.exists():
        servers.data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        draft = servers.data_dir / f"secret_key.{secrets.token_hex(8)}"  # nobody else's, in this process either
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(secrets.token_hex(32))
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileExistsError):
            os.link(draft, path)  # whole or not at all: two first starts agree on one key
        draft.unlink()
    kept = path.read_text().strip()
    if len(kept) < SHORTEST_SECRET_KEY:
        raise BadSetting(f"{path} is damaged: put back the key that sealed this database's secrets, or set SECRET_KEY")
    return kept


def believed(servers: Servers) -> tuple[str, ...]:
    """Return every key that is believed: the one in force first, then the former ones."""
    key = in_force(servers)
    return (key, *(former for former in servers.former_secret_keys if former != key))

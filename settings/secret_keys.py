"""The keys that encrypt secrets at rest: SECRET_KEY, or a key that is created once in the data folder."""

import contextlib
import os
import secrets

from settings.concerns.servers import MIN_SECRET_KEY_CHARACTERS, Servers
from settings.table import BadSetting


def current_key(servers: Servers) -> str:
    """Return the key with which everything new is encrypted and signed.

    Without SECRET_KEY (the embedded default) a key is created once and stored in the data folder, readable only by
    its owner. A copy of the database is useless without that file.
    """
    if servers.secret_key:
        return servers.secret_key
    path = servers.data_dir / "secret_key"
    if not path.exists():
        servers.data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        draft = (
            servers.data_dir / f"secret_key.{secrets.token_hex(8)}"
        )  # a name of its own for each thread that creates one
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(secrets.token_hex(32))
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileExistsError):
            os.link(draft, path)  # atomic: two first starts get the same key
        draft.unlink()
    key = path.read_text().strip()
    if len(key) < MIN_SECRET_KEY_CHARACTERS:
        raise BadSetting(
            f"{path} is damaged: restore the key that encrypted this database's secrets, or set SECRET_KEY"
        )
    return key


def accepted_keys(servers: Servers) -> tuple[str, ...]:
    """Return every key that is accepted: the current one first, then the former ones."""
    current = current_key(servers)
    return (current, *(key for key in servers.former_secret_keys if key != current))

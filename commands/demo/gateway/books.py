"""What the gateway that is played keeps in the data folder: its account's key, and every object by its path.

The file has a line for each change, so that a change is whole or not there; the last line of an object counts.
"""

import contextlib
import json
import os
import secrets
from pathlib import Path

from commands.demo.gateway.words import StripeObject

_NAME = "gateway"


def key(data_dir: Path) -> str | None:
    """Return the key that opens the account; None where there is none yet."""
    kept = data_dir / _NAME / "key"
    return kept.read_text() if kept.exists() else None


class StripeBooks:
    """The objects of one account, opened for one process. Not safe for threads."""

    def __init__(self, data_dir: Path) -> None:
        """Open the books, empty ones with a new key on the first call."""
        folder = data_dir / _NAME
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if key(data_dir) is None:
            _write(folder / "key", f"sk_demo_{secrets.token_urlsafe(24)}")
        self._file = folder / "books.jsonl"
        self._objects: dict[str, StripeObject] = {}
        self._read()
        if self.find("/v1/account") is None:
            self.put("/v1/account", {"id": f"acct_{token()}", "object": "account"})

    def find(self, path: str) -> StripeObject | None:
        """Return the object at a path: `/v1/charges/ch_1`."""
        return self._objects.get(path)

    def of(self, collection: str) -> list[StripeObject]:
        """Return the objects of `/v1/charges`, the newest first."""
        return [one for path, one in reversed(self._objects.items()) if path.rpartition("/")[0] == collection]

    def put(self, path: str, one: StripeObject | None) -> None:
        """Keep an object at a path as it is now; None ends it."""
        with os.fdopen(os.open(self._file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "w") as file:
            file.write(json.dumps([path, one]) + "\n")
        self._set(path, one)

    def _read(self) -> None:
        if self._file.exists():
            for line in self._file.read_text().splitlines():
                with contextlib.suppress(ValueError):  # cut off when the machine went down
                    self._set(*json.loads(line))

    def _set(self, path: str, one: StripeObject | None) -> None:
        if one is None:
            self._objects.pop(path, None)
        else:
            self._objects[path] = one


def token() -> str:
    """Return what no other object of any books has in its id."""
    return secrets.token_hex(8)


def _write(path: Path, text: str) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(text)

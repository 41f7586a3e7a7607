"""The simulated gateway's files in the data folder: its account's key, and every object by its path.

The file has a line for each change, so that a change is complete or absent; the last line of an object is current.
"""

import contextlib
import json
import os
import secrets
from pathlib import Path

from commands.demo.gateway.stripe_objects import StripeObject

_NAME = "gateway"


def read_key(data_dir: Path) -> str | None:
    """Return the account's API key; None if it does not exist yet."""
    path = data_dir / _NAME / "key"
    return path.read_text() if path.exists() else None


class StripeObjectStore:
    """The objects of one account, opened by one process. Not thread-safe."""

    def __init__(self, data_dir: Path) -> None:
        """Open the store; the first call creates it with a new key."""
        folder = data_dir / _NAME
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if read_key(data_dir) is None:
            _write(folder / "key", f"sk_demo_{secrets.token_urlsafe(24)}")
        self._file = folder / "books.jsonl"
        self._objects: dict[str, StripeObject] = {}
        self._read()
        if self.find("/v1/account") is None:
            self.put("/v1/account", {"id": f"acct_{new_token()}", "object": "account"})

    def find(self, path: str) -> StripeObject | None:
        """Return the object at a path: `/v1/charges/ch_1`."""
        return self._objects.get(path)

    def list_objects(self, collection: str) -> list[StripeObject]:
        """Return the objects of a collection such as `/v1/charges`, newest first."""
        return [item for path, item in reversed(self._objects.items()) if path.rpartition("/")[0] == collection]

    def put(self, path: str, stored: StripeObject | None) -> None:
        """Store the object at a path; None deletes it."""
        with os.fdopen(os.open(self._file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "w") as file:
            file.write(json.dumps([path, stored]) + "\n")
        self._set(path, stored)

    def _read(self) -> None:
        if self._file.exists():
            for line in self._file.read_text().splitlines():
                with contextlib.suppress(ValueError):  # cut off when the machine crashed
                    self._set(*json.loads(line))

    def _set(self, path: str, stored: StripeObject | None) -> None:
        if stored is None:
            self._objects.pop(path, None)
        else:
            self._objects[path] = stored


def new_token() -> str:
    """Return a random part of an id."""
    return secrets.token_hex(8)


def _write(path: Path, text: str) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(text)

"""Writes down the schema of a release, which the next one has to leave in place (docs/upgrades.md).

tests/release.py calls it for `make release`.
"""

from pathlib import Path

#: A version and its newest migration: the next release must keep their schema.
RELEASED = Path("tests/models/upgrades/released.txt")


def make(root: Path, version: str) -> None:
    """Write the version and the newest migration below `root` into RELEASED."""
    newest = max(path.stem for path in (root / "models/migrations").glob("[0-9]*.sql"))
    (root / RELEASED).write_text(f"{version} {newest}\n")

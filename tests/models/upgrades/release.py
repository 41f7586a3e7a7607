"""Makes a release of what is here: `make release VERSION=0.2.0`, then look at the difference and commit it.

One act, so that none of its parts is forgotten: the version wherever it stands, the changelog's heading, and the schema
that the next release has to leave in place for this one (docs/upgrades.md). tests/rules/deploy/test_release.py holds
them together.
"""

import re
import sys
from datetime import UTC, datetime
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[3]
#: A version and its newest migration: what the next release must not take away.
RELEASED = Path("tests/models/upgrades/released.txt")
_UNRELEASED = "## Unreleased\n"
_VERSIONS = {
    "setup.cfg": r"^version = (\S+)$",
    "integrations/python/finderfee/version.py": r'^VERSION = "(.+)"$',
    "integrations/javascript/src/version.js": r'VERSION = "([^"]+)"',
    "integrations/javascript/package.json": r'^  "version": "(.+)",$',
}


def make(root: Path, version: str, *, on: str) -> None:
    """Write a release's version and day into the files below `root`. Raises ValueError where it is none to come."""
    changelog = (root / "CHANGELOG.md").read_text()
    if not re.fullmatch(r"\d+\.\d+\.\d+", version) or f"\n## {version} " in changelog:
        raise ValueError(f"{version} is no version to come, such as 0.2.0")
    newest = max(path.stem for path in (root / "models/migrations").glob("[0-9]*.sql"))
    for name, pattern in _VERSIONS.items():
        text = (root / name).read_text()
        found = re.search(pattern, text, re.MULTILINE)
        if found is None:
            raise ValueError(f"{name} says no version")
        (root / name).write_text(f"{text[: found.start(1)]}{version}{text[found.end(1) :]}")
    (root / "CHANGELOG.md").write_text(changelog.replace(_UNRELEASED, f"{_UNRELEASED}\n## {version} ({on})\n", 1))
    (root / RELEASED).write_text(f"{version} {newest}\n")


if __name__ == "__main__":
    make(_ROOT, sys.argv[1], on=datetime.now(UTC).date().isoformat())

"""Reads pinned versions: those of setup.cfg, and the lock files that `make lock` creates from them."""

import configparser
import re
from dataclasses import dataclass
from pathlib import Path

from packaging.utils import canonicalize_name

_ROOT = Path(__file__).resolve().parents[2]
RUN = _ROOT / "requirements" / "run.txt"
LOCAL = _ROOT / "requirements" / "local.txt"
EXTRAS = _ROOT / "requirements" / "extras.txt"
DEV = _ROOT / "requirements" / "dev.txt"
_PINNED = re.compile(r"(?P<name>[\w.-]+)(\[[\w,-]+\])?==(?P<version>[\w.!+-]+)")


@dataclass(frozen=True, slots=True)
class Entry:
    """A release in a lock file, with the SHA-256 of each of its files."""

    version: str
    hashes: tuple[str, ...]


def list_pins() -> dict[Path, dict[str, str]]:
    """Return, for each lock file, the versions that setup.cfg pins, by normalized name.

    Raises ValueError for a line without a version.
    """
    config = configparser.ConfigParser()
    config.read(_ROOT / "setup.cfg")
    run = _versions(config["options"]["install_requires"])
    extras = {name: _versions(lines) for name, lines in config["options.extras_require"].items()}
    dev, local = extras.pop("dev"), extras.pop("local")
    optional = {name: version for versions in extras.values() for name, version in versions.items()}
    return {RUN: run, LOCAL: run | local, EXTRAS: run | optional, DEV: run | local | optional | dev}


def read_lock(lock: Path) -> dict[str, Entry]:
    """Return a lock file's entries by normalized name. Raises ValueError if one is not exactly one release."""
    entries: dict[str, Entry] = {}
    for text in re.split(r"\n(?=\S)", re.sub(r"^ *#.*\n", "", lock.read_text(), flags=re.MULTILINE)):
        name, version = _pin(text.partition(" ")[0])
        if name in entries:
            raise ValueError(f"{lock.name} holds {name} twice")
        entries[name] = Entry(version, tuple(re.findall(r"--hash=sha256:([0-9a-f]{64})\b", text)))
    return entries


def _versions(lines: str) -> dict[str, str]:
    return dict(_pin(line) for line in lines.splitlines() if line and not line.startswith("#"))


def _pin(line: str) -> tuple[str, str]:
    match = _PINNED.fullmatch(line)
    if match is None:
        raise ValueError(f"not pinned to one release: {line}")
    return canonicalize_name(match["name"]), match["version"]

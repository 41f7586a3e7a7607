"""Reads what is pinned: the lines of setup.cfg, and the locks that `make lock` makes of them."""

import configparser
import re
from dataclasses import dataclass
from pathlib import Path

from packaging.utils import canonicalize_name

_ROOT = Path(__file__).resolve().parents[2]
RUN = _ROOT / "requirements" / "run.txt"
EXTRAS = _ROOT / "requirements" / "extras.txt"
DEV = _ROOT / "requirements" / "dev.txt"
_PINNED = re.compile(r"(?P<name>[\w.-]+)(\[[\w,-]+\])?==(?P<version>[\w.!+-]+)")


@dataclass(frozen=True, slots=True)
class Entry:
    """One release in a lock, with the SHA-256 of each of its files."""

    version: str
    hashes: tuple[str, ...]


def chosen() -> tuple[dict[str, str], dict[str, str], dict[str, str]]:
    """Return what setup.cfg pins to run, besides for some, and to develop: versions by normalized name.

    Raises ValueError at a line that leaves the version open.
    """
    config = configparser.ConfigParser()
    config.read(_ROOT / "setup.cfg")
    extras = dict(config["options.extras_require"])
    run, dev = _versions(config["options"]["install_requires"]), _versions(extras.pop("dev"))
    return run, _versions("\n".join(extras.values())), dev


def read(lock: Path) -> dict[str, Entry]:
    """Return a lock's entries by normalized name; raises ValueError at an entry that is not exactly one release."""
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
    found = _PINNED.fullmatch(line)
    if found is None:
        raise ValueError(f"not pinned to one release: {line}")
    return canonicalize_name(found["name"]), found["version"]

"""`python -m tests.advisories`: is a release that we lock older than the mend of a hole that is known in it?

Asks a database of security advisories once for the whole lock. Exit 1: there is such a release, and its mend is named.
Exit 0: there is none, or the database could not be asked, and one line says which. A hole that nothing mends yet is
named and passes: no update helps.
"""

import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests
from packaging.utils import canonicalize_name
from packaging.version import Version

from tests.support import locks

_DATABASE = "https://api.osv.dev"
_ECOSYSTEM = "PyPI"
# To connect, and between two parts of an answer.
_TIMEOUT_S = (3, 5)
# All in all; a name server that does not answer is bounded by nothing else.
_WHOLE_TIMEOUT_S = 20


class DatabaseUnreachable(Exception):
    """The database cannot be reached, or answers nothing that can be read; says why."""


@dataclass(frozen=True, slots=True)
class Vulnerability:
    """A release in the lock with an advisory about it, and the later releases that mend it, if any."""

    name: str
    version: str
    advisory: str
    mended_in: tuple[str, ...]

    def __str__(self) -> str:
        remedy = f"mended in {', '.join(self.mended_in)}" if self.mended_in else "not mended yet"
        return f"{self.name} {self.version}: {self.advisory}, {remedy}"


def find_vulnerabilities(lock: Path, *, database: str = _DATABASE) -> list[Vulnerability]:
    """Return what is known against the releases of a lock; raises NotAsked."""
    pinned = [(name, entry.version) for name, entry in locks.read_lock(lock).items()]
    queries = [{"package": {"ecosystem": _ECOSYSTEM, "name": name}, "version": version} for name, version in pinned]
    found = []
    try:
        answers = _answer("POST", f"{database}/v1/querybatch", {"queries": queries})["results"]
        for (name, version), answer in zip(pinned, answers, strict=True):
            for known in answer.get("vulns", ()):
                advisory = _answer("GET", f"{database}/v1/vulns/{known['id']}")
                if "withdrawn" not in advisory:
                    found.append(
                        Vulnerability(name, version, known["id"], _fixed_versions(advisory, name, Version(version)))
                    )
    except requests.RequestException as error:
        raise DatabaseUnreachable(type(error).__name__) from error
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise DatabaseUnreachable(f"the answer cannot be read: {error!r}") from error
    return found


def _answer(method: str, url: str, body: object = None) -> Any:
    response = requests.request(method, url, json=body, timeout=_TIMEOUT_S)
    response.raise_for_status()
    return response.json()


def _fixed_versions(advisory: Any, name: str, version: Version) -> tuple[str, ...]:
    return tuple(
        event["fixed"]
        for affected in advisory["affected"]
        if (affected["package"]["ecosystem"], canonicalize_name(affected["package"]["name"])) == (_ECOSYSTEM, name)
        for versions in affected.get("ranges", ())
        if versions["type"] == "ECOSYSTEM"
        for event in versions["events"]
        if "fixed" in event and Version(event["fixed"]) > version
    )


def main(*, database: str = _DATABASE, within_s: float = _WHOLE_TIMEOUT_S) -> int:
    """Print what is known against the lock of who develops, which holds all that runs; returns the exit code."""
    found: list[Vulnerability] = []
    reasons = [f"no response within {within_s:g} s"]

    def ask() -> None:
        try:
            found.extend(find_vulnerabilities(locks.DEV, database=database))
            reasons.clear()
        except DatabaseUnreachable as reason:
            reasons[:] = [str(reason)]

    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    asking.join(within_s)
    if reasons:
        print(f"Security advisories: not asked ({reasons[0]})")
        return 0
    for hole in found:
        print(f"Security advisories: {hole}")
    print(f"Security advisories: {len(found)} about what is locked")
    return 1 if any(hole.mended_in for hole in found) else 0


if __name__ == "__main__":
    sys.exit(main())

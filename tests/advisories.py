"""`python -m tests.advisories`: report locked releases with a known vulnerability, and fail if a fix exists.

Queries a database of security advisories once for the whole lock. Exit 1: a locked release is older than its fix,
which is printed. Exit 0: there is no such release, or the database cannot be reached, and one line says which. A
vulnerability without a fix is printed and passes, because no update helps.
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
# Connect timeout, and read timeout between two parts of a response.
_TIMEOUT_S = (3, 5)
# For all requests together; nothing else limits a name server that does not respond.
_TOTAL_TIMEOUT_S = 20


class DatabaseUnreachable(Exception):
    """The database cannot be reached or its response is invalid; the message is the reason."""


@dataclass(frozen=True, slots=True)
class Vulnerability:
    """A locked release, an advisory about it, and the later releases that fix it, if any."""

    name: str
    version: str
    advisory: str
    fixed_in: tuple[str, ...]

    def __str__(self) -> str:
        remedy = f"fixed in {', '.join(self.fixed_in)}" if self.fixed_in else "not fixed yet"
        return f"{self.name} {self.version}: {self.advisory}, {remedy}"


def find_vulnerabilities(lock: Path, *, database: str = _DATABASE) -> list[Vulnerability]:
    """Return the known vulnerabilities of the releases of a lock. Raises DatabaseUnreachable."""
    pinned = [(name, entry.version) for name, entry in locks.read_lock(lock).items()]
    queries = [{"package": {"ecosystem": _ECOSYSTEM, "name": name}, "version": version} for name, version in pinned]
    vulnerabilities = []
    try:
        results = _request("POST", f"{database}/v1/querybatch", {"queries": queries})["results"]
        for (name, version), result in zip(pinned, results, strict=True):
            for hit in result.get("vulns", ()):
                advisory = _request("GET", f"{database}/v1/vulns/{hit['id']}")
                if "withdrawn" not in advisory:
                    fixed_in = _list_fixed_versions(advisory, name, Version(version))
                    vulnerabilities.append(Vulnerability(name, version, hit["id"], fixed_in))
    except requests.RequestException as error:
        raise DatabaseUnreachable(type(error).__name__) from error
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise DatabaseUnreachable(f"the response cannot be read: {error!r}") from error
    return vulnerabilities


def _request(method: str, url: str, body: object = None) -> Any:
    response = requests.request(method, url, json=body, timeout=_TIMEOUT_S)
    response.raise_for_status()
    return response.json()


def _list_fixed_versions(advisory: Any, name: str, version: Version) -> tuple[str, ...]:
    return tuple(
        event["fixed"]
        for affected in advisory["affected"]
        if (affected["package"]["ecosystem"], canonicalize_name(affected["package"]["name"])) == (_ECOSYSTEM, name)
        for versions in affected.get("ranges", ())
        if versions["type"] == "ECOSYSTEM"
        for event in versions["events"]
        if "fixed" in event and Version(event["fixed"]) > version
    )


def main(*, database: str = _DATABASE, within_s: float = _TOTAL_TIMEOUT_S) -> int:
    """Print the vulnerabilities of the development lock, which contains all packages; return the exit code."""
    vulnerabilities: list[Vulnerability] = []
    reasons = [f"no response within {within_s:g} s"]

    def query() -> None:
        try:
            vulnerabilities.extend(find_vulnerabilities(locks.DEV, database=database))
            reasons.clear()
        except DatabaseUnreachable as reason:
            reasons[:] = [str(reason)]

    thread = threading.Thread(target=query, daemon=True)
    thread.start()
    thread.join(within_s)
    if reasons:
        print(f"Security advisories: not checked ({reasons[0]})")
        return 0
    for vulnerability in vulnerabilities:
        print(f"Security advisories: {vulnerability}")
    print(f"Security advisories: {len(vulnerabilities)} about the locked releases")
    return 1 if any(vulnerability.fixed_in for vulnerability in vulnerabilities) else 0


if __name__ == "__main__":
    sys.exit(main())

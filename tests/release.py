"""Release the committed tree: `make release VERSION=0.3.0`.

Checks the version, the changelog, the tree and the locks. Then writes the version and the schema that the next release
must keep (docs/upgrades.md), commits them and creates the annotated tag `v0.3.0`. It does not push.
"""

import re
import subprocess
import sys
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path

from tests.models.upgrades import release as schema
from tests.support import trees

#: Every file that contains the version, with the pattern of its line.
VERSIONS = {
    "settings/version.py": r'^VERSION = "(.+)"$',
    "integrations/python/finderfee/version.py": r'^VERSION = "(.+)"$',
    "integrations/javascript/src/version.js": r'VERSION = "([^"]+)"',
    "integrations/javascript/package.json": r'^  "version": "(.+)",$',
}
_VERSION = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)")
_UNRELEASED = "Unreleased"


class ReleaseRefused(Exception):
    """The release cannot be made; the message is the reason and the next step."""


@dataclass(frozen=True, slots=True)
class Chapter:
    """A chapter of the changelog: the version or "Unreleased", its date as written, its text."""

    version: str
    date: str
    text: str


def main(root: Path, version: str, *, today: date) -> None:
    """Check everything, then write, commit and tag. Raises ReleaseRefused before anything is written."""
    check_order(root, version)
    text = check_changelog(root, version, today=today)
    _check_clean(root, "Commit or remove these changes first:")
    _run(root, "make", "--silent", "lock")
    _check_clean(root, "`make lock` changed these files; review and commit them first:")
    write_version(root, version)
    schema.make(root, version)
    if _list_changes(root):
        _run(root, "git", "commit", "--quiet", "--all", "--message", f"Release {version}")
    _run(root, "git", "tag", "--annotate", "--cleanup=whitespace", "--file=-", _tag_name(version), stdin=text)


def check_order(root: Path, version: str) -> None:
    """Raise ReleaseRefused unless the version has three numbers and is higher than every tag."""
    numbers = _parse_version(version)
    tags = _run(root, "git", "tag", "--list", _tag_name("*")).split()
    released = [tag.removeprefix(_tag_name("")) for tag in tags if _VERSION.fullmatch(tag.removeprefix(_tag_name("")))]
    newest = max([*released, read_version(root, "settings/version.py")], key=_parse_version)
    if version in released or numbers < _parse_version(newest):
        raise ReleaseRefused(f"{version} is not higher than {newest}. Choose the next version.")


def check_changelog(root: Path, version: str, *, today: date) -> str:
    """Return the text of the version's chapter.

    Raises ReleaseRefused unless it follows an empty chapter "Unreleased", has a date, and precedes lower versions.
    """
    first, *released = read_chapters(root)
    if first.version != _UNRELEASED or first.text:
        raise ReleaseRefused(f'Move the lines of "{_UNRELEASED}" in CHANGELOG.md into the chapter of {version}.')
    if not released or released[0].version != version or not released[0].text:
        raise ReleaseRefused(f'CHANGELOG.md needs "## [{version}] - {today}" with text after "{_UNRELEASED}".')
    numbers = [_parse_version(chapter.version) for chapter in released]
    if numbers != sorted(set(numbers), reverse=True):
        raise ReleaseRefused("CHANGELOG.md: each version needs one chapter, the highest version first.")
    for chapter in released:
        if (day := _parse_date(chapter.date)) is None or day > today:
            raise ReleaseRefused(f"CHANGELOG.md: {chapter.version} needs the date of its release, such as {today}.")
    return f"Finderfee {version}\n\n{released[0].text}\n"


def read_chapters(root: Path) -> list[Chapter]:
    """Return the changelog's chapters from the top. Raises ReleaseRefused without any."""
    parts = re.split(r"^## \[(.+?)\](?: - (.+))?$", (root / "CHANGELOG.md").read_text(), flags=re.MULTILINE)[1:]
    if not parts:
        raise ReleaseRefused(f'CHANGELOG.md has no chapter "## [{_UNRELEASED}]".')
    triples = zip(parts[::3], parts[1::3], parts[2::3], strict=True)
    return [Chapter(version, day or "", text.strip()) for version, day, text in triples]


def read_version(root: Path, name: str) -> str:
    """Return the version in one of the files of VERSIONS."""
    return _find_version_line(root, name)[1]


def write_version(root: Path, version: str) -> None:
    """Write the version into every file of VERSIONS."""
    for name in VERSIONS:
        line = _find_version_line(root, name)
        (root / name).write_text(f"{line.string[: line.start(1)]}{version}{line.string[line.end(1) :]}")


def _find_version_line(root: Path, name: str) -> re.Match[str]:
    line = re.search(VERSIONS[name], (root / name).read_text(), re.MULTILINE)
    if line is None:
        raise ReleaseRefused(f"{name} contains no version.")
    return line


def _parse_version(version: str) -> tuple[int, ...]:
    parts = _VERSION.fullmatch(version)
    if parts is None:
        raise ReleaseRefused(f"{version!r} is not a version. Write three numbers: make release VERSION=0.3.0")
    return tuple(map(int, parts.groups()))


def _parse_date(text: str) -> date | None:
    """Return the date of a chapter, None unless it is written as 2026-05-04."""
    try:
        return date.fromisoformat(text) if re.fullmatch(r"\d{4}-\d\d-\d\d", text) else None
    except ValueError:
        return None


def _tag_name(version: str) -> str:
    return f"v{version}"


def _list_changes(root: Path) -> str:
    return _run(root, "git", "status", "--porcelain").rstrip()


def _check_clean(root: Path, reason: str) -> None:
    if changes := _list_changes(root):
        raise ReleaseRefused(f"{reason}\n{changes}")


def _run(root: Path, *command: str, stdin: str = "") -> str:
    process = subprocess.run(command, cwd=root, input=stdin, capture_output=True, text=True)
    if process.returncode != 0:
        raise ReleaseRefused(f"{' '.join(command)} failed:\n{process.stderr.strip()}")
    return process.stdout


if __name__ == "__main__":
    try:
        main(trees.ROOT, " ".join(sys.argv[1:]), today=datetime.now(UTC).date())
    except ReleaseRefused as refusal:
        sys.exit(f"No release was made. {refusal}")
    print(f"Version {sys.argv[1]} is committed and tagged. Next: git push --follow-tags")

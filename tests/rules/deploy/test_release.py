"""A release says what the next one has to leave in place, and cannot forget to."""

import re
import shutil
from configparser import ConfigParser
from pathlib import Path

import pytest

from models import migrate
from tests.models.upgrades import release
from tests.support import trees

_HINT = "a release is made by: make release VERSION=…"


def _broken(root: Path, migrations: list[str]) -> str:
    """Return what was forgotten when the version below `root` was made, or nothing."""
    service = ConfigParser()
    service.read(root / "setup.cfg")
    version, newest = (root / release.RELEASED).read_text().split()
    sections = re.split(r"^## (.+)$", (root / "CHANGELOG.md").read_text(), flags=re.MULTILINE)[1:]
    headings, unreleased = sections[::2], sections[1].strip()
    if version != service["metadata"]["version"]:
        return "the schema of this version is not written down"
    if headings[0] != "Unreleased" or any(not one.startswith(f"{version} (") for one in headings[1:2]):
        return "the changelog's headings are other versions"
    if newest not in migrations or (not unreleased and newest != migrations[-1]):
        return "the schema of this version is another"
    return ""


def test_the_version_that_was_released_last_has_its_schema_written_down():
    assert _broken(trees.ROOT, migrate.names()) == "", _HINT


def test_a_release_changes_every_place_and_one_that_forgets_is_seen(tmp_path):
    for name in ("setup.cfg", "CHANGELOG.md", "integrations", "tests/models/upgrades", "models/migrations"):
        source, target = trees.ROOT / name, tmp_path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("node_modules", "dist"))
        else:
            shutil.copy(source, target)
    names = migrate.names()
    configured = (tmp_path / "setup.cfg").read_text()

    release.make(tmp_path, "7.1.0", on="2030-01-02")
    assert _broken(tmp_path, names) == ""
    assert "## Unreleased\n\n## 7.1.0 (2030-01-02)\n\n- " in (tmp_path / "CHANGELOG.md").read_text()
    assert (tmp_path / release.RELEASED).read_text() == f"7.1.0 {names[-1]}\n"
    assert '"version": "7.1.0"' in (tmp_path / "integrations/javascript/package.json").read_text()
    for wrong in ("7.1.0", "7.2", "next"):
        with pytest.raises(ValueError, match="no version to come"):
            release.make(tmp_path, wrong, on="2030-01-02")

    # Each place by itself, as somebody would do it by hand.
    assert _broken(tmp_path, [*names, "9999_forgotten"]) == "the schema of this version is another"
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## Unreleased\n\n- New.\n\n## 7.0.0 (2029-01-01)\n")
    assert _broken(tmp_path, names) == "the changelog's headings are other versions"
    (tmp_path / "setup.cfg").write_text(configured)
    assert _broken(tmp_path, names) == "the schema of this version is not written down"

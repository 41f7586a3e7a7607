"""The tests, commands, routes, files, targets and settings that the documents name exist."""

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import get_type_hints
from uuid import UUID

import click
import pytest

import settings
from models import db
from models.upkeep import expiry
from settings.__main__ import page
from tests.support import trees

_ROOT = Path(__file__).resolve().parents[2]
_PAGES = {
    str(path.relative_to(_ROOT)): path.read_text()
    for path in [*_ROOT.glob("*.md"), *(_ROOT / "docs").rglob("*.md")]
    if path.name != "CHANGELOG.md"
}


def _list_tests() -> set[str]:
    names = set()
    for path in trees.list_files("tests"):
        for node in ast.walk(trees.parse_file(path)):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                names.add(f"{trees.relative_name(path)}::{node.name}")
    return names


def _read_coverage() -> list[tuple[str, str, str]]:
    """Return section, rule and tests of every row except the header."""
    header, *lines = (_ROOT / "docs" / "spec-coverage.tsv").read_text().splitlines()
    assert header == "section\trule\ttests"
    return [(section, rule, tests) for section, rule, tests in (line.split("\t") for line in lines)]


def test_every_covering_test_exists():
    covering = {test for _, _, tests in _read_coverage() for test in tests.split(" ") if tests != "none"}

    assert covering
    assert covering - _list_tests() == set()


def test_every_covered_rule_is_unique_and_tested():
    rules = [(section, rule) for section, rule, _ in _read_coverage()]
    untested = {rule for section, rule, tests in _read_coverage() if tests == "none" and section != "Not built yet"}

    assert [rule for rule, times in Counter(rules).items() if times > 1] == []
    assert untested == set()


def test_settings_page_matches_the_table():
    assert (_ROOT / "docs" / "settings.md").read_text() == page(), "python -m settings > docs/settings.md"


def test_only_settings_read_the_environment():
    read = {
        name: str(path.relative_to(_ROOT))
        for folder in ("adapters", "api", "commands", "domain", "models", "pages", "pipelines", "schemas", "workers")
        for path in [*(_ROOT / folder).rglob("*.py"), _ROOT / "app.py", _ROOT / "gunicorn.conf.py"]
        for name in re.findall(r'\bos\.(?:getenv\(|environ\.get\(|environ\[)\s*"(\w+)"', path.read_text())
    }

    assert read == {"PATH": read["PATH"]}  # child processes find programs by it


def test_every_expiring_kind_has_retention_days():
    assert set(settings.read({}).retention.days) - {"default"} == set(expiry.KINDS)


def test_every_table_has_a_retention_entry(app):
    (decision,) = (_ROOT / "docs" / "decisions").glob("0015-*.md")
    rows = [line.split("|")[1] for line in decision.read_text().splitlines() if line.startswith("| ")]
    listed = [name.strip() for row in rows[1:] for name in row.split(",")]
    with db.any_org_work():
        tables = [name for (name,) in db.db.run("select tablename from pg_tables where schemaname = 'public'")]

    assert sorted(listed) == sorted(name for name in tables if not re.search(r"_\d{4}_\d{2}$", name))


def _find_in_pages(pattern: str) -> set[str]:
    """Return the matches of a pattern in all pages, each as `page: match`."""
    return {f"{page}: {match}" for page, text in _PAGES.items() for match in re.findall(pattern, text, re.MULTILINE)}


def _list_subcommands(command: click.Command, name: str) -> Iterator[tuple[str, click.Command]]:
    yield name, command
    for verb, part in getattr(command, "commands", {}).items():
        yield from _list_subcommands(part, f"{name} {verb}")


@pytest.fixture(scope="module")
def commands(app):
    """Return every operator command by the words after `flask`."""
    context = click.Context(app.cli)
    groups = [(name, app.cli.get_command(context, name)) for name in app.cli.list_commands(context)]
    return {name: command for group, first in groups for name, command in _list_subcommands(first, group)}


def test_every_operator_command_has_a_help_text(commands):
    assert len(commands) > 50
    assert [name for name, command in commands.items() if not (command.help or "").strip().endswith(".")] == []


def test_every_documented_command_exists(commands):
    documented = _find_in_pages(r"flask ([a-z][a-z-]*(?: [a-z][a-z-]*)?)")

    assert len(documented) > 50
    assert [command for command in documented if not _is_command(command.partition(": ")[2], commands)] == []


def _is_command(words: str, commands: Mapping[str, click.Command]) -> bool:
    group = commands.get(words.split()[0])
    return words in commands or (group is not None and not hasattr(group, "commands"))


def test_every_documented_route_exists(app):
    routes = app.url_map.bind("localhost")
    documented = {
        (method, re.sub(r"\{\w+\}|\$\w+|…", str(UUID(int=1)), path))
        for text in _PAGES.values()
        for method, path in re.findall(r"\b(GET|POST|PUT|PATCH|DELETE) \"?(/[\w/.{}$-]*[\w}])", text)
    }

    assert len(documented) > 20
    assert [(method, path) for method, path in documented if not routes.test(path, method)] == []


def test_every_documented_file_exists():
    packages = "adapters|api|bench|commands|domain|models|pages|pipelines|schemas|settings|workers"
    folders = f"{packages}|deploy|docs|integrations|tests"
    documented = _find_in_pages(rf"`((?:{folders})/[\w./*-]+)`")

    assert len(documented) > 40
    assert [
        reference for reference in documented if not any(_ROOT.glob(f"{reference.partition(': ')[2].rstrip('/')}*"))
    ] == []


def test_package_maps_name_every_file():
    wrong, maps = {}, 0
    for path in _ROOT.glob("[a-z]*/**/__init__.py"):
        about = ast.get_docstring(trees.parse_file(path)) or ""
        lines, words = (set(re.findall(pattern, about, re.MULTILINE)) for pattern in (r"^(\w+) {2,}\S", r"`(\w+)`"))
        files = {part.stem for part in path.parent.glob("*.py")} - {"__init__", "__main__"}
        folders = {part.parent.name for part in path.parent.glob("*/__init__.py")}
        maps += bool(lines)
        if lines and (lines - files - folders or files - lines - words):
            wrong[str(path.parent.relative_to(_ROOT))] = lines - files - folders, files - lines - words

    assert maps > 10
    assert wrong == {}  # by package: named files that are missing, files that are not named


def test_every_documented_make_target_exists():
    documented = _find_in_pages(r"(?:`|^    )make (?:--silent )?([a-z]+)")
    targets = set(re.findall(r"^([a-z]+):", (_ROOT / "Makefile").read_text(), re.MULTILINE))

    assert {"README.md: run", "README.md: install", "CONTRIBUTING.md: release"} <= documented
    assert [reference for reference in documented if reference.partition(": ")[2] not in targets] == []


def test_readme_has_at_most_100_lines():
    assert len(_PAGES["README.md"].splitlines()) <= 100


def test_every_documented_setting_exists():
    setting_names = {
        line.name for concern in get_type_hints(settings.Settings).values() for line in concern.variables()
    }
    documented = {reference.partition(": ")[2] for reference in _find_in_pages(r"\b([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)\b")}
    documented -= {name for name in documented if name.startswith("OTEL_")}  # OpenTelemetry reads these itself

    assert len(documented) > 80
    # Names of OpenSSL, Mailchimp and Docker Compose.
    others = {"SSL_CERT_FILE", "CERTIFICATE_VERIFY_FAILED", "AFF_SLUG", "COMPOSE_PROFILES"}
    assert documented - setting_names == {*others, "JOB_SLOTS_MAIL"}  # the example of an old name in docs/settings.md


@pytest.mark.parametrize("files", ["docs/decisions/*.md", "models/migrations/*.sql"])
def test_decisions_and_migrations_are_numbered_without_gaps(files):
    numbers = sorted(int(path.name[:4]) for path in _ROOT.glob(files))

    assert numbers == list(range(1, len(numbers) + 1))


def test_commit_hook_is_part_of_make_check():
    hooks = (_ROOT / ".pre-commit-config.yaml").read_text()
    check = re.search(r"^check: (.*?) ##", (_ROOT / "Makefile").read_text(), re.MULTILINE)[1].split()

    entries = re.findall(r"entry: (.+)", hooks)
    assert entries == ["make --silent lint", "make --silent types", "make --silent layers"]
    assert {entry.split()[-1] for entry in entries} <= set(check)
    assert re.findall(r"repo: (.+)", hooks) == ["local"]  # nothing is fetched


def test_every_reference_of_the_security_page_exists():
    references = re.findall(r"`([\w./]+/[\w.]+)`", (_ROOT / "SECURITY.md").read_text())

    assert references
    assert [name for name in references if not any(_ROOT.glob(f"{name}*"))] == ["DATA_DIR/owner.pgpass"]

"""What the documents claim is there, is there."""

import ast
import re
from collections import Counter
from pathlib import Path

import click

import settings
from models import retention

_ROOT = Path(__file__).resolve().parents[2]
_README = (_ROOT / "README.md").read_text()


def _tests_that_exist() -> set[str]:
    found = set()
    for path in (_ROOT / "tests").rglob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                found.add(f"{path.relative_to(_ROOT)}::{node.name}")
    return found


def _coverage() -> list[tuple[str, str, str]]:
    """Return section, rule and tests of every row but the header."""
    header, *lines = (_ROOT / "docs" / "spec-coverage.tsv").read_text().splitlines()
    assert header == "section\trule\ttests"
    return [(section, rule, tests) for section, rule, tests in (line.split("\t") for line in lines)]


def test_every_test_that_the_coverage_names_exists():
    named = {test for _, _, tests in _coverage() for test in tests.split(" ") if tests != "none"}

    assert named
    assert named - _tests_that_exist() == set()


def test_every_rule_of_the_coverage_stands_once_and_is_held_by_a_test():
    rules = [(section, rule) for section, rule, _ in _coverage()]
    untested = {rule for section, rule, tests in _coverage() if tests == "none" and section != "Not built yet"}

    assert [rule for rule, times in Counter(rules).items() if times > 1] == []
    assert untested == {"A visit's country, without which the language rule never holds"}


def test_the_environment_is_read_by_the_settings_alone():
    read = {
        name: str(path.relative_to(_ROOT))
        for folder in ("adapters", "api", "commands", "domain", "models", "pipelines", "schemas", "workers")
        for path in [*(_ROOT / folder).rglob("*.py"), _ROOT / "app.py", _ROOT / "gunicorn.conf.py"]
        for name in re.findall(r'\bos\.(?:getenv\(|environ\.get\(|environ\[)\s*"(\w+)"', path.read_text())
    }

    assert read == {"PATH": read["PATH"]}  # what a child process finds programs by


def test_every_kind_of_rows_that_ends_has_days_that_it_is_kept():
    assert set(settings.read({}).retention.days) == set(retention.KINDS)


def test_the_readme_lists_every_operator_command(app):
    commands = _README.partition("## Operate it")[2].partition("## Settings")[0]
    context = click.Context(app.cli)
    for name in app.cli.list_commands(context):
        command = app.cli.get_command(context, name)
        if name == "demo-receiver":
            continue
        assert command.name == name
        assert f"flask {name}" in commands, name
        for verb in getattr(command, "commands", {}):
            assert f"{verb}" in commands, f"{name} {verb}"


def test_the_readme_names_every_route(app):
    table = _README.partition("## What is here")[2].partition("## Operate it")[0]
    for rule in app.url_map.iter_rules():
        last = next((part for part in reversed(rule.rule.split("/")) if part and not part.startswith("<")), "`/`")
        assert last in table, rule.rule


def test_decisions_are_numbered_without_gaps():
    numbers = sorted(int(path.name[:4]) for path in (_ROOT / "docs" / "decisions").glob("*.md"))

    assert numbers == list(range(1, len(numbers) + 1))


def test_what_runs_before_a_commit_is_a_part_of_the_check():
    hooks = (_ROOT / ".pre-commit-config.yaml").read_text()
    check = re.search(r"^check: (.*?) ##", (_ROOT / "Makefile").read_text(), re.MULTILINE)[1].split()

    entries = re.findall(r"entry: (.+)", hooks)
    assert entries == ["make --silent lint", "make --silent types", "make --silent layers"]
    assert {entry.split()[-1] for entry in entries} <= set(check)
    assert re.findall(r"repo: (.+)", hooks) == ["local"]  # nothing is fetched


def test_what_the_security_page_names_is_there():
    named = re.findall(r"`([\w./]+/[\w.]+)`", (_ROOT / "SECURITY.md").read_text())

    assert named
    assert [name for name in named if not any(_ROOT.glob(f"{name}*"))] == ["DATA_DIR/owner.pgpass"]

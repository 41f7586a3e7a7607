"""Peewee's private names are used in one module, so that a new release of peewee can break only that one."""

import ast
import inspect
import re
from pathlib import Path

import peewee
import pytest

from tests.support import trees

_ALLOWED = {"models/session/server_connection.py"}
_REFLECTION = {"vars", "getattr", "setattr", "dir"}
_ERRORS = {name for name, kind in inspect.getmembers(peewee, inspect.isclass) if issubclass(kind, Exception)}


def test_private_names_of_peewee_are_used_in_one_module():
    files = [path for path in _files() if re.search(r"import peewee|from (peewee|playhouse)", path.read_text())]

    assert {trees.named(path) for path in files if private_uses(trees.parsed(path))} == _ALLOWED


def test_private_names_of_the_database_object_are_used_by_itself_alone():
    files = [path for path in _files() if re.search(r"\bdb\._", path.read_text())]

    assert [trees.named(path) for path in files if database_privates(trees.parsed(path))] == []


@pytest.mark.parametrize(
    "source",
    [
        "import peewee\npeewee._transaction",
        "import peewee\nvars(peewee)['__exception_wrapper__']",
        "import peewee\ngetattr(peewee, name)",
        "from peewee import _savepoint",
        "from peewee import PostgresqlDatabase\nclass Database(PostgresqlDatabase): ...",
        "import peewee\nclass Database(peewee.PostgresqlDatabase): ...",
        "from playhouse.pool import PooledPostgresqlDatabase",
    ],
)
def test_each_way_to_a_private_name_of_peewee_is_found(source):
    assert private_uses(ast.parse(source)) != []


@pytest.mark.parametrize(
    "source", ["from models import db\ndb.db._threads", "from models.db import db\nx = db._threads.current"]
)
def test_each_way_to_a_private_name_of_the_database_is_found(source):
    assert database_privates(ast.parse(source)) != []


@pytest.mark.parametrize(
    "source",
    ["import peewee\npeewee.IntegrityError", "from peewee import DatabaseError\nclass NoSuchRow(DatabaseError): ..."],
)
def test_public_errors_of_peewee_may_be_used_anywhere(source):
    assert private_uses(ast.parse(source)) == []


def private_uses(tree: ast.Module) -> list[int]:
    """Return the lines that use a private name of peewee, or inherit more than an error from it, which brings them."""
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module]
    own = {name.name for node in imports if node.module == "peewee" for name in node.names}
    own |= {f"peewee.{name}" for name, _ in inspect.getmembers(peewee, inspect.isclass)}
    lines = [node.lineno for node in imports if node.module.split(".")[0] == "playhouse"]
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "peewee":
            lines += [node.lineno for name in node.names if name.name.startswith("_")]
        elif isinstance(node, ast.Attribute) and ast.unparse(node.value) == "peewee" and node.attr.startswith("_"):
            lines.append(node.lineno)
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in _REFLECTION:
            lines += [node.lineno for argument in node.args if ast.unparse(argument) == "peewee"]
        elif isinstance(node, ast.ClassDef):
            bases = {ast.unparse(base) for base in node.bases}
            lines += [node.lineno for base in bases & own if base.removeprefix("peewee.") not in _ERRORS]
    return lines


def database_privates(tree: ast.Module) -> list[int]:
    """Return the lines that use a private name of `models.db.db`."""
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    objects = {"db.db" for node in imports if node.module == "models" for name in node.names if name.name == "db"}
    objects |= {"db" for node in imports if node.module == "models.db" for name in node.names if name.name == "db"}
    return [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr.startswith("_") and not node.attr.startswith("__")
        if ast.unparse(node.value) in objects
    ]


def _files() -> list[Path]:
    return trees.files(*trees.PRODUCT, "tests")

"""Peewee's private names are used in one module only, so that a new release of peewee can break only that one."""

import ast
import inspect
import re

import peewee
import pytest

from tests.support import trees

_REFLECTION = {"vars", "getattr", "setattr", "dir"}
_ERRORS = {name for name, kind in inspect.getmembers(peewee, inspect.isclass) if issubclass(kind, Exception)}
_MAY_USE = re.compile(r"import peewee|from (peewee|playhouse)|\bdb\._")
_SAMPLES = (
    "import peewee; peewee._transaction",
    "import peewee; vars(peewee)['__exception_wrapper__']",
    "from peewee import _savepoint",
    "from peewee import PostgresqlDatabase",
    "import peewee\nclass Database(peewee.PostgresqlDatabase): ...",
    "from playhouse.pool import PooledPostgresqlDatabase",
    "from models import db; db.db._threads",
    "from models.db import db; db._threads.current",
)


def test_private_names_of_peewee_and_the_database_are_used_in_one_module():
    files = [path for path in trees.list_files(*trees.PRODUCT, "tests") if _MAY_USE.search(path.read_text())]

    assert [trees.relative_name(path) for path in files if private_uses(trees.parse_file(path))] == [
        "models/session/server_connection.py"
    ]


@pytest.mark.parametrize("source", _SAMPLES)
def test_every_use_of_a_private_name_is_detected(source):
    assert private_uses(ast.parse(source)) != []


@pytest.mark.parametrize("source", ["import peewee; peewee.DataError", "from peewee import DataError"])
def test_errors_of_peewee_may_be_used_anywhere(source):
    assert private_uses(ast.parse(source)) == []


def private_uses(tree: ast.Module) -> list[str]:
    """Return the uses of more than the errors of peewee, and of private names of `models.db.db`."""
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    names = {f"{node.module}.{name.name}" for node in imports for name in node.names}
    uses = [name for name in names if name.startswith("playhouse.")]
    uses += [name for name in names if name.startswith("peewee.") and name.removeprefix("peewee.") not in _ERRORS]
    objects = {"models.db.db": "db", "models.db": "db.db"}
    databases = {used for name, used in objects.items() if name in names}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            owner = ast.unparse(node.value)
            if (owner == "peewee" and node.attr not in _ERRORS) or (owner in databases and node.attr.startswith("_")):
                uses.append(ast.unparse(node))
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in _REFLECTION:
            uses += [ast.unparse(node) for argument in node.args if ast.unparse(argument) == "peewee"]
    return uses

"""The roles of deploy/roles.sql: an owner who is no superuser applies every migration, and the service logs in."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple
from urllib.parse import urlsplit

import psycopg2
import pytest

from models import migrate
from models.schema import steps
from tests.support import databases, trees

_ROLES = (trees.ROOT / "deploy/roles.sql").read_text()
_GROUP = "create role finderfee_app nologin;"
_PASSWORD = "of-this-test"


class _Urls(NamedTuple):
    owner: str
    service: str


@contextmanager
def _create_roles(left_out: str = "nothing") -> Iterator[_Urls]:
    """Run deploy/roles.sql under names of this database, without the statement that begins with `left_out`."""
    superuser = os.environ["DATABASE_OWNER_URL"]
    name = f"{urlsplit(superuser).path[1:]}_roles"
    lines = [line for line in _ROLES.splitlines() if line and not line.startswith(("--", "\\"))]
    assert _GROUP in lines  # the server of the tests has it already
    statements = [line for line in lines if line != _GROUP and not line.startswith(left_out)]
    assert len(statements) == len(lines) - (1 if left_out == "nothing" else 2)
    try:
        for statement in statements:
            renamed = re.sub(r"\bfinderfee(?=_login|\b)(?!_app)", name, statement)
            databases.run_as_owner(superuser, re.sub(r":'\w+_password'", f"'{_PASSWORD}'", renamed))
        yield _Urls(_log_in(superuser, name, name), _log_in(superuser, f"{name}_login", name))
    finally:
        databases.run_as_owner(superuser, f"drop database if exists {name} with (force)")
        databases.run_as_owner(superuser, f"drop owned by {name}, {name}_login")
        databases.run_as_owner(superuser, f"drop role {name}, {name}_login")


def _log_in(url: str, role: str, database: str) -> str:
    """Return a URL whose statements have the rights of a role; the server of the tests lets no other login in."""
    parts = urlsplit(url)
    options = f"options=-crole%3D{role}"
    return parts._replace(path=f"/{database}", query="&".join(filter(None, (parts.query, options)))).geturl()


def test_owner_without_superuser_rights_applies_every_migration():
    with _create_roles() as urls:
        applied = migrate.up(urls.owner)
        organizations = databases.select_as_owner(urls.service, "select count(*) from organization")
        powers = databases.select_as_owner(
            urls.service, "select rolsuper or rolcreatedb or rolcreaterole from pg_roles where rolname = current_user"
        )

    assert applied == migrate.names()
    assert organizations == [(0,)]
    assert powers == [(False,)]


def test_missing_privilege_halts_the_migration_with_the_file_that_grants_it():
    with _create_roles(left_out="grant set on parameter") as urls:
        with pytest.raises(steps.MigrationHalted) as halted:
            migrate.up(urls.owner)
        with pytest.raises(psycopg2.errors.UndefinedTable):
            databases.select_as_owner(urls.owner, "select 1 from organization")

    assert "permission denied" in str(halted.value)
    assert "deploy/roles.sql" in str(halted.value)

"""Migrated, empty databases for the tests: one per process, and isolated ones for single tests.

If the server has the template database they are copies of it, which takes a tenth of the time of the migrations.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from typing import Any
from urllib.parse import urlsplit

import psycopg2

from models import db, migrate

_TEMPLATE = "finderfee_tests_template"


def create_template(owner_url: str) -> None:
    """Create the template database on this server, and drop the databases that are not used."""
    create_database(owner_url, _TEMPLATE)
    with owner_cursor(owner_url) as cursor:
        cursor.execute("alter database template0 is_template false")
        for unused in ("template0", "postgres"):
            cursor.execute(f"drop database {unused}")


def create_database(owner_url: str, name: str) -> str:
    """Create (or replace) a migrated, empty database on the server of the URL, and return its URL."""
    url = urlsplit(owner_url)._replace(path=f"/{name}").geturl()
    with owner_cursor(owner_url) as cursor:
        cursor.execute("select from pg_database where datname = %s", (_TEMPLATE,))
        source = _TEMPLATE if cursor.rowcount else "template1"
        cursor.execute(f"drop database if exists {name} with (force)")
        cursor.execute(f"create database {name} template {source}")
    migrate.up(url)
    return url


@contextmanager
def isolated_database() -> Iterator[str]:
    """Point this process at a migrated database without the organizations of other tests; yield its owner's URL."""
    usual, owner_url = os.environ["DATABASE_URL"], os.environ["DATABASE_OWNER_URL"]
    name = f"{urlsplit(usual).path[1:]}_isolated"
    isolated_url = create_database(owner_url, name)
    db.db.drop_connection()
    db.connect_to(urlsplit(usual)._replace(path=f"/{name}").geturl())
    try:
        yield isolated_url
    finally:
        db.db.drop_connection()
        db.connect_to(usual)
        with owner_cursor(owner_url) as cursor:
            cursor.execute(f"drop database {name} with (force)")


@contextmanager
def empty_database() -> Iterator[str]:
    """Yield the owner's URL of a database without tables."""
    owner_url = os.environ["DATABASE_OWNER_URL"]
    name = f"{urlsplit(owner_url).path[1:]}_empty"
    run_as_owner(owner_url, f"create database {name}")
    try:
        yield urlsplit(owner_url)._replace(path=f"/{name}").geturl()
    finally:
        run_as_owner(owner_url, f"drop database {name} with (force)")


def run_as_owner(owner_url: str, statement: str, params: Mapping[str, object] | None = None) -> None:
    """Run a statement as the owner, outside a transaction."""
    with owner_cursor(owner_url) as cursor:
        cursor.execute(statement, params)


def select_as_owner(owner_url: str, query: str) -> list[tuple[Any, ...]]:
    """Return the rows of a query as the owner sees them."""
    with owner_cursor(owner_url) as cursor:
        cursor.execute(query)
        return cursor.fetchall()


@contextmanager
def owner_cursor(owner_url: str) -> Iterator[Any]:
    """Yield a cursor of the owner; each statement is committed by itself."""
    with closing(psycopg2.connect(owner_url)) as connection, connection.cursor() as cursor:
        connection.autocommit = True
        yield cursor


def run_as_brand(brand: Any, sql: str, *params: object) -> None:
    """Run a statement in a transaction of the brand."""
    with db.unit_of_work(brand.id):
        db.db.stage(sql, params)


def run_for_all_tenants(sql: str, *params: object) -> None:
    """Run a statement that sees the rows of all tenants."""
    with db.any_org_work():
        db.db.stage(sql, params)

"""Databases of the tests, migrated and empty: one for each process, and one of a test's own.

Where there is a template they are copies of it, which takes a tenth of the migrations' time.
"""

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any
from urllib.parse import urlsplit

import psycopg2

from models import db, migrate

_TEMPLATE = "finderfee_tests_template"


def create_template(owner_url: str) -> None:
    """Let the databases to come on this server be copies of one; those that nobody uses go."""
    create_database(owner_url, _TEMPLATE)
    with owner_cursor(owner_url) as cursor:
        cursor.execute("alter database template0 is_template false")
        for unused in ("template0", "postgres"):
            cursor.execute(f"drop database {unused}")


def create_database(owner_url: str, name: str) -> str:
    """Make a migrated and empty database beside the one of the URL, in place of one of this name; returns its URL."""
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
    """Point this process at a migrated database without the organizations of other tests; gives its owner's URL."""
    usual, owner_url = os.environ["DATABASE_URL"], os.environ["DATABASE_OWNER_URL"]
    name = f"{urlsplit(usual).path[1:]}_alone"
    alone_url = create_database(owner_url, name)
    db.db.drop_connection()
    db.connect_to(urlsplit(usual)._replace(path=f"/{name}").geturl())
    try:
        yield alone_url
    finally:
        db.db.drop_connection()
        db.connect_to(usual)
        with owner_cursor(owner_url) as cursor:
            cursor.execute(f"drop database {name} with (force)")


@contextmanager
def empty_database() -> Iterator[str]:
    """Give the owner's URL of a database without a table."""
    owner_url = os.environ["DATABASE_OWNER_URL"]
    name = f"{urlsplit(owner_url).path[1:]}_empty"
    run_as_owner(owner_url, f"create database {name}")
    try:
        yield urlsplit(owner_url)._replace(path=f"/{name}").geturl()
    finally:
        run_as_owner(owner_url, f"drop database {name} with (force)")


def run_as_owner(owner_url: str, statement: str) -> None:
    """Run a statement as the owner, outside a transaction."""
    with owner_cursor(owner_url) as cursor:
        cursor.execute(statement)


def select_as_owner(owner_url: str, query: str) -> list[tuple[Any, ...]]:
    """Return what the owner sees."""
    with owner_cursor(owner_url) as cursor:
        cursor.execute(query)
        return cursor.fetchall()


@contextmanager
def owner_cursor(owner_url: str) -> Iterator[Any]:
    """Give a cursor of the owner's; each statement is committed by itself."""
    with closing(psycopg2.connect(owner_url)) as connection, connection.cursor() as cursor:
        connection.autocommit = True
        yield cursor


def run_as_brand(brand: Any, sql: str, *params: object) -> None:
    """Run a statement as the brand."""
    with db.unit_of_work(brand.id):
        db.db.stage(sql, params)


def run_for_all_tenants(sql: str, *params: object) -> None:
    """Run a statement on rows of any tenant."""
    with db.any_org_work():
        db.db.stage(sql, params)

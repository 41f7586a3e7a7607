"""A database of a test's own, for what looks at everything that there is."""

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager

import psycopg2

from models import db, migrate


@contextmanager
def alone() -> Iterator[None]:
    """Point this process at a migrated database without the organizations of other tests."""
    usual, owner_url = os.environ["DATABASE_URL"], os.environ["DATABASE_OWNER_URL"]
    name = usual.partition("?")[0].rpartition("/")[2]
    with closing(psycopg2.connect(owner_url)) as connection, connection.cursor() as cursor:
        connection.autocommit = True
        cursor.execute(f"create database {name}_alone")
        db.db.drop_connection()
        try:
            migrate.up(owner_url.replace(f"/{name}?", f"/{name}_alone?"))
            db.connect_to(usual.replace(f"/{name}?", f"/{name}_alone?"))
            yield
        finally:
            db.db.drop_connection()
            db.connect_to(usual)
            cursor.execute(f"drop database {name}_alone with (force)")

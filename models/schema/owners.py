"""A connection of the owner's, beside those of the service."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg2
from peewee import OperationalError


@contextmanager
def connect(owner_url: str) -> Iterator[Any]:
    """Yield a connection as the owner of the tables, in autocommit mode."""
    try:
        connection = psycopg2.connect(owner_url, connect_timeout=5)
    except psycopg2.OperationalError as error:
        raise OperationalError(str(error)) from error  # one of db.UNAVAILABLE, as from the service's own connections
    connection.autocommit = True
    try:
        yield connection
    finally:
        connection.close()

"""Connections as the owner of the tables; the service's own connections have fewer rights."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg2
from peewee import OperationalError


@contextmanager
def connect(owner_url: str) -> Iterator[Any]:
    """Yield a connection as the owner of the tables, in autocommit mode, and close it afterwards."""
    try:
        connection = psycopg2.connect(owner_url, connect_timeout=5)
    except psycopg2.OperationalError as error:
        raise OperationalError(str(error)) from error  # one of db.UNAVAILABLE, as the service's own connections raise
    connection.autocommit = True
    try:
        yield connection
    finally:
        connection.close()

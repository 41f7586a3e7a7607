"""The base of every peewee table: our database, tables named in the singular as the migrations name them."""

from typing import Any

import peewee
from playhouse.postgres_ext import DateTimeTZField

from models.db import db


class Table(peewee.Model):
    """A table of the migrations. Columns with a default of the database may be left out on insert."""

    class Meta:
        database = db
        legacy_table_names = False


class Moment(DateTimeTZField):
    """An aware UTC moment."""


def rate(**options: Any) -> peewee.DecimalField:
    """Return a column for a commission value: a percentage or major units, six decimals."""
    return peewee.DecimalField(max_digits=20, decimal_places=6, auto_round=False, **options)

"""Refunds and reversals are not inserted twice, whatever their keys begin with. Source: docs/decisions/0049."""

import peewee
import pytest

from models import db

# A copy of a row except for one column outside the key.
_AGAIN = """
insert into {table} select (jsonb_populate_record({table}, jsonb_build_object('{other}', {value}))).*
from {table} where organization_id = %s
"""


@pytest.mark.parametrize(
    ("table", "key", "other", "value"),
    [
        ("refund", "refund_pkey", "place", "place + 1"),
        ("refund", "refund_place", "id", "gen_random_uuid()"),
        ("reversal", "reversal_pkey", "late_cents", "late_cents + 1"),
    ],
)
def test_duplicate_refund_or_reversal_is_refused(brand, drain, *, table, key, other, value):
    brand.program()
    brand.affiliate("ben")
    brand.sale(externalEventId="order-twice")
    drain()
    assert brand.refund("order-twice", 1_000).status_code == 200

    with pytest.raises(peewee.IntegrityError, match=key), db.unit_of_work(brand.id):
        db.db.run(_AGAIN.format(table=table, other=other, value=value), (brand.id,))

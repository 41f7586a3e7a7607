"""Earlier payments of a buyer are found by index, also with a plan that was made of empty tables."""

import pytest

from models import db
from models.gateways import creditable, payments
from models.imports import conversions
from tests.models.keys import hot_statements


@pytest.mark.usefixtures("alone")
def test_print(brand):
    with db.unit_of_work(brand.id):
        for hot in (creditable._NAMED, payments._REOPEN):
            for look in hot_statements.looks(hot):
                if look.table in ("sale", "conversion", "gateway_payment", "gateway_event", "program_customer", "lead"):
                    print(look.table, look.index, hot_statements._WALL.sub("", look.taken))
        sql = """select coalesce(sum(c.payments), 0), min(c.first_paid_at) filter (where c.payments > 0)
  from program_customer c
  where c.organization_id = $1 and c.program_id = $2
    and (c.customer_key = $3 or $4 is null and c.customer_key = $5)"""
        db.db.run(f"prepare looked(uuid, uuid, text, text, text) as {sql}")
        db.db.run("set local plan_cache_mode = force_generic_plan")
        for (line,) in db.db.run("explain execute looked(null, null, null, null, null)"):
            print(line)
        db.db.run("set local app.any_org = 'on'")
    assert 0

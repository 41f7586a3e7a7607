"""Queries for a customer's payments use indexes, also when planned with empty tables."""

import re

import pytest

from models import db
from models.gateways import credit_candidates, payments
from tests.models.keys import prepared_plans

_FUNCTION = "select prosrc from pg_proc where proname = 'customer_payments'"
_PARAMETERS = {"org": "$1", "program": "$2", "name": "$3", "email_name": "$4", "by_email.joined_to": "$5"}


def _list_index_lookups(prepared_statement, table):
    return [
        (lookup.index, lookup.index_conditions)
        for lookup in prepared_plans.read_accesses(prepared_statement)
        if lookup.table == table
    ]


@pytest.mark.usefixtures("isolated_database")
def test_earlier_payments_are_found_by_customer_indexes(brand):
    with db.unit_of_work(brand.id):
        lookups = [
            lookup
            for prepared_statement in (credit_candidates._CANDIDATES, payments._REOPEN)
            for table in ("sale", "gateway_payment", "conversion")
            for lookup in _list_index_lookups(prepared_statement, table)
        ]

    assert {index for index, _ in lookups} == {
        "sale_of_customer",
        "sale_of_inbox",
        "conversion_pkey",
        "conversion_of_past_customer",
        "conversion_of_past_subscription",
        "conversion_of_past_inbox",
        "gateway_payment_customer",
        "gateway_payment_subscription",
        "gateway_payment_email",
    }
    identity = re.compile(r"(customer_id|subscription_id|email_normalized|[.]id) = ")
    assert all(identity.search(conditions) for _, conditions in lookups), lookups


@pytest.mark.usefixtures("isolated_database")
def test_uncredited_events_are_reopened_by_id(brand):
    with db.unit_of_work(brand.id):
        (lookup,) = _list_index_lookups(payments._REOPEN, "gateway_event")

    assert "e.id = ANY" in lookup[1]


@pytest.mark.usefixtures("isolated_database")
def test_customer_payments_are_summed_by_the_customer_key_index(brand):
    with db.unit_of_work(brand.id):
        ((body,),) = db.db.run(_FUNCTION)
        from_clause = re.search(r"from program_customer c\n(.*?);", body, re.DOTALL)[1]
        for name, parameter in _PARAMETERS.items():
            from_clause = re.sub(rf"(?<![.\w]){re.escape(name)}\b", parameter, from_clause)
        statement = f"select sum(c.payments) from program_customer c {from_clause}"
        db.db.run(f"prepare summed (uuid, uuid, text, text, text) as {statement}")
        db.db.run("set local plan_cache_mode = force_generic_plan")
        plan = "\n".join(line for (line,) in db.db.run("explain execute summed (null, null, null, null, null)"))
        db.db.run("deallocate summed")

    assert re.search(r"Index Cond: .*customer_key = ANY", plan), plan

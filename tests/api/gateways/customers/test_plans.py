"""What is known of a customer is found by index, also with a plan that was made of empty tables."""

import re

import pytest

from models import db
from models.gateways import credit_candidates, payments
from tests.models.keys import prepared_plans

_FUNCTION = "select prosrc from pg_proc where proname = 'customer_payments'"
_PLACES = {"org": "$1", "program": "$2", "name": "$3", "email_name": "$4", "by_email.joined_to": "$5"}


def _taken(hot, table):
    return [
        (access.index, access.index_conditions) for access in prepared_plans.read_accesses(hot) if access.table == table
    ]


@pytest.mark.usefixtures("isolated_database")
def test_earlier_payments_of_a_buyer_are_found_by_who_they_are(brand):
    with db.unit_of_work(brand.id):
        taken = [
            look
            for hot in (credit_candidates._CANDIDATES, payments._REOPEN)
            for table in ("sale", "gateway_payment", "conversion")
            for look in _taken(hot, table)
        ]

    assert {index for index, _ in taken} == {
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
    who = re.compile(r"(customer_id|subscription_id|email_normalized|[.]id) = ")
    assert all(who.search(said) for _, said in taken), taken


@pytest.mark.usefixtures("isolated_database")
def test_events_of_uncredited_payments_are_booked_again_by_their_ids(brand):
    with db.unit_of_work(brand.id):
        (look,) = _taken(payments._REOPEN, "gateway_event")

    assert "e.id = ANY" in look[1]


@pytest.mark.usefixtures("isolated_database")
def test_payments_of_a_customer_are_summed_by_their_names_and_not_over_the_program(brand):
    with db.unit_of_work(brand.id):
        ((body,),) = db.db.run(_FUNCTION)
        asked = re.search(r"from program_customer c\n(.*?);", body, re.DOTALL)[1]
        for name, place in _PLACES.items():
            asked = re.sub(rf"(?<![.\w]){re.escape(name)}\b", place, asked)
        summed = f"select sum(c.payments) from program_customer c {asked}"
        db.db.run(f"prepare summed (uuid, uuid, text, text, text) as {summed}")
        db.db.run("set local plan_cache_mode = force_generic_plan")
        plan = "\n".join(line for (line,) in db.db.run("explain execute summed (null, null, null, null, null)"))
        db.db.run("deallocate summed")

    assert re.search(r"Index Cond: .*customer_key = ANY", plan), plan

"""Old tokens and brought customers are looked up by indexes, also when planned with empty tables."""

import re

import pytest

from models import db
from models.clicks import public_links
from models.conversions import sales
from models.gateways import credit_candidates, payments
from models.leads import rows
from tests.models.keys import prepared_plans

_BY_TOKEN = [
    sales._ACCEPT,
    sales._LOOK_UP,
    rows._BY_SLUG,
    public_links._FIND,
    public_links._FIND_BARE,
    public_links._FIND_BY_ID,
    public_links._FIND_BY_TAG,
    public_links._FIND_BY_SLUG,
    public_links._FIND_BY_PIXEL,
    credit_candidates._CANDIDATES,
]


def _list_lookups(statements, table):
    return [
        (access.index, access.index_conditions)
        for statement in statements
        for access in prepared_plans.read_accesses(statement)
        if access.table == table
    ]


@pytest.mark.usefixtures("isolated_database")
def test_links_are_found_by_old_token(brand):
    with db.unit_of_work(brand.id):
        lookups = _list_lookups(_BY_TOKEN, "old_token")

    assert len(lookups) == len(_BY_TOKEN)
    assert {index for index, _ in lookups} <= {"old_token_pkey", "old_token_anywhere"}
    assert all(re.search(r"token = ", conditions) for _, conditions in lookups), lookups


@pytest.mark.usefixtures("isolated_database")
def test_brought_customers_are_found_by_id_subscription_and_email(brand):
    with db.unit_of_work(brand.id):
        lookups = _list_lookups([credit_candidates._CANDIDATES, payments._LOCK_CONTEXT], "brought_customer")

    assert {index for index, _ in lookups} == {
        "brought_customer_by_id",
        "brought_customer_by_subscription",
        "brought_customer_by_inbox",
    }
    identity = re.compile(r"(customer_id|subscription_id|email_normalized) = ")
    assert all(identity.search(conditions) for _, conditions in lookups), lookups

"""The steps of setting up a brand, each checked by facts."""

import pytest

from tests.support.gateways.gateway_connections import connect_gateway, play_gateway
from tests.support.rows.program_rows import insert_click, insert_conversion, time_ago

URL = "/api/v1/onboarding"
_KEYS = ["profile", "program", "sales", "tag", "affiliate", "payouts", "webhook"]


def _read(brand):
    answer = brand.get(URL)
    assert answer.status_code == 200
    return answer.json


def _list_done(brand):
    return {step["key"] for step in _read(brand)["steps"] if step["isDone"]}


def test_new_brand_has_every_step_in_order(brand):
    answer = _read(brand)

    assert [step["key"] for step in answer["steps"]] == _KEYS
    assert answer["isDone"] is False
    assert {step["key"] for step in answer["steps"] if not step["isDone"]} >= {"program", "sales", "tag", "affiliate"}
    assert all("/dashboard" in step["url"] for step in answer["steps"])
    facts = answer["facts"]
    assert (facts["name"], facts["homeCurrency"], facts["lastSaleAt"]) == ("Brand", "USD", None)


def test_facts_finish_each_step(brand, drain):
    before = _list_done(brand)
    program_id = brand.program()
    assert _list_done(brand) - before == {"program"}
    ben = brand.affiliate("ben")
    assert _list_done(brand) - before == {"program", "affiliate"}
    brand.endpoint("https://localhost/hook")
    assert _list_done(brand) - before == {"program", "affiliate", "webhook"}
    brand.sale()
    drain()
    assert _list_done(brand) - before == {"program", "affiliate", "webhook", "sales"}
    insert_click(brand, ben)
    facts = _read(brand)["facts"]
    assert (facts["programId"], facts["isLastSaleTest"]) == (str(program_id), False)
    assert facts["lastClickAt"] is not None


def test_tag_that_a_page_loaded_is_installed(brand):
    program_id = brand.program()
    assert "tag" not in _list_done(brand)
    brand.app.test_client().get(f"/api/v1/r/c.gif?programId={program_id}")

    assert "tag" in _list_done(brand)
    assert _read(brand)["facts"]["tagSeenAt"] is not None


def test_step_that_is_undone_is_open_again(brand):
    brand.program()
    ((endpoint_id,),) = [(brand.endpoint("https://localhost/hook")["id"],)]
    assert "webhook" in _list_done(brand)
    brand.call("DELETE", f"/api/v1/webhooks/{endpoint_id}")

    assert "webhook" not in _list_done(brand)


def test_application_that_waits_is_no_affiliate(brand):
    brand.program()
    brand.affiliate("ben", status="Pending", approved_at=None)

    assert "affiliate" not in _list_done(brand)


def test_test_sale_counts_as_a_way_for_sales(brand, drain):
    brand.program()
    brand.affiliate("ben")
    brand.other_key(is_test=True).sale()
    drain()

    answer = _read(brand)
    assert "sales" in {step["key"] for step in answer["steps"] if step["isDone"]}
    assert answer["facts"]["isLastSaleTest"] is True


def test_first_sale_counts_however_much_was_imported_since(brand, drain):
    brand.program()
    ben = brand.affiliate("ben")
    brand.sale()
    drain()
    for number in range(60):
        insert_conversion(
            brand, ben, source="import", external_event_id=f"imported-{number}", created_at=time_ago(seconds=-60)
        )

    assert _read(brand)["facts"]["lastSaleAt"] is None
    assert "sales" in _list_done(brand)


def test_connection_counts_as_a_way_for_sales(brand):
    with play_gateway() as stage:
        connect_gateway(brand.person("Owner"), stage)
        facts = _read(brand)["facts"]

    assert (facts["gateway"], facts["gatewayLabel"]) == ("stripe", "Stripe")
    assert "sales" in _list_done(brand)


def test_payouts_wait_for_a_paid_plan(app, brand):
    assert "payouts" in _list_done(brand)
    brand.set(status="Trialing")

    assert "payouts" not in _list_done(brand)
    assert "paid plan" in _read(brand)["facts"]["payoutsBlockedMessage"]


def test_other_tenants_facts_do_not_count(brand, rival):
    rival.program()
    rival.affiliate("ben")
    rival.endpoint("https://localhost/hook")

    assert not _list_done(brand) & {"program", "affiliate", "webhook"}


@pytest.mark.parametrize("role", ["Viewer", "Manager"])
def test_every_role_reads_the_steps(brand, role):
    assert brand.person(role).get(URL).status_code == 200

"""What an undo keeps, and why; its preview says the same. Source: the switch-over rules, "Undo"."""

from collections import Counter
from typing import Any

import pytest

from models import db
from tests.support.job_queues import drain
from tests.support.rows.brands import Brand
from tests.support.rows.payroll import Payroll
from tests.support.rows.program_rows import insert_click, insert_conversion
from tests.support.running import row_ids
from tests.support.switches import undoing
from tests.support.switches.judged_rows import JudgedSwitch, list_exceptions

_NOTHING = {"affiliates": 0, "links": 0, "codes": 0, "customers": 0, "commissions": 0}


@pytest.fixture
def brand(app) -> Brand:
    brand = Brand.create(app)
    brand.program()
    return brand


def _execute(brand: Brand, sql: str, *params: object) -> None:
    with db.unit_of_work(brand.id):
        db.db.stage(sql, params)


def _list_affiliates(brand: Brand) -> set[str]:
    return {email for (email,) in brand.rows("select email from affiliate where deleted_at is null")}


def _undo_as_previewed(switch: JudgedSwitch) -> tuple[dict[str, int], dict[str, int]]:
    """Undo the switch, compare what is left with the preview, and return what was kept and why."""
    brand, result = switch.brand, undoing.preview(switch)
    undoing.undo(switch)
    left: Counter[str] = Counter()
    for collection, count in brand.rows(
        "select collection, count(*) from switch_item where switch_id = %s and is_written group by 1", switch.id
    ):
        left[collection] = count
    assert {name: left[name] for name in result["would_keep"]} == result["would_keep"]
    assert sum(result["kept_because"].values()) == sum(result["would_keep"].values())
    assert list_exceptions(brand.id) == []
    return result["would_keep"], result["kept_because"]


def _bring_two_customers(switch: JudgedSwitch) -> None:
    """Bring ben with a customer of two sales, a link and a code, and eve with one customer of one sale."""
    ben, eve = switch.affiliate("ben@example.com"), switch.affiliate("eve@example.com")
    switch.link(ben, row_ids.new_id(), slug="ben-blog")
    switch.code(ben, "BEN10")
    switch.code(eve, "EVE10")
    for affiliate, name, number in ((ben, "cus_ben", 2), (eve, "cus_eve", 1)):
        email = f"{name.replace('_', '-')}@example.com"
        switch.customer(affiliate, name, payments=number, added_payments=number)
        for _ in range(number):
            switch.commission(affiliate, processor_customer_id=name, customer_email=email)


@pytest.mark.parametrize("names", [{"customerId": "cus_ben"}, {"customerEmail": "Cus-Ben@example.com"}])
def test_customer_who_paid_again_is_kept_with_their_conversions_and_affiliate(brand, names):
    # given
    switch = JudgedSwitch(brand)
    _bring_two_customers(switch)
    switch.run()
    assert brand.sale(affiliateSlug="ben", **names).status_code == 200
    drain("sales")

    # when
    counts, reasons = _undo_as_previewed(switch)

    # then
    assert counts == {"affiliates": 1, "links": 1, "codes": 1, "customers": 1, "commissions": 2}
    assert reasons == {"later_payment": 6}
    assert _list_affiliates(brand) == {"ben@example.com"}
    assert brand.rows("select customer_id, payments from brought_customer") == [("cus_ben", 2)]
    assert brand.rows("select count(*) from conversion where switch_id is not null") == [(2,)]
    assert brand.rows("select code from affiliate_coupon") == [("BEN10",)]
    assert brand.rows("select slug from tracking_link where deleted_at is null order by 1") == [("ben",), ("ben-blog",)]
    assert brand.rows("select payments from program_customer where customer_key = 'id:cus_ben'") == [(3,)]
    assert brand.rows("select count(*) from program_customer where customer_key like '%%eve%%'") == [(0,)]


def test_lead_here_keeps_a_customer_too(brand):
    switch = JudgedSwitch(brand)
    ben = switch.affiliate("ben@example.com")
    switch.customer(ben, "cus_ben", first_paid_at=None, payments=0, added_payments=0)
    switch.run()
    answer = brand.post_signed("/api/tracking/lead", {"affiliateSlug": "ben", "email": "cus-ben@example.com"})
    assert answer.status_code == 200

    counts, reasons = _undo_as_previewed(switch)

    assert counts == _NOTHING | {"affiliates": 1, "customers": 1}
    assert reasons == {"later_payment": 2}


def test_sale_through_another_affiliate_keeps_no_customer(brand):
    # given
    switch = JudgedSwitch(brand)
    _bring_two_customers(switch)
    brand.affiliate("mia")
    switch.run()
    assert brand.sale(affiliateSlug="mia", customerId="cus_ben").status_code == 200
    drain("sales")

    # when
    counts, reasons = _undo_as_previewed(switch)

    # then: the count of the payment here is left
    assert (counts, reasons) == (_NOTHING, {})
    assert _list_affiliates(brand) == {"mia@example.com"}
    assert brand.rows("select payments from program_customer where customer_key = 'id:cus_ben'") == [(1,)]


def test_customer_of_a_later_switch_is_kept(brand):
    # given: a second switch brings one more payment of the customer
    first = JudgedSwitch(brand)
    ben, eve = first.affiliate("ben@example.com"), first.affiliate("eve@example.com")
    customer = first.customer(ben, "cus_ben")
    first.customer(eve, "cus_eve")
    names = {"processor_customer_id": "cus_ben", "customer_email": "cus-ben@example.com"}
    first.commission(ben, **names)
    first.commission(eve, processor_customer_id="cus_eve")
    first.run()
    second = JudgedSwitch(brand)
    second.customer(ben, "cus_ben", customer_id=customer, payments=2)
    second.commission(ben, **names)
    second.run()

    # when
    counts, reasons = _undo_as_previewed(first)

    # then
    assert counts == _NOTHING | {"affiliates": 1, "customers": 1, "commissions": 1}
    assert reasons == {"later_payment": 3}
    assert brand.rows("select customer_id, payments from brought_customer") == [("cus_ben", 2)]

    # when: the later one goes first
    undoing.undo(second)

    # then
    assert brand.rows("select customer_id, payments from brought_customer") == [("cus_ben", 1)]
    assert brand.rows("select count(*) from conversion") == [(1,)]
    assert list_exceptions(brand.id) == []


def test_payment_between_the_slices_credits_nobody_who_goes(brand):
    # given: the customers' slice is done, and the customer pays then
    switch = JudgedSwitch(brand)
    _bring_two_customers(switch)
    switch.run()
    undoing.start(switch)
    undoing.take_next_slice(switch)
    assert brand.sale(affiliateSlug="ben", customerId="cus_ben").status_code == 200
    drain()

    # then: only the affiliate is needed by the new sale
    assert switch.find().state == "Undone"
    assert _list_affiliates(brand) == {"ben@example.com"}
    assert brand.rows("select count(*) from conversion where switch_id is not null") == [(0,)]
    assert list_exceptions(brand.id) == []


def test_conversion_in_a_payout_is_kept(app):
    # given
    payroll = Payroll.create(app)
    switch = JudgedSwitch(payroll.brand)
    ben = switch.affiliate("ben@example.com")
    paid = switch.commission(ben, status="Approved", is_locked=False)
    switch.run()
    payroll.execute("update affiliate set payout_method = 'ProcessorConnect', payout_destination = 'acct_ben'")
    payroll.run()
    payroll.pay()
    assert payroll.brand.rows("select status from conversion") == [("Paid",)]

    # when
    counts, reasons = _undo_as_previewed(switch)

    # then
    assert counts == _NOTHING | {"affiliates": 1, "commissions": 1}
    assert reasons == {"in_payout": 1, "in_use": 1}
    assert payroll.brand.rows("select id from conversion") == [(paid,)]


def test_conversion_that_was_refunded_here_is_kept(brand):
    # given: one refund came from the other system, and another one is booked here
    switch = JudgedSwitch(brand)
    ben = switch.affiliate("ben@example.com")
    switch.commission(ben, status="Approved", is_locked=False, refunded_cents=100)
    sale = switch.commission(ben, status="Approved", is_locked=False)
    switch.commission(ben, act="refund", conversion_id=sale, commission_cents=100, refunded_cents=500)
    switch.run()
    answer = brand.person().post(f"/api/v1/conversions/{sale}/refund", {"reason": "other", "amountCents": 300})
    assert answer.status_code == 200, answer.json

    # when
    counts, reasons = _undo_as_previewed(switch)

    # then
    assert counts == _NOTHING | {"affiliates": 1, "commissions": 2}
    assert reasons == {"refunded": 2, "in_use": 1}
    assert brand.rows("select id from conversion") == [(sale,)]


def test_conversion_with_an_override_is_kept(brand):
    switch = JudgedSwitch(brand)
    ben = switch.affiliate("ben@example.com")
    sale = switch.commission(ben)
    switch.run()
    ann = brand.affiliate("ann")
    insert_conversion(brand, ann, source="override", parent_id=sale, amount_cents=0)

    reasons = undoing.preview(switch)["kept_because"]
    undoing.undo(switch)

    assert reasons == {"override": 1, "in_use": 1}
    assert brand.rows("select count(*) from conversion where id = %s", sale) == [(1,)]


@pytest.mark.parametrize("use", ["account", "click", "link", "recruit", "code", "coupon", "sale"])
def test_affiliate_in_use_is_kept(brand, use):
    # given: two affiliates, of whom one is used
    switch = JudgedSwitch(brand)
    ben = switch.affiliate("ben@example.com")
    switch.code(ben, "BEN10")
    eve = switch.affiliate("eve@example.com")
    switch.commission(ben)
    switch.commission(eve)
    switch.run()
    _use(brand, use, ben)

    # when
    counts, reasons = _undo_as_previewed(switch)

    # then: the history goes, the person stays
    assert counts == _NOTHING | {"affiliates": 1, "codes": 1}
    assert reasons == {"in_use": 2}
    assert "ben@example.com" in _list_affiliates(brand)
    assert "eve@example.com" not in _list_affiliates(brand)
    assert brand.rows("select count(*) from conversion where switch_id is not null") == [(0,)]


def _use(brand: Brand, use: str, affiliate_id: Any) -> None:
    if use == "account":
        account_id = row_ids.new_id()
        with db.any_org_work():
            db.db.stage(
                "insert into affiliate_account (id, subject, email) values (%s, %s, %s)",
                (account_id, f"local:{account_id}", "ben@example.com"),
            )
        _execute(brand, "update affiliate set account_id = %s where id = %s", account_id, affiliate_id)
    elif use == "click":
        insert_click(brand, affiliate_id)
    elif use == "recruit":
        brand.affiliate("rob", recruited_by_affiliate_id=affiliate_id)
    elif use == "link":
        _execute(
            brand,
            "insert into tracking_link (id, organization_id, program_id, affiliate_id, slug, is_default)"
            " values (%s, %s, %s, %s, 'own', false)",
            *(row_ids.new_id(), brand.id, brand.programs[0], affiliate_id),
        )
    elif use == "code":
        _execute(
            brand,
            "insert into affiliate_coupon (id, organization_id, program_id, affiliate_id, code, origin, status,"
            " created_at) values (%s, %s, %s, %s, 'OWN', 'external', 'Active', now())",
            *(row_ids.new_id(), brand.id, brand.programs[0], affiliate_id),
        )
    elif use == "coupon":
        _execute(brand, "update affiliate_coupon set redemption_count = 1, last_redeemed_at = now()")
    else:
        assert brand.sale(affiliateSlug="ben").status_code == 200
        drain("sales")


def test_redeemed_code_of_a_merged_affiliate_is_kept(brand):
    switch = JudgedSwitch(brand)
    brand.affiliate("ben-here", email="ben@example.com")
    ben = switch.affiliate("ben@example.com")
    switch.code(ben, "BEN10")
    switch.code(ben, "BEN20")
    switch.run()
    _execute(brand, "update affiliate_coupon set redemption_count = 1 where code = 'BEN10'")

    counts, reasons = _undo_as_previewed(switch)

    assert (counts, reasons) == (_NOTHING | {"codes": 1}, {"in_use": 1})
    assert brand.rows("select code from affiliate_coupon") == [("BEN10",)]


def test_changed_commission_that_was_changed_here_since_stays(brand):
    # given: the later state is Denied there, and a person validates it here
    first = JudgedSwitch(brand)
    ben = first.affiliate("ben@example.com")
    sale = first.commission(ben, status="Pending")
    first.run()
    second = JudgedSwitch(brand)
    second.commission(ben, act="change", conversion_id=sale, status="Denied", is_locked=True)
    second.run()
    _execute(brand, "update conversion set status = 'Pending', payout_locked = true")

    undoing.undo(second)

    assert brand.rows("select status, payout_locked from conversion") == [("Pending", True)]
    assert list_exceptions(brand.id) == []

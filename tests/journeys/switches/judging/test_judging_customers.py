"""Customers of a switch: reasons, first payment, number of payments, who is credited."""

import pytest

from domain.switches.reasons import LeftOutReason
from domain.switches.records import (
    AffiliateRef,
    CommissionKind,
)
from models import db
from tests.support.rows.brands import Brand
from tests.support.switches.scene import SwitchScene, days_ago
from tests.support.switches.source_records import build_affiliate, build_commission, build_customer


@pytest.fixture
def scene(brand: Brand, monkeypatch):
    brand.program(referral_destination_url="https://brand.example/")
    return SwitchScene.create(
        brand, monkeypatch, campaigns={"main": brand.programs[-1], "second": brand.programs[-1], "left": None}
    )


def test_odd_customers_have_their_reasons(scene):
    scene.read("affiliates", [build_affiliate("ann")])
    scene.read(
        "customers",
        [
            build_customer("u1", email="x@example.com"),
            build_customer("u2", affiliate=None, email="y@example.com"),
            build_customer("u3"),
            build_customer("u4", claimed_id="user 7"),
            build_customer("u5", email="z@example.com", problem=LeftOutReason.MovedCustomer),
            build_customer("u6", email="v@example.com", problem=LeftOutReason.LeadExpired),
            build_customer("u7", email="w@example.com", problem=LeftOutReason.TestRow),
            build_customer("u8", email="n@example.com", affiliate=AffiliateRef(id="nobody")),
            build_customer("u9", email="l@example.com", campaign="left"),
        ],
    )

    scene.judge()

    assert scene.reasons("customers") == {
        "u1": None,
        "u2": "customer_without_affiliate",
        "u3": "customer_without_name",
        "u4": "customer_without_name",
        "u5": "moved_customer",
        "u6": "lead_expired",
        "u7": "test_row",
        "u8": "affiliate_unknown",
        "u9": "campaign_not_mapped",
    }


def test_customer_has_the_earlier_first_payment_and_the_greater_count(scene):
    stated = days_ago(30)
    scene.read("affiliates", [build_affiliate("ann")])
    scene.read(
        "customers",
        [
            build_customer("u1", billing_id="cus_1", first_paid_at=stated, payments=5),
            build_customer("u2", billing_id="cus_2", first_paid_at=days_ago(5)),
            build_customer("u3", billing_id="cus_3", became_lead_at=days_ago(7)),
        ],
    )
    earliest, latest = days_ago(40), days_ago(4)
    scene.read(
        "commissions",
        [
            build_commission("c1", customer="u1", occurred_at=days_ago(20)),
            build_commission("c2", customer="u2", occurred_at=earliest, payment="p2"),
            build_commission("c3", customer="u2", occurred_at=earliest, payment="p2", amount_cents=10_000),
            build_commission("c4", customer="u2", occurred_at=latest, kind=CommissionKind.Refunded),
            build_commission("c5", customer="u2", occurred_at=days_ago(50), amount_cents=0, is_sale=False),
        ],
    )

    scene.judge()

    decided_rows = scene.decisions("customers")
    facts = {name: (row["first_paid_at"], row["payments"], row["added_payments"]) for name, row in decided_rows.items()}
    assert facts == {
        "u1": (stated.isoformat(), 5, 5),
        "u2": (earliest.isoformat(), 2, 2),
        "u3": (None, 0, 0),
    }
    assert decided_rows["u2"]["seen_at"] == latest.isoformat()
    assert decided_rows["u3"]["seen_at"] == days_ago(7).isoformat()


def test_several_rows_of_a_customer_become_one_with_the_latest_affiliate(scene):
    scene.read("affiliates", [build_affiliate("ann"), build_affiliate("bob")])
    scene.read(
        "customers",
        [
            build_customer("u1", billing_id="cus_1", first_paid_at=days_ago(30)),
            build_customer(
                "u2",
                billing_id="cus_1",
                first_paid_at=days_ago(3),
                affiliate=AffiliateRef(id="bob"),
                email="x@example.com",
            ),
        ],
    )

    scene.judge()

    assert scene.verdicts("customers") == {"u1": "merged", "u2": "new"}
    decision = scene.decisions("customers")["u2"]
    assert decision["affiliate_id"] == str(scene.rows("affiliates")["bob"].target_id)
    assert decision["email"] == "x@example.com"
    assert decision["first_paid_at"] == days_ago(30).isoformat()


def test_customer_without_a_row_is_credited_to_the_newest_commissions_affiliate(scene):
    scene.read("affiliates", [build_affiliate("ann"), build_affiliate("bob")])
    names = {"billing_id": "cus_1", "customer_email": "x@example.com"}
    scene.read(
        "commissions",
        [
            build_commission("c1", occurred_at=days_ago(1), affiliate=AffiliateRef(id="bob"), **names),
            build_commission("c2", occurred_at=days_ago(9), **names),
        ],
    )

    preview = scene.judge()

    (decision,) = scene.decisions("customers").values()
    assert decision["affiliate_id"] == str(scene.rows("affiliates")["bob"].target_id)
    assert (decision["processor_customer_id"], decision["email"]) == ("cus_1", "x@example.com")
    assert decision["payments"] == 2
    assert preview["to_confirm"]["customers"] == 1


def test_two_people_of_one_email_with_different_billing_ids_stay_two(scene):
    scene.read("affiliates", [build_affiliate("ann")])
    scene.read(
        "customers",
        [
            build_customer("u1", billing_id="cus_1", email="x@example.com"),
            build_customer("u2", billing_id="cus_2", email="x@example.com"),
        ],
    )

    scene.judge()

    assert scene.verdicts("customers") == {"u1": "new", "u2": "new"}


@pytest.mark.parametrize(("rule", "billing_id"), [("auto", None), ("billing", "user 7"), ("own", None)])
def test_option_says_whose_id_a_customer_has(scene, rule, billing_id):
    scene.change(options={"customer_id_is": rule})
    scene.read("affiliates", [build_affiliate("ann")])
    scene.read("customers", [build_customer("u1", claimed_id="user 7", email="x@example.com")])

    scene.judge()

    assert scene.decisions("customers")["u1"]["processor_customer_id"] == billing_id


def test_customer_of_an_earlier_switch_is_known_and_changes_with_more_payments(scene):
    scene.read("affiliates", [build_affiliate("ann")])
    scene.read(
        "customers",
        [
            build_customer(name, billing_id=f"cus_{name}", first_paid_at=days_ago(30), payments=2)
            for name in ("u1", "u2")
        ],
    )
    affiliate_id = scene.brand.affiliate("ann")
    with db.unit_of_work(scene.brand.id):
        for name, payments in (("u1", 2), ("u2", 1)):
            db.db.stage(
                """
                insert into brought_customer (id, organization_id, program_id, affiliate_id, switch_id, source,
                  source_id, customer_id, first_paid_at, payments, seen_at, cut_over_at, created_at)
                values (gen_random_uuid(), %s, %s, %s, %s, 'rewardful', %s, %s, %s, %s, now(), now(), now())
                """,
                (
                    scene.brand.id,
                    scene.brand.programs[-1],
                    affiliate_id,
                    scene.id,
                    name,
                    f"cus_{name}",
                    days_ago(30),
                    payments,
                ),
            )

    scene.judge()

    assert scene.verdicts("customers") == {"u1": "known", "u2": "changed"}
    assert scene.decisions("customers")["u2"]["added_payments"] == 1


@pytest.mark.parametrize("first", ["nameless", "left", None])
def test_customer_without_a_row_is_credited_although_the_first_commission_is_left_out(scene, first):
    scene.read(
        "affiliates",
        [build_affiliate("ann"), build_affiliate("nameless", email=None), build_affiliate("left", campaign="left")],
    )
    scene.read(
        "commissions",
        [
            build_commission("c1", first, customer="r1", billing_id="cus_1", occurred_at=days_ago(60)),
            build_commission("c2", customer="r1", billing_id="cus_1", occurred_at=days_ago(30)),
            build_commission("c3", customer="r1", billing_id="cus_1", occurred_at=days_ago(3)),
        ],
    )

    scene.judge()

    assert scene.reasons("commissions") == {"c1": "affiliate_unknown", "c2": None, "c3": None}
    (decision,) = [decision for decision in scene.decisions("customers").values() if decision]
    assert decision["affiliate_id"] == str(scene.rows("affiliates")["ann"].target_id)
    assert (decision["payments"], decision["first_paid_at"]) == (2, days_ago(30).isoformat())


def test_row_without_an_affiliate_is_credited_to_the_newest_commissions(scene):
    scene.read("affiliates", [build_affiliate("ann"), build_affiliate("bob")])
    scene.read(
        "customers",
        [
            build_customer("u1", affiliate=None, billing_id="cus_1"),
            build_customer("u2", affiliate=None, billing_id="cus_2", problem=LeftOutReason.CustomerWithoutAffiliate),
            build_customer("u3", affiliate=None, billing_id="cus_3", created_at=days_ago(1)),
            build_customer("u4", billing_id="cus_3", created_at=days_ago(2)),
            build_customer("u5", affiliate=None, billing_id="cus_5"),
        ],
    )
    scene.read(
        "commissions",
        [
            build_commission("c1", customer="u1", occurred_at=days_ago(20)),
            build_commission("c2", "bob", customer="u1", occurred_at=days_ago(2)),
            build_commission("c3", "bob", customer="u2"),
            build_commission("c4", "bob", customer="u3"),
            build_commission("c5", "nobody", customer="u5"),
        ],
    )

    scene.judge()

    assert scene.verdicts("customers") == {"u1": "new", "u2": "new", "u3": "merged", "u4": "new", "u5": "left_out"}
    assert scene.reasons("customers")["u5"] == "customer_without_affiliate"
    ann, bob = (str(scene.rows("affiliates")[name].target_id) for name in ("ann", "bob"))
    decisions = scene.decisions("customers")
    assert [decisions[name]["affiliate_id"] for name in ("u1", "u2", "u4")] == [bob, bob, ann]


def test_payments_without_an_amount_count_and_date_the_first_only_where_nothing_else_does(scene):
    stated = days_ago(30)
    scene.read("affiliates", [build_affiliate("ann")])
    scene.read(
        "customers",
        [
            build_customer("u1", billing_id="cus_1", created_at=days_ago(400)),
            build_customer("u2", billing_id="cus_2", first_paid_at=stated),
            build_customer("u3", billing_id="cus_3", created_at=days_ago(9)),
        ],
    )
    scene.read(
        "commissions",
        [
            build_commission("c1", customer="u1", amount_cents=0, payment="p1", occurred_at=days_ago(60)),
            build_commission("c2", customer="u1", amount_cents=0, payment="p1", occurred_at=days_ago(60)),
            build_commission("c3", customer="u1", amount_cents=0, occurred_at=days_ago(20)),
            build_commission("c4", customer="u2", amount_cents=0, occurred_at=days_ago(50)),
            build_commission("c5", customer="u2", occurred_at=days_ago(20)),
            build_commission("c6", customer="u3", amount_cents=0, is_sale=False),
            build_commission("c7", customer="u3", amount_cents=0, commission_cents=0),
        ],
    )

    scene.judge()

    facts = {name: (row["first_paid_at"], row["payments"]) for name, row in scene.decisions("customers").items()}
    assert facts == {"u1": (days_ago(60).isoformat(), 2), "u2": (stated.isoformat(), 2), "u3": (None, 0)}


def test_names_that_rows_lack_are_those_of_the_newest_commissions(scene):
    scene.read("affiliates", [build_affiliate("ann")])
    scene.read(
        "customers",
        [
            build_customer("u1", email="x@example.com"),
            build_customer("u2", billing_id="cus_2", subscription_id="sub_2"),
        ],
    )
    scene.read(
        "commissions",
        [
            build_commission("c1", customer="u1", billing_id="cus_1", subscription_id="sub_1", occurred_at=days_ago(3)),
            build_commission("c2", customer="u1", subscription_id="sub_0", occurred_at=days_ago(30)),
            build_commission("c3", customer="u2", subscription_id="sub_3", customer_email="y@example.com"),
        ],
    )

    scene.judge()

    assert {
        name: (row["processor_customer_id"], row["processor_subscription_id"], row["email"])
        for name, row in scene.decisions("customers").items()
    } == {"u1": ("cus_1", "sub_1", "x@example.com"), "u2": ("cus_2", "sub_2", "y@example.com")}

"""Negative commissions of a switch become refunds."""

import pytest

from domain.switches.records import CommissionKind
from tests.support.rows.brands import Brand
from tests.support.switches.scene import SwitchScene, days_ago
from tests.support.switches.source_records import build_affiliate, build_commission


@pytest.fixture
def scene(brand: Brand, monkeypatch):
    brand.program()
    scene = SwitchScene.create(brand, monkeypatch)
    scene.read("affiliates", [build_affiliate("ann")])
    return scene


def test_negative_commission_is_booked_on_the_sale_of_its_payment(scene):
    scene.read(
        "commissions",
        [
            build_commission("c1", payment="p1"),
            build_commission("c2", payment="p2"),
            build_commission("r1", payment="p1", amount_cents=-4_000, commission_cents=-800),
        ],
    )

    preview = scene.judge()

    decided_rows = scene.decisions("commissions")
    refund = decided_rows["r1"]
    assert refund["act"] == "refund"
    assert refund["conversion_id"] == decided_rows["c1"]["conversion_id"]
    assert (refund["refunded_cents"], refund["commission_cents"]) == (4_000, 800)
    money = preview["money"][0]
    assert (money["commission_cents"], money["paid_cents"]) == (3_200, 3_200)
    assert (money["sales"], money["gross_cents"], money["refunded_cents"]) == (2, 20_000, 4_000)


def test_negative_commission_without_a_payment_takes_the_newest_sale_that_is_large_enough(scene):
    names = {"billing_id": "cus_1"}
    scene.read(
        "commissions",
        [
            build_commission("c1", occurred_at=days_ago(30), commission_cents=3_000, **names),
            build_commission("c2", occurred_at=days_ago(20), commission_cents=3_000, **names),
            build_commission("c3", occurred_at=days_ago(10), commission_cents=500, **names),
            build_commission("c4", occurred_at=days_ago(1), commission_cents=3_000, **names),
            build_commission("r1", occurred_at=days_ago(5), commission_cents=-2_000, amount_cents=0, **names),
        ],
    )

    scene.judge()

    decided_rows = scene.decisions("commissions")
    assert decided_rows["r1"]["conversion_id"] == decided_rows["c2"]["conversion_id"]


def test_refunds_take_no_more_than_the_sale_has(scene):
    scene.read(
        "commissions",
        [
            build_commission("c1", payment="p1", refunded_cents=1_000),
            build_commission("r1", payment="p1", amount_cents=-8_000, commission_cents=-1_500),
            build_commission("r2", payment="p1", amount_cents=-8_000, commission_cents=-1_500),
        ],
    )

    scene.judge()

    decided_rows = scene.decisions("commissions")
    taken = [(decided_rows[name]["refunded_cents"], decided_rows[name]["commission_cents"]) for name in ("r1", "r2")]
    assert taken == [(8_000, 1_500), (1_000, 500)]


def test_refunds_without_a_payment_take_one_sale_after_the_other(scene):
    names = {"billing_id": "cus_1"}
    takes = {"amount_cents": -10_000, "commission_cents": -2_000, **names}
    scene.read(
        "commissions",
        [
            *(build_commission(f"c{age}", occurred_at=days_ago(age), **names) for age in (60, 50, 40, 30)),
            build_commission("x1", occurred_at=days_ago(5), **takes),
            build_commission("x2", occurred_at=days_ago(45), **takes),
            build_commission("x3", occurred_at=days_ago(4), **takes),
            build_commission("x4", occurred_at=days_ago(4), **takes),
            build_commission("x5", occurred_at=days_ago(4), **takes),
        ],
    )

    scene.judge()

    decided_rows = scene.decisions("commissions")
    sales = {decision["conversion_id"]: name for name, decision in decided_rows.items() if decision and name[0] == "c"}
    taken = {name: sales[decided_rows[name]["conversion_id"]] for name in ("x1", "x2", "x3", "x4")}
    assert taken == {"x1": "c30", "x2": "c50", "x3": "c40", "x4": "c60"}
    assert scene.reasons("commissions")["x5"] == "negative_without_sale"


def test_refund_of_a_sale_that_others_took_back_wholly_is_left_out(scene):
    takes = {"payment": "p1", "amount_cents": -10_000, "commission_cents": -2_000}
    scene.read("commissions", [build_commission("c1", payment="p1"), build_commission("r1", **takes)])
    scene.read("commissions", [build_commission("r2", **takes)])

    preview = scene.judge()

    assert scene.reasons("commissions") == {"c1": None, "r1": None, "r2": "negative_without_sale"}
    assert preview["to_confirm"]["commissions"] == 2


@pytest.mark.parametrize("left_out", [{"kind": None}, {"currency": "XXX"}])
def test_refund_is_not_taken_from_another_affiliate_or_another_payment(scene, left_out):
    scene.read("affiliates", [build_affiliate("ben")])
    names = {"billing_id": "cus_1"}
    scene.read(
        "commissions",
        [
            build_commission("c0", "ben", payment="p0", **names),
            build_commission("c1", payment="p1", **names),
            build_commission("c2", "ben", payment="p1", **names | left_out),
            build_commission("r2", "ben", payment="p1", commission_cents=-500, **names),
        ],
    )

    scene.judge()

    assert scene.reasons("commissions")["r2"] == "negative_without_sale"


def test_refund_of_an_unpaid_sale_lowers_what_becomes_payable(scene):
    scene.change(options={"unpaid": "payable"})
    scene.read(
        "commissions",
        [
            build_commission("c1", payment="p1", kind=CommissionKind.Owed),
            build_commission("r1", payment="p1", kind=CommissionKind.Owed, commission_cents=-500),
        ],
    )

    preview = scene.judge()

    assert preview["to_confirm"]["payable"] == [{"currency": "USD", "cents": 1_500}]


@pytest.mark.parametrize(
    ("unpaid", "kind", "owed"),
    [
        ("payable", CommissionKind.Owed, -500),
        ("payable", CommissionKind.Pending, -500),
        ("payable", CommissionKind.Paid, 0),
        ("payable", CommissionKind.Held, 0),
        ("history", CommissionKind.Owed, 0),
    ],
)
def test_refund_of_a_paid_sale_is_owed_back_unless_it_is_settled_there(scene, unpaid, kind, owed):
    scene.change(options={"unpaid": unpaid})
    scene.read(
        "commissions",
        [
            build_commission("c1", payment="p1", kind=CommissionKind.Paid),
            build_commission("r1", payment="p1", kind=kind, commission_cents=-500),
        ],
    )

    preview = scene.judge()

    assert preview["to_confirm"]["payable"] == ([{"currency": "USD", "cents": owed}] if owed else [])
    assert scene.decisions("commissions")["r1"]["is_owed_back"] is bool(owed)


def test_refund_has_the_same_id_when_it_is_judged_again(scene):
    rows = [build_commission("c1", payment="p1"), build_commission("r1", payment="p1", commission_cents=-500)]
    scene.read("commissions", rows)
    scene.judge()
    first = scene.rows("commissions")["r1"].target_id

    scene.judge_again()

    assert scene.rows("commissions")["r1"].target_id == first
    assert scene.verdicts("commissions")["r1"] == "new"

"""The figures of a source beside the sums of its rows."""

import pytest

from adapters import clock
from commands.demo.played.sample import Sample
from domain.switches.figures import FigureName
from domain.switches.reasons import LeftOutReason
from domain.switches.records import (
    AffiliateRef,
    CommissionKind,
    SourceCustomer,
    SourceGroup,
    SourcePayout,
)
from models import db
from pipelines.switches import changes
from pipelines.switches.judgement import figure_comparison
from tests.support.job_queues import drain
from tests.support.rows.brands import Brand
from tests.support.switches.played_switch import switching
from tests.support.switches.scene import SwitchScene, days_ago
from tests.support.switches.source_records import build_affiliate, build_commission


@pytest.fixture
def scene(brand: Brand, monkeypatch):
    brand.program()
    scene = SwitchScene.create(brand, monkeypatch)
    scene.read("affiliates", [build_affiliate("ann"), build_affiliate("bob")])
    return scene


@pytest.mark.parametrize(
    ("name", "subject", "currency", "value"),
    [
        (FigureName.TotalAffiliates, "", "", 2),
        (FigureName.TotalCustomers, "", "", 2),
        (FigureName.TotalCommissions, "", "", 4),
        (FigureName.Referrals, "", "", 2),
        (FigureName.Sales, "", "", 4),
        (FigureName.SaleAmount, "", "USD", 40_000),
        (FigureName.CommissionAmount, "", "USD", 4_009),
        (FigureName.PaidCommission, "", "USD", 2_009),
        (FigureName.Referrals, "ann", "", 2),
        (FigureName.PayingCustomers, "ann", "", 1),
        (FigureName.Sales, "ann", "", 3),
        (FigureName.SaleAmount, "ann", "USD", 30_000),
        (FigureName.CommissionAmount, "ann", "USD", 4_000),
        (FigureName.PaidCommission, "ann", "USD", 2_000),
        (FigureName.Balance, "ann", "USD", 2_500),
        (FigureName.CustomerSales, "u1", "", 2),
        (FigureName.CustomerSaleAmount, "u1", "USD", 20_000),
    ],
)
def test_figure_of_the_source_is_compared_with_the_rows(scene, name, subject, currency, value):
    scene.read(
        "customers",
        [
            SourceCustomer("u1", AffiliateRef(id="ann"), "main", billing_id="cus_1", first_paid_at=days_ago(10)),
            SourceCustomer("u2", AffiliateRef(id="ann"), "main", billing_id="cus_2"),
        ],
    )
    scene.read(
        "commissions",
        [
            build_commission("c1", customer="u1"),
            build_commission("c2", customer="u1", kind=CommissionKind.Owed),
            build_commission("c3", kind=CommissionKind.Refunded),
            build_commission("c4", "bob", commission_cents=9, billing_id="cus_2"),
        ],
    )
    scene.read("payouts", [SourcePayout("p1", AffiliateRef(id="ann"), "USD", 1_500, is_done=True)])
    scene.state_figure(name, value + 3, subject=subject, currency=currency)

    preview = scene.judge()

    figure = next(row for row in preview["figures"] if row["name"] == name)
    label = {"ann": "ann@example.com", "u1": "cus_1"}.get(subject)
    assert (figure["of"], figure["currency"]) == (label, currency or None)
    assert (figure["theirs"], figure["read"], figure["difference"]) == (value + 3, value, 3)


def test_done_payouts_are_compared_with_paid_commissions_in_each_currency(scene):
    scene.read("commissions", [build_commission("c1"), build_commission("c2", kind=CommissionKind.Owed)])
    scene.read(
        "payouts",
        [
            SourcePayout("p1", AffiliateRef(id="ann"), "USD", 1_500, is_done=True),
            SourcePayout("p2", AffiliateRef(id="ann"), "USD", 500, is_done=False),
        ],
    )

    preview = scene.judge()

    assert preview["figures"] == [
        {
            "name": "paid_payouts",
            "of": None,
            "currency": "USD",
            "theirs": 1_500,
            "read": 2_000,
            "difference": -500,
            "explained": [],
        }
    ]


def test_paid_commissions_of_a_currency_without_payouts_differ(scene):
    scene.read("commissions", [build_commission("c1"), build_commission("c2", currency="EUR")])
    scene.read("payouts", [SourcePayout("p1", AffiliateRef(id="ann"), "USD", 2_000, is_done=True)])

    figures = scene.judge()["figures"]

    assert [(row["currency"], row["theirs"], row["read"]) for row in figures] == [
        ("EUR", 0, 2_000),
        ("USD", 2_000, 2_000),
    ]


def test_group_counts_a_person_of_two_programs_once(scene):
    rows = [("7/a", "ann"), ("7/b", "ann"), ("8/a", None), ("8/b", None)]
    people = [
        build_affiliate(
            source_id, email=email and f"{email}@example.com", group=SourceGroup("Gold"), person=source_id[0]
        )
        for source_id, email in rows
    ]
    scene.read("affiliates", people)
    scene.state_figure(FigureName.GroupAffiliates, 2, subject="Gold")

    (figure,) = scene.judge()["figures"]

    assert (figure["theirs"], figure["read"]) == (2, 2)


def test_amounts_without_a_currency_are_in_the_one_that_the_brand_chose(scene):
    scene.read("commissions", [build_commission("c1", currency="EUR")])
    scene.state_figure(FigureName.SaleAmount, 10_000, subject="ann")

    (figure,) = scene.judge_again(options={"currency": "EUR"})["figures"]

    assert (figure["currency"], figure["theirs"], figure["read"]) == ("EUR", 10_000, 10_000)


def test_revenue_agrees_after_the_currency_is_changed_in_ready(brand, monkeypatch):
    brand.program()
    with switching(brand, monkeypatch, "firstpromoter", Sample(campaigns=1, currencies=("USD",))) as switch:
        switch.connect()
        switch.read()
        with db.unit_of_work(brand.id):
            body = {"options": {"currency": "EUR"}}
            key = {"organization_id": brand.id, "switch_id": switch.id}
            changes.change(**key, body=body, proved=None, now=clock.now())
        drain()

    figures = [row for row in switch.find().preview["figures"] if row["name"] == "sale_amount"]
    assert {(row["currency"], row["difference"]) for row in figures} == {("EUR", 0)}


def test_difference_comes_first_and_rows_that_are_no_money_explain_it(scene):
    scene.read("commissions", [build_commission("c1"), build_commission("c2", problem=LeftOutReason.NotMoney)])
    scene.state_figure(FigureName.Referrals, 0, subject="ann")
    scene.state_figure(FigureName.Sales, 2, subject="ann")

    preview = scene.judge()

    assert [(row["name"], row["difference"]) for row in preview["figures"]] == [("sales", 1), ("referrals", 0)]
    assert preview["figures"][0]["explained"] == [{"reason": "not_money", "count": 1, "cents": 2_000}]


def test_only_the_largest_differences_are_listed_and_the_others_counted(scene, monkeypatch):
    monkeypatch.setattr(figure_comparison, "MAX_DIFFERING", 2)
    monkeypatch.setattr(figure_comparison, "_SLICE", 2)
    for value in (5, 9, 1, 7):
        scene.state_figure(FigureName.Sales, value, subject=f"person\x1f{value}")

    preview = scene.judge()

    assert [row["theirs"] for row in preview["figures"] if row["name"] == "sales"] == [9, 7]
    assert {"code": "more_figures_differ", "count": 2, "example": None} in preview["warnings"]

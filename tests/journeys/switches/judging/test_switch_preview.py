"""The preview of a switch: counts, money to the cent, figures, terms, warnings, totals to confirm, rows."""

from decimal import Decimal

import pytest

from domain.switches.reasons import LeftOutReason
from domain.switches.records import (
    AffiliateRef,
    CommissionKind,
    SourceCustomer,
    SourceLink,
)
from models import db
from models.switches.judgement import items
from tests.support.rows.brands import Brand
from tests.support.running import trips
from tests.support.switches.scene import SwitchScene
from tests.support.switches.source_records import build_affiliate, build_commission


@pytest.fixture
def scene(brand: Brand, monkeypatch):
    brand.program()
    scene = SwitchScene.create(brand, monkeypatch)
    scene.read("affiliates", [build_affiliate("ann"), build_affiliate("bob")])
    return scene


def test_money_covers_all_rows_in_each_currency_to_the_cent(scene):
    scene.read(
        "commissions",
        [
            build_commission("c1", amount_cents=10_001, commission_cents=2_001),
            build_commission("c2", kind=CommissionKind.Owed, refunded_cents=400),
            build_commission("c3", kind=CommissionKind.Pending, commission_cents=300),
            build_commission("c4", kind=CommissionKind.Held, commission_cents=7),
            build_commission("c5", kind=CommissionKind.Refunded, commission_cents=50),
            build_commission("c6", kind=CommissionKind.Denied, commission_cents=5, affiliate="gone"),
            build_commission("c7", currency="JPY", amount_cents=999, commission_cents=99),
            build_commission("c8", amount_cents=77, commission_cents=11, problem=LeftOutReason.NotMoney),
        ],
    )

    preview = scene.judge()

    assert preview["money"] == [
        {
            "currency": "JPY",
            "sales": 1,
            "gross_cents": 999,
            "refunded_cents": 0,
            "commission_cents": 99,
            "paid_cents": 99,
            "owed_cents": 0,
            "pending_cents": 0,
            "lost_cents": 0,
        },
        {
            "currency": "USD",
            "sales": 6,
            "gross_cents": 60_001,
            "refunded_cents": 400,
            "commission_cents": 4_363,
            "paid_cents": 2_001,
            "owed_cents": 2_000,
            "pending_cents": 307,
            "lost_cents": 55,
        },
    ]
    assert preview["left_out"] == [
        {
            "collection": "commissions",
            "reason": "affiliate_unknown",
            "count": 1,
            "commission": [{"currency": "USD", "cents": 5}],
        },
        {"collection": "commissions", "reason": "not_money", "count": 1, "commission": []},
    ]


def test_counts_of_each_collection_add_up(scene):
    scene.brand.affiliate("ann")
    scene.read("links", [SourceLink("l1", AffiliateRef(id="ann"), "ann"), SourceLink("l2", AffiliateRef(id="x"), "x")])
    scene.read("customers", [SourceCustomer("u1", AffiliateRef(id="bob"), "main", email="x@example.com")])
    scene.read("commissions", [build_commission("c1"), build_commission("c2", "gone")])

    preview = scene.judge()

    assert scene.count(preview, "affiliates") == {"read": 2, "new": 1, "merged": 1}
    assert scene.count(preview, "links") == {"read": 2, "known": 1, "left_out": 1}
    assert scene.count(preview, "customers") == {"read": 1, "new": 1}
    assert scene.count(preview, "commissions") == {"read": 2, "new": 1, "left_out": 1}
    assert preview["to_confirm"] == {"affiliates": 1, "customers": 1, "commissions": 1, "payable": []}
    assert preview["letters"] == 0


def test_switch_is_ready_and_the_brands_records_are_unchanged(scene):
    tables = ("affiliate", "tracking_link", "conversion", "old_token", "brought_customer", "mail_message")
    before = {name: scene.brand.rows(f"select count(*) from {name}") for name in tables}
    scene.read("links", [SourceLink("l1", AffiliateRef(id="ann"), "ann.k")])
    scene.read("commissions", [build_commission("c1", billing_id="cus_1")])

    scene.judge()

    assert scene.switch().state == "Ready"
    assert scene.switch().stage is None
    assert {name: scene.brand.rows(f"select count(*) from {name}") for name in tables} == before


def test_judging_again_brings_the_same_preview_and_follows_the_options(scene):
    scene.read("commissions", [build_commission("c1", kind=CommissionKind.Owed)])
    first = scene.judge()

    same = scene.judge_again()
    payable = scene.judge_again(options={"unpaid": "payable"})

    assert same == first
    assert first["to_confirm"]["payable"] == []
    assert payable["to_confirm"]["payable"] == [{"currency": "USD", "cents": 2_000}]


def test_rows_with_one_id_count_once_with_a_warning(scene):
    scene.read_raw(
        "commissions",
        [
            ("1/001", _data(build_commission("same", commission_cents=1))),
            ("1/002", _data(build_commission("same", commission_cents=2))),
        ],
    )

    preview = scene.judge()

    assert scene.decisions("commissions")["same"]["commission_cents"] == 2
    assert preview["counts"]["commissions"]["read"] == 1
    assert {"code": "equal_rows", "count": 1, "example": "same"} in preview["warnings"]


def _data(record):
    from tests.support.switches import record_source

    return record_source.to_data(record)


def test_terms_that_differ_are_named(scene):
    with db.unit_of_work(scene.brand.id):
        db.db.stage(
            "update switch_campaign set terms = %s where switch_id = %s",
            (
                db.Json(
                    {
                        "commission_type": "Percentage",
                        "commission_value": "20.00",
                        "cookie_window_days": 45,
                        "recurring_months": None,
                    }
                ),
                scene.id,
            ),
        )

    preview = scene.judge()

    (terms,) = preview["terms"]
    assert terms["campaign"] == "Main"
    assert Decimal(terms["ours"]["commission_value"]) == 20
    assert terms["differ"] == ["cookie_window_days"]


def _set_terms(scene, theirs, ours):
    assignments = ", ".join(f"{name} = %s" for name in ours)
    with db.unit_of_work(scene.brand.id):
        db.db.stage("update switch_campaign set terms = %s where switch_id = %s", (db.Json(theirs), scene.id))
        db.db.stage(f"update program set {assignments} where id = %s", (*ours.values(), scene.brand.programs[-1]))


@pytest.mark.parametrize(
    ("theirs", "differ"),
    [({"recurring_months": None}, ["recurring_months"]), ({"recurring_months": 12}, []), ({}, [])],
)
def test_period_without_a_limit_there_differs_from_one_with_a_limit(scene, theirs, differ):
    _set_terms(scene, theirs, {"recurring_months": 12})

    (terms,) = scene.judge()["terms"]

    assert (terms["theirs"], terms["differ"]) == (theirs, differ)


@pytest.mark.parametrize(("type_", "differ"), [("Percentage", []), ("Fixed", ["commission_currency"])])
def test_currency_of_a_commission_is_compared_only_with_a_fixed_one(scene, type_, differ):
    ours = {"default_commission_type": type_, "default_commission_value": 5}
    _set_terms(scene, {"commission_currency": "EUR"}, ours)

    (terms,) = scene.judge()["terms"]

    assert terms["differ"] == differ


def test_parameter_that_does_not_fit_is_a_warning(scene):
    scene.change(parameters=["via", "rfsn", "not a parameter"])

    preview = scene.judge()

    assert preview["warnings"] == [{"code": "parameter_not_added", "count": 1, "example": "not a parameter"}]


def test_rows_are_listed_in_pages_by_filters(scene):
    scene.read("commissions", [build_commission(f"c{number}") for number in range(5)])
    scene.read("commissions", [build_commission("odd", "gone")])
    scene.judge()

    def read_page(cursor=None, **filters):
        with db.unit_of_work(scene.brand.id):
            return items.list_rows(
                organization_id=scene.brand.id,
                switch_id=scene.id,
                **{"collection": None, "verdict": None, "reason": None, "take": 3, "cursor": cursor} | filters,
            )

    seen, cursor = [], None
    for _ in range(4):
        rows, cursor = read_page(cursor)
        seen += [(row.collection, row.source_id) for row in rows]
        if cursor is None:
            break
    assert seen == [
        ("affiliates", "ann"),
        ("affiliates", "bob"),
        *(("commissions", f"c{number}") for number in range(5)),
        ("commissions", "odd"),
    ]
    left_out, _ = read_page(verdict="left_out", reason="affiliate_unknown")
    assert [row.source_id for row in left_out] == ["odd"]
    new, _ = read_page(collection="affiliates", verdict="new")
    assert [row.source_id for row in new] == ["ann", "bob"]


def test_another_organization_sees_no_rows(scene, rival):
    scene.judge()

    with db.unit_of_work(rival.id):
        rows, _ = items.list_rows(
            organization_id=rival.id,
            switch_id=scene.id,
            collection=None,
            verdict=None,
            reason=None,
            take=10,
            cursor=None,
        )

    assert rows == []


def test_slice_costs_the_same_round_trips_whatever_its_rows(brand, monkeypatch):
    brand.program()

    def count_trips(size: int) -> int:
        scene = SwitchScene.create(brand, monkeypatch, state="Reading")
        scene.read("affiliates", [build_affiliate(f"a{number}") for number in range(size)])
        scene.read(
            "links",
            [SourceLink(f"l{number}", AffiliateRef(id=f"a{number}"), f"Tok.{number}") for number in range(size)],
        )
        scene.read(
            "customers",
            [
                SourceCustomer(f"u{number}", AffiliateRef(id=f"a{number}"), "main", billing_id=f"cus_{number}")
                for number in range(size)
            ],
        )
        scene.read(
            "commissions",
            [build_commission(f"c{number}", f"a{number}", customer=f"u{number}") for number in range(size)]
            + [build_commission(f"r{number}", f"a{number}", commission_cents=-1) for number in range(size)],
        )
        with trips.record_round_trips() as round_trips:
            scene.judge()
        scene.change(state="Cancelled")
        return len(round_trips)

    assert count_trips(1) == count_trips(60)


def test_judging_does_nothing_in_another_state(scene):
    for state, stage in (("Ready", None), ("Reading", "commissions"), ("Connected", None)):
        scene.change(state=state, stage=stage)
        for _ in range(3):
            scene.judge_slice()

    assert scene.rows("affiliates") == {}

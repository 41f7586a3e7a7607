"""Judging many rows of one person, customer or token costs about as much as judging as many different ones."""

import time

import pytest

from domain.switches.records import AffiliateRef, SourceCode
from models import db
from models.switches.judgement import refund_lookups
from tests.support.rows.brands import Brand
from tests.support.switches.scene import SwitchScene, days_ago
from tests.support.switches.source_records import build_affiliate, build_commission, build_customer, build_link

_ROWS = 4_000
_MAX_CPU_S = 8
_CUSTOMER_TO_REFUND = {
    "id": ["take"],
    "affiliate_ref": ["ann"],
    "currency": ["USD"],
    "latest_at": [days_ago(9)],
    "least_cents": [2_000],
    "customer_id": ["cus_1"],
    "subscription_id": [None],
    "email": [None],
}
_BUILDERS = {
    "affiliates": lambda name: build_affiliate(name, email="one@example.com"),
    "links": lambda name: build_link(name, "one-token"),
    "codes": lambda name: SourceCode(name, AffiliateRef(id="ann"), "ONE"),
    "customers": lambda name: build_customer(name, billing_id="cus_1", created_at=days_ago(3)),
}


@pytest.fixture
def scene(brand: Brand, monkeypatch):
    brand.program()
    return SwitchScene.create(brand, monkeypatch)


@pytest.mark.parametrize("collection", list(_BUILDERS))
def test_rows_of_one_key_are_judged_in_linear_time(scene, collection):
    scene.read("affiliates", [build_affiliate("ann")])
    scene.read(collection, [_BUILDERS[collection](f"row{number:05}") for number in range(_ROWS)])
    began_at = time.process_time()

    preview = scene.judge()

    assert time.process_time() - began_at < _MAX_CPU_S
    assert scene.count(preview, collection)["merged"] == _ROWS - 1


def test_refunds_of_one_customer_are_judged_in_linear_time(scene):
    scene.read("affiliates", [build_affiliate("ann")])
    sales = [build_commission(f"c{number:05}", billing_id="cus_1") for number in range(_ROWS)]
    refunds = [
        build_commission(f"r{number:05}", billing_id="cus_1", commission_cents=-2_000, occurred_at=days_ago(9))
        for number in range(_ROWS)
    ]
    scene.read("commissions", [*sales, *refunds])
    began_at = time.process_time()

    scene.judge()

    assert time.process_time() - began_at < _MAX_CPU_S
    taken = {decision["conversion_id"] for decision in scene.decisions("commissions").values()}
    assert len(taken) == _ROWS
    assert set(scene.reasons("commissions").values()) == {None}


@pytest.mark.usefixtures("isolated_database")
def test_newest_sale_of_a_refund_is_found_without_reading_the_others(scene):
    scene.read("affiliates", [build_affiliate("ann")])
    sales = [build_commission(f"sale{number:04}", billing_id="cus_1") for number in range(1_500)]
    refund = build_commission("take", billing_id="cus_1", commission_cents=-2_000, occurred_at=days_ago(9))
    scene.read("commissions", [*sales, refund])
    scene.judge()

    ((owner_id,),) = scene.brand.rows("select target_id from switch_item where collection = 'affiliates'")
    ((customer_ref,),) = scene.brand.rows("select customer_ref from switch_item where source_id = 'take'")
    with db.unit_of_work(scene.brand.id):
        params = {
            "org": scene.brand.id,
            "switch": scene.id,
            "prefix": "switch:rewardful:",
            "limit": 1,
            **_CUSTOMER_TO_REFUND,
            "owner_id": [owner_id],
            "customer_ref": [customer_ref],
        }
        ((plan,),) = db.db.run(f"explain (analyze, format json) {refund_lookups._FIND_NEWEST}", params)

    assert "switch_item_newest_sale" in str(plan)
    assert _count_rows_read(plan[0]["Plan"]) < 100


def _count_rows_read(node):
    read = node.get("Actual Rows", 0) + node.get("Rows Removed by Filter", 0) if "Relation Name" in node else 0
    return read + sum(_count_rows_read(child) for child in node.get("Plans", ()))

"""Commissions of a switch: reasons, amounts, types, known and changed rows, refunds."""

from datetime import timedelta

import pytest

from domain.statuses import AffiliateStatus
from domain.switches import decisions
from domain.switches.reasons import LeftOutReason
from domain.switches.records import AffiliateRef, CommissionKind, SourceAffiliate, SourceCustomer
from models import db
from tests.support.rows.brands import Brand
from tests.support.switches.scene import SwitchScene, days_ago
from tests.support.switches.source_records import build_affiliate, build_commission


@pytest.fixture
def scene(brand: Brand, monkeypatch):
    brand.program()
    scene = SwitchScene.create(brand, monkeypatch)
    scene.read("affiliates", [build_affiliate("ann")])
    return scene


def test_each_odd_row_has_its_reason_and_the_others_come_over(scene):
    later = scene.now + timedelta(days=1)
    scene.read("affiliates", [SourceAffiliate("a2", "other", "bob@example.com", "Bob", AffiliateStatus.Approved, "")])
    scene.read("affiliates", [SourceAffiliate("a3", "main", "no address", "Cy", AffiliateStatus.Approved, "")])
    scene.read(
        "commissions",
        [
            build_commission("good"),
            build_commission("campaign", campaign="other", affiliate=AffiliateRef(id="a2")),
            build_commission("left-affiliate", affiliate=AffiliateRef(id="a3")),
            build_commission("no-affiliate", affiliate=None),
            build_commission("unknown-affiliate", affiliate=AffiliateRef(id="gone")),
            build_commission("word", kind=None, word="mystery"),
            build_commission("currency", currency="XXX"),
            build_commission("huge", amount_cents=2_000_000_000_000),
            build_commission("future", occurred_at=later),
            build_commission("credits", problem=LeftOutReason.NotMoney),
            build_commission("test", problem=LeftOutReason.TestRow),
            build_commission("negative", commission_cents=-1),
        ],
    )
    scene.read_raw("commissions", [("broken", {"broken": True})])

    scene.judge()

    assert scene.reasons("commissions") == {
        "good": None,
        "campaign": "campaign_not_mapped",
        "left-affiliate": "affiliate_unknown",
        "no-affiliate": "affiliate_unknown",
        "unknown-affiliate": "affiliate_unknown",
        "word": "unknown_status",
        "currency": "unsupported_currency",
        "huge": "amount_out_of_range",
        "future": "in_future",
        "credits": "not_money",
        "test": "test_row",
        "negative": "negative_without_sale",
        "broken": "unreadable_row",
    }


def test_sale_after_the_cut_over_is_left_out(scene):
    scene.change(cut_over_at=days_ago(5))
    scene.read(
        "commissions",
        [build_commission("old", occurred_at=days_ago(6)), build_commission("new", occurred_at=days_ago(4))],
    )

    scene.judge()

    assert scene.reasons("commissions") == {"old": None, "new": "after_cut_over"}


@pytest.mark.parametrize(
    ("kind", "status", "is_locked", "payable"),
    [
        ("paid", "Paid", True, 0),
        ("owed", "Approved", False, 2_000),
        ("pending", "Pending", False, 2_000),
        ("held", "Invalidated", False, 0),
        ("refunded", "Refunded", True, 0),
        ("denied", "Denied", True, 0),
    ],
)
def test_payable_option_makes_unpaid_commissions_owed(scene, kind, status, is_locked, payable):
    scene.change(options={"unpaid": "payable"})
    scene.read("commissions", [build_commission("c1", kind=CommissionKind(kind))])

    preview = scene.judge()

    decision = scene.decisions("commissions")["c1"]
    assert (decision["status"], decision["is_locked"]) == (status, is_locked)
    assert preview["to_confirm"]["payable"] == ([{"currency": "USD", "cents": payable}] if payable else [])


def test_pending_commission_is_held_until_it_is_due_else_for_the_grace_days(scene):
    due_at, occurred_at = days_ago(-20), days_ago(10)
    scene.change(options={"unpaid": "payable"})
    scene.brand.set(payoutGraceDays="12")
    scene.read(
        "commissions",
        [
            build_commission("due", kind=CommissionKind.Pending, due_at=due_at),
            build_commission("grace", kind=CommissionKind.Pending, occurred_at=occurred_at),
        ],
    )

    scene.judge()

    holds = {source_id: decision["hold_until"] for source_id, decision in scene.decisions("commissions").items()}
    assert holds == {"due": due_at.isoformat(), "grace": (occurred_at + timedelta(days=12)).isoformat()}


def test_first_commission_of_a_payment_carries_the_amount(scene):
    scene.read("affiliates", [SourceAffiliate("a2", "main", "bob@example.com", "Bob", AffiliateStatus.Approved, "")])
    scene.read(
        "commissions",
        [
            build_commission("c2", payment="p1", affiliate=AffiliateRef(id="a2")),
            build_commission("c1", payment="p1"),
            build_commission("c3", payment="p2"),
        ],
    )

    preview = scene.judge()

    amounts = {source_id: decision["amount_cents"] for source_id, decision in scene.decisions("commissions").items()}
    assert amounts == {"c1": 10_000, "c2": 0, "c3": 10_000}
    assert preview["money"][0]["sales"] == 2
    assert preview["money"][0]["gross_cents"] == 20_000
    assert preview["money"][0]["commission_cents"] == 6_000


def test_first_sale_of_a_customer_is_one_time_and_the_others_recur(scene):
    names = {"billing_id": "cus_1", "customer_email": "x@example.com"}
    scene.read(
        "commissions",
        [
            build_commission("c1", occurred_at=days_ago(5), **names),
            build_commission("c2", occurred_at=days_ago(35), **names),
            build_commission("c3", occurred_at=days_ago(1), **names),
            build_commission("c4", amount_cents=0),
        ],
    )

    scene.judge()

    types = {source_id: decision["type"] for source_id, decision in scene.decisions("commissions").items()}
    assert types == {"c1": "Recurring", "c2": "OneTime", "c3": "Recurring", "c4": "OneTime"}


def test_commission_has_the_names_of_its_customers_row(scene):
    scene.read(
        "customers",
        [
            SourceCustomer(
                "u1",
                AffiliateRef(id="ann"),
                "main",
                claimed_id="cus_9",
                subscription_id="sub_9",
                email="x@example.com",
                name="X",
            )
        ],
    )
    scene.read("commissions", [build_commission("c1", customer="u1")])

    scene.judge()

    decision = scene.decisions("commissions")["c1"]
    assert decision["processor_customer_id"] == "cus_9"
    assert decision["processor_subscription_id"] == "sub_9"
    assert decision["customer_email"] == "x@example.com"
    assert decision["customer_name"] == "X"


def test_row_of_an_earlier_switch_is_known_and_changes_once_it_is_paid_or_lost(scene):
    kinds = {"still": "owed", "paid": "paid", "lost": "refunded", "denied": "denied"}
    scene.read("commissions", [build_commission(name, kind=CommissionKind.Owed) for name in kinds])
    scene.judge()
    first = scene.decisions("commissions")
    affiliate_id = scene.brand.affiliate("ann", email="ann@example.com")
    with db.unit_of_work(scene.brand.id):
        db.db.stage("delete from switch_row where switch_id = %s and collection = 'commissions'", (scene.id,))
    for name in kinds:
        _insert_brought(scene.brand, name, first[name]["conversion_id"], affiliate_id)
    scene.read("commissions", [build_commission(name, kind=CommissionKind(kind)) for name, kind in kinds.items()])

    preview = scene.judge_again()

    assert scene.verdicts("commissions") == {
        "still": "known",
        "paid": "changed",
        "lost": "changed",
        "denied": "changed",
    }
    changed = {name: decision for name, decision in scene.decisions("commissions").items() if decision}
    statuses = {name: (decision["act"], decision["status"]) for name, decision in changed.items()}
    assert statuses == {
        "paid": ("change", "Paid"),
        "lost": ("change", "Refunded"),
        "denied": ("change", "Denied"),
    }
    assert preview["counts"]["commissions"]["new"] == 0
    assert {name: decision["conversion_id"] for name, decision in changed.items()} == {
        name: first[name]["conversion_id"] for name in changed
    }


def _insert_brought(brand: Brand, source_id: str, conversion_id: str, affiliate_id, program_id=None) -> None:
    with db.unit_of_work(brand.id):
        db.db.stage(
            """
            insert into conversion (id, organization_id, program_id, affiliate_id, source, external_event_id,
              amount_cents, currency, commission_cents, status, type, rate_source, occurred_at, hold_until, created_at,
              payout_locked)
            values (%s, %s, %s, %s, 'import', %s, 10000, 'USD', 2000, 'Pending', 'OneTime', 'import', now(), now(),
              now(), true)
            """,
            (
                conversion_id,
                brand.id,
                program_id or brand.programs[-1],
                affiliate_id,
                decisions.external_event_id("rewardful", source_id),
            ),
        )


def test_row_that_is_booked_in_another_program_is_known_elsewhere(scene):
    program_id = scene.brand.programs[-1]
    other = scene.brand.program()
    affiliate_id = scene.brand.affiliate("ben", program_id=other)
    scene.brand.programs.append(program_id)
    _insert_brought(scene.brand, "c1", "01890000-0000-7000-8000-000000000001", affiliate_id, other)
    scene.read("commissions", [build_commission("c1")])

    scene.judge()

    assert scene.reasons("commissions") == {"c1": "id_known_elsewhere"}


@pytest.mark.parametrize(
    ("fields", "is_tracked"),
    [
        ({"billing_id": "cus_1"}, True),
        ({"billing_id": "cus_1", "occurred_at": 50}, True),
        ({"billing_id": "cus_1", "occurred_at": 70}, False),
        ({"billing_id": "cus_1", "amount_cents": 9_999}, False),
        ({"billing_id": "cus_1", "currency": "EUR"}, False),
        ({"billing_id": "cus_2"}, False),
        ({"customer_email": "X@Example.com"}, True),
        ({"billing_id": "cus_2", "charge_id": "order-7", "amount_cents": 5}, True),
    ],
)
def test_sale_that_is_booked_here_is_already_tracked(scene, fields, is_tracked):
    scene.brand.affiliate("ben")
    answer = scene.brand.sale(externalEventId="order-7", customerId="cus_1", customerEmail="x@example.com")
    assert answer.status_code == 200, answer.get_data(as_text=True)
    minutes = fields.pop("occurred_at", 10) if isinstance(fields.get("occurred_at"), int) else 10
    occurred_at = scene.now - timedelta(minutes=minutes)
    scene.read("commissions", [build_commission("c1", occurred_at=occurred_at, **fields)])

    scene.judge()

    assert scene.reasons("commissions") == {"c1": "already_tracked" if is_tracked else None}

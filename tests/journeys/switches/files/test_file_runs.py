"""Switches of files up to their run, and a second one of a newer export. Source: the switch-over rules, B2 and B3."""

from datetime import UTC, datetime

import pytest

from models import db
from pipelines.switches import changes, connecting, running
from tests.support.switches.file_switch import FileSwitch

_AFFILIATES = """\
Affiliate ID,Email,Name,Payment Email,Username,Rate,Rate Type,Earnings,Status,Date Registered
1,ada@x.test,Ada,pay@x.test,Ada_B,20,percentage,30,active,2023-01-01
2,ben@x.test,Ben,,ben.k,20,percentage,5,inactive,2023-01-01
"""
_REFERRALS = """\
Affiliate ID,Email,Name,Payment Email,Username,Amount,Currency,Description,Campaign,Reference,Context,Status,Date
1,ada@x.test,Ada,,ada,$10.00,USD,Plan,,o1,woo,paid,2024-01-01 10:00:00
1,ada@x.test,Ada,,ada,$20.50,USD,Plan,,o2,woo,unpaid,2024-02-01 10:00:00
2,ben@x.test,Ben,,ben,5.00,EUR,Plan,,o3,woo,pending,2024-02-02 10:00:00
9,gone@x.test,Gone,,gone,3.00,USD,Plan,,o6,woo,paid,2024-02-05 10:00:00
"""
_PAP = """\
[[AFFILIATES]]
!USERID;!REFID;!DATEINSERTED;!USERNAME
u1;Ann_1;2023-01-01 00:00:00;ann@x.test
[[COMMISSIONS]]
!TRANSID;!USERID;!CAMPAIGNID;!RSTATUS;!DATEINSERTED;!PAYOUTSTATUS;!COMMISSION;!ORDERID;!TOTALCOST
t1;u1;c;A;2024-01-01 00:00:00;P;9,8;o1;49
t2;u1;c;P;2024-01-02 00:00:00;U;9.8;o2;49.00
t3;u1;c;A;2024-01-03 00:00:00;P;-9,8;o1;-49
"""


@pytest.fixture
def brand(brand):
    brand.program()
    return brand


def _judge(brand, drain, files, **body):
    """Return a switch of these files, judged with the suggested columns."""
    now = datetime.now(UTC)
    connected = connecting.connect(organization_id=brand.id, member_id=None, source="files", credentials={}, now=now)
    switch = FileSwitch(brand, switch_id=connected.id)
    key = {"organization_id": brand.id, "switch_id": switch.id, "now": now}
    columns = {collection: dict(switch.put(collection, content).suggested) for collection, content in files.items()}
    campaigns = [{"source_id": "all", "program_id": brand.programs[-1]}]
    with db.unit_of_work(brand.id):
        changes.change(**key, body={"columns": columns, "campaigns": campaigns, **body}, proved=None)
        changes.start_reading(**key)
    drain()
    return switch


def _run(switch, drain):
    confirm = switch.find().preview["to_confirm"]
    with db.unit_of_work(switch.brand.id):
        running.start(
            organization_id=switch.brand.id,
            switch_id=switch.id,
            member_id=None,
            confirm=confirm,
            now=datetime.now(UTC),
        )
    drain()
    assert switch.find().state == "Completed"
    return switch.find().result


def _list_conversions(brand):
    sql = "select commission_cents, currency, status, payout_locked from conversion order by occurred_at"
    return brand.rows(sql)


def test_export_is_written_with_tokens_mentions_and_locked_history(brand, drain):
    switch = _judge(brand, drain, {"affiliates": _AFFILIATES, "commissions": _REFERRALS})
    counts = switch.find().preview["counts"]["affiliates"]
    result = _run(switch, drain)

    assert (counts["read"], counts["implied"]) == (3, 1)
    assert result["affiliates"]["created"] == 3
    assert result["commissions"]["created"] == 4
    people = brand.rows("select email, status, wallet_email from affiliate order by email")
    assert people == [
        ("ada@x.test", "Approved", "pay@x.test"),
        ("ben@x.test", "Paused", None),
        ("gone@x.test", "Rejected", None),
    ]
    # Its links have the id or the username.
    tokens = brand.rows("select token from old_token order by token")
    assert tokens == [("1",), ("2",), ("ada_b",), ("ben.k",)]
    assert _list_conversions(brand) == [
        (1000, "USD", "Paid", True),
        (2050, "USD", "Pending", True),
        (500, "EUR", "Pending", True),
        (300, "USD", "Paid", True),
    ]


def test_newer_export_brings_what_is_new_and_what_was_paid_meanwhile(brand, drain):
    _run(_judge(brand, drain, {"affiliates": _AFFILIATES, "commissions": _REFERRALS}), drain)
    newer = _REFERRALS.replace("o2,woo,unpaid", "o2,woo,paid") + (
        "1,ada@x.test,Ada,,ada,$7.00,USD,Plan,,o9,woo,unpaid,2024-03-01 10:00:00\n"
    )

    switch = _judge(brand, drain, {"affiliates": _AFFILIATES, "commissions": newer})

    counts = switch.find().preview["counts"]["commissions"]
    assert (counts["new"], counts["known"], counts["changed"]) == (1, 3, 1)
    assert _run(switch, drain)["commissions"] == {"created": 1, "merged": 0, "changed": 1, "left_out": 0}
    assert _list_conversions(brand)[1] == (2050, "USD", "Paid", True)
    assert len(_list_conversions(brand)) == 5


def test_both_tables_of_one_file_are_brought(brand, drain):
    switch = _judge(
        brand,
        drain,
        {"affiliates": _PAP, "commissions": _PAP},
        words={"commissions": {"A": "paid", "P": "pending", "D": "lost"}},
        options={"currency": "EUR"},
    )

    _run(switch, drain)

    assert brand.rows("select email from affiliate") == [("ann@x.test",)]
    assert brand.rows("select token from old_token") == [("ann_1",)]
    assert _list_conversions(brand) == [(980, "EUR", "Refunded", True), (980, "EUR", "Pending", True)]
    assert brand.rows("select amount_cents, is_full from refund") == [(4900, True)]

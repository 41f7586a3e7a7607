"""A switch of files from its start to the preview: parts, mapping, reading and judging as one."""

from datetime import UTC, datetime

import pytest

from domain.refusals import Refused
from models import db
from pipelines.switches import changes, connecting
from tests.support.switches.file_switch import FileSwitch

_AFFILIATES = """\
Affiliate ID,Email,Name,Payment Email,Username,Rate,Rate Type,Earnings,Status,Date Registered
1,ada@x.test,Ada,pay@x.test,Ada_B,20,percentage,30,active,2023-01-01
2,ben@x.test,Ben,,ben,20,percentage,5,inactive,2023-01-01
2,ben@x.test,Ben,,ben,20,percentage,5,inactive,2023-01-01
3,,Cy,,cy,20,percentage,0,active,2023-01-01
"""
_REFERRALS = """\
Affiliate ID,Email,Name,Payment Email,Username,Amount,Currency,Description,Campaign,Reference,Context,Status,Date
1,ada@x.test,Ada,,ada,$10.00,USD,Plan,,o1,woo,paid,2024-01-01 10:00:00
1,ada@x.test,Ada,,ada,$20.50,USD,Plan,,o2,woo,unpaid,2024-02-01 10:00:00
2,ben@x.test,Ben,,ben,5.00,EUR,Plan,,o3,woo,pending,2024-02-02 10:00:00
2,ben@x.test,Ben,,ben,1.00,EUR,Plan,,o4,woo,rejected,2024-02-03 10:00:00
2,ben@x.test,Ben,,ben,2.00,EUR,Plan,,o5,woo,odd,2024-02-04 10:00:00
9,gone@x.test,Gone,,gone,3.00,USD,Plan,,o6,woo,paid,2024-02-05 10:00:00
1,ada@x.test,Ada,,ada,"1,000.00",USD,Plan,,o7,woo,paid,2024-02-06 10:00:00
1,ada@x.test,Ada,,ada,4.00,USD,Plan,,o8,woo,paid,soon
"""


@pytest.fixture
def switch(brand):
    brand.program()
    connected = connecting.connect(
        organization_id=brand.id, member_id=None, source="files", credentials={}, now=datetime.now(UTC)
    )
    return FileSwitch(brand, switch_id=connected.id)


def _change(switch, **body):
    with db.unit_of_work(switch.brand.id):
        return changes.change(
            organization_id=switch.brand.id, switch_id=switch.id, body=body, proved=None, now=datetime.now(UTC)
        )


def _start(switch):
    with db.unit_of_work(switch.brand.id):
        return changes.start_reading(organization_id=switch.brand.id, switch_id=switch.id, now=datetime.now(UTC))


def _read(switch, drain):
    _start(switch)
    drain()
    judged = switch.find()
    assert judged.state == "Ready", (judged.state, judged.stage, judged.last_error_message)
    return judged.preview


def _send_exports(switch):
    parts = [switch.put("affiliates", _AFFILIATES), switch.put("commissions", _REFERRALS)]
    _change(
        switch,
        columns={part.collection: dict(part.suggested) for part in parts},
        campaigns=[{"source_id": "all", "program_id": switch.brand.programs[-1]}],
    )


def test_exports_with_suggested_columns_become_a_preview(switch, drain):
    _send_exports(switch)

    preview = _read(switch, drain)

    assert preview["counts"]["affiliates"]["new"] == 3
    assert preview["counts"]["commissions"] == {
        "read": 8,
        "new": 5,
        "known": 0,
        "changed": 0,
        "merged": 0,
        "left_out": 3,
    }
    money = {row["currency"]: row for row in preview["money"]}
    assert (money["USD"]["paid_cents"], money["USD"]["owed_cents"]) == (1300, 2050)
    assert (money["EUR"]["lost_cents"], money["EUR"]["commission_cents"]) == (100, 800)
    reasons = {(row["collection"], row["reason"]): row["count"] for row in preview["left_out"]}
    assert reasons == {
        ("affiliates", "no_email"): 1,
        ("links", "affiliate_unknown"): 2,
        ("commissions", "unknown_status"): 1,
        ("commissions", "unreadable_row"): 2,
    }
    assert {warning["code"]: warning["count"] for warning in preview["warnings"]}["equal_rows"] == 3


def test_read_of_each_collection_is_the_sum_of_its_verdicts(switch, drain):
    _send_exports(switch)

    counts = _read(switch, drain)["counts"]

    for collection, count in counts.items():
        verdicts = sum(count[name] for name in ("new", "known", "changed", "merged", "left_out"))
        assert count["read"] == verdicts, collection


def test_word_that_was_unknown_is_judged_again_without_reading(switch, drain):
    _send_exports(switch)
    _read(switch, drain)

    _change(switch, words={"commissions": {**switch.find().words["commissions"], "odd": "owed"}})
    drain()

    preview = switch.find().preview
    assert not [row for row in preview["left_out"] if row["reason"] == "unknown_status"]
    assert {row["currency"]: row["owed_cents"] for row in preview["money"]}["EUR"] == 200


def test_part_after_the_preview_is_read_and_judged_again(switch, drain):
    _send_exports(switch)
    _read(switch, drain)

    switch.put("commissions", _REFERRALS.replace("$10.00", "$11.00"))

    assert switch.find().preview is None
    money = {row["currency"]: row for row in _read(switch, drain)["money"]}
    assert money["USD"]["paid_cents"] == 1400


def test_campaigns_of_affiliates_lead_to_their_programs(switch, drain):
    switch.put("affiliates", "mail,plan\na@x.test,Gold\nb@x.test,Silver\nc@x.test,\n")
    _change(switch, columns={"affiliates": {"email": "mail", "campaign": "plan"}})
    _change(switch, campaigns=[{"source_id": "Gold", "program_id": switch.brand.programs[-1]}])

    preview = _read(switch, drain)

    assert preview["counts"]["affiliates"]["new"] == 1
    assert preview["left_out"] == [
        {"collection": "affiliates", "reason": "campaign_not_mapped", "count": 2, "commission": []}
    ]


def test_stated_figures_are_compared_with_the_rows(switch, drain):
    _send_exports(switch)
    switch.put("figures", "what,who,cur,sum\npaid commission,ada@x.test,USD,1000\ntotal_affiliates,,,4\n")
    _change(switch, columns={"figures": {"name": "what", "of": "who", "currency": "cur", "cents": "sum"}})

    figures = {row["name"]: row for row in _read(switch, drain)["figures"]}

    assert figures["paid_commission"]["theirs"] == figures["paid_commission"]["read"] == 1000
    assert figures["paid_commission"]["of"] == "ada@x.test"
    assert figures["total_affiliates"]["theirs"] == 4


def test_files_without_a_needed_column_are_not_read(switch):
    switch.put("commissions", _REFERRALS)
    _change(switch, campaigns=[{"source_id": "all", "program_id": switch.brand.programs[-1]}])

    with pytest.raises(Refused) as refused:
        _start(switch)

    assert (refused.value.status, refused.value.code) == (409, "mapping_missing")

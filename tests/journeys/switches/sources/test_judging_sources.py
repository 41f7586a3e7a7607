"""Each source's account, read and judged: the preview states what the played account has, to the cent."""

from contextlib import ExitStack
from datetime import UTC, datetime

import pytest

from adapters.switches import client
from commands.demo.played.sample import Sample
from models import db
from pipelines.switches import judging
from tests.support.settings_overrides import override_settings
from tests.support.switches import reading_runs as runs
from tests.support.switches import walking

_SAMPLE = Sample(campaigns=1, currencies=("KWD", "USD", "JPY"))
_MAX_SLICES = 100
_ASSUMED = {"type": "Percentage", "value": "30"}


@pytest.fixture(params=["partnerstack", "tapfiliate", "lemonsqueezy", "dub"])
def walk(request, app, monkeypatch):
    with ExitStack() as stack:
        played = walking.start(stack, request.param, _SAMPLE)
        override_settings(monkeypatch, switches={"requests_per_s": 0.0, f"{request.param}_base_url": played.server.url})
        yield played
        for timeout_s in (client.READ_TIMEOUT_S, client.CONNECT_TIMEOUT_S):
            client._client(client._policy(is_replaced=True, timeout_s=timeout_s)).close()


def _read_and_judge(brand, walk, *, unpaid):
    switch = runs.connect(brand, source=walk.source.info.name, **walk.account.credentials)
    for campaign in walk.context.campaigns:
        switch = runs.map_campaign(brand, switch, campaign)
    options = {"unpaid": unpaid}
    if walk.source.info.assumes_commissions:
        options["assumed_commission"] = _ASSUMED
    switch = runs.change(brand, switch, options=options)
    switch = runs.read(brand, runs.act(brand, switch, "start_reading"))
    for _ in range(_MAX_SLICES):
        if switch.state == "Ready":
            return switch
        with db.unit_of_work(brand.id):
            judging.judge_next(organization_id=brand.id, switch_id=switch.id, now=datetime.now(UTC))
        switch = runs.reload(brand, switch)
    raise AssertionError(f"the switch is still {switch.state}, {switch.stage}")


def _sum_sample(name):
    """Return sales, commissions and paid ones of the sample by currency, as the source states them."""
    sums = {}
    for index in range(_SAMPLE.commissions):
        commission = _SAMPLE.commission(index)
        currency = "USD" if name == "dub" else commission.currency
        cents, is_paid = commission.commission_cents, commission.word == "paid"
        if name == "lemonsqueezy":
            cents, is_paid = commission.sale_cents * 30 // 100, True
        gross, earned, paid = sums.get(currency, (0, 0, 0))
        sums[currency] = (
            gross + commission.sale_cents,
            earned + cents,
            paid + (cents if is_paid else 0),
        )
    return sums


def _list_differences(preview):
    return [figure for figure in preview["figures"] if figure["difference"]]


def test_preview_has_the_money_of_the_account_and_no_difference(brand, walk):
    preview = _read_and_judge(brand, walk, unpaid="history").preview

    assert _list_differences(preview) == []
    assert preview["figures"]
    money = {
        row["currency"]: (row["gross_cents"], row["commission_cents"], row["paid_cents"]) for row in preview["money"]
    }
    expected = _sum_sample(walk.source.info.name)
    unpaid = sum(row["attributes"]["unpaid_earnings"] for row in _affiliates_with_earnings(walk))
    if unpaid:
        gross, earned, paid = expected["USD"]
        expected["USD"] = gross, earned + unpaid, paid
    assert money == expected
    assert len(money) == (1 if walk.source.info.name == "dub" else 3)
    assert preview["counts"]["affiliates"] == _count(20)
    assert preview["counts"]["customers"] == _count(60)
    assert preview["to_confirm"] == {"affiliates": 20, "customers": 60, "commissions": 200, "payable": []}


def test_unpaid_commissions_are_payable_with_the_option(brand, walk):
    preview = _read_and_judge(brand, walk, unpaid="payable").preview

    payable = {row["currency"]: row["cents"] for row in preview["to_confirm"]["payable"]}
    unpaid = {row["currency"]: row["owed_cents"] + row["pending_cents"] for row in preview["money"]}
    assert payable == {currency: cents for currency, cents in unpaid.items() if cents}
    assert payable
    assert _list_differences(preview) == []


def _affiliates_with_earnings(walk):
    return walk.account["affiliates"] if walk.source.info.assumes_commissions else []


def _count(new):
    return {"read": new, "new": new, "known": 0, "changed": 0, "merged": 0, "left_out": 0}

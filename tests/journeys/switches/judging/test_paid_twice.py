"""The former system paid a commission that a payout of ours names: it stays ours, and people are warned.

Source: the switch-over rules, "Known and changed".
"""

import pytest

from tests.support.rows.payroll import Payroll
from tests.support.switches.judged_rows import JudgedSwitch, list_exceptions
from tests.support.switches.scene import SwitchScene
from tests.support.switches.source_records import build_affiliate, build_commission

_ACCOUNT = "update affiliate set payout_method = 'ProcessorConnect', payout_destination = 'acct_ann'"


@pytest.fixture
def payroll(app) -> Payroll:
    return Payroll.create(app)


def _bring_owed(payroll: Payroll) -> JudgedSwitch:
    """Bring a commission that is payable here."""
    switch = JudgedSwitch(payroll.brand)
    ann = switch.affiliate("ann@example.com")
    switch.commission(ann, status="Approved", is_locked=False)
    switch.run()
    payroll.execute(_ACCOUNT)
    return switch


@pytest.mark.parametrize("is_sent", [False, True], ids=["claimed", "paid"])
def test_commission_in_a_payout_is_known_with_a_warning(payroll, monkeypatch, is_sent):
    # given
    _bring_owed(payroll)
    payroll.run()
    if is_sent:
        payroll.pay()
    ((external_id,),) = payroll.brand.rows("select external_event_id from conversion")
    scene = SwitchScene.create(
        payroll.brand, monkeypatch, campaigns={"main": payroll.brand.programs[0]}, options={"unpaid": "payable"}
    )
    scene.read("affiliates", [build_affiliate("ann")])
    scene.read("commissions", [build_commission(external_id.rpartition(":")[2])])

    # when
    preview = scene.judge()

    # then
    assert set(scene.verdicts("commissions").values()) == {"known"}
    assert [warning["code"] for warning in preview["warnings"]] == ["paid_twice"]


def test_commission_that_a_payout_took_since_the_preview_stays_as_it_is(payroll):
    # given: the preview of a second switch says that it was paid there; then a payout run claims it
    first = _bring_owed(payroll)
    ((conversion_id, affiliate_id),) = payroll.brand.rows("select id, affiliate_id from conversion")
    second = JudgedSwitch(payroll.brand)
    second.commission(affiliate_id, act="change", conversion_id=conversion_id, status="Paid", is_locked=True)
    payroll.run()

    # when
    second.run()

    # then: our payout has paid it meanwhile
    assert payroll.brand.rows("select status, payout_locked from conversion") == [("Paid", False)]
    assert second.find().result["commissions"]["changed"] == 0
    assert payroll.brand.rows(
        "select verdict, warnings from switch_item where switch_id = %s and collection = 'commissions'", second.id
    ) == [("known", ["paid_twice"])]
    assert list_exceptions(first.brand.id) == []

"""`flask trigger`: what can be caused is caused, through the pipelines, and real deliveries follow."""

import json
import threading

import pytest

from commands.developer import coupons, deals, makers, targets
from domain.webhooks import events
from models import db
from tests.support.gateways.gateway_connections import connect_gateway, play_gateway, switch_to_test_mode
from tests.support.settings_overrides import override_settings

_IN_THE_SANDBOX = [
    "payout.created",
    "payout.paid",
    "payout.failed",
    "conversion.adjusted",
    "affiliate.application_completed",
    *deals.MAKERS,
]
_NAMES = ("conversionId", "dealId", "payoutId", "affiliateCouponId", "campaignCouponId", "affiliateId")


@pytest.fixture
def workers(drain, monkeypatch, stage):
    """Workers that work while the test runs, and are waited for on any machine; they end before the gateway does."""
    monkeypatch.setattr(targets, "TIMEOUT_S", 120)
    is_over = threading.Event()

    def work() -> None:
        while not is_over.wait(0.05):
            drain("gateways", "sales", "refunds", "payouts", "webhooks")
        db.db.drop_connection()

    thread = threading.Thread(target=work)
    thread.start()
    yield
    is_over.set()
    thread.join()


@pytest.fixture
def stage():
    """A gateway that is played for a test, where nothing is connected."""
    with play_gateway() as playing:
        yield playing


@pytest.fixture
def sandboxed(brand, stage):
    """A brand whose payouts move no money, where rita recruited ben, and whose codes are those of a test account."""
    brand.set(sandboxRail="ok", verified="on")
    brand.program(sub_affiliate_enabled=True, sub_affiliate_percent=10)
    brand.affiliate("ben", recruited_by_affiliate_id=brand.affiliate("rita"))
    switch_to_test_mode(stage)
    connect_gateway(brand.person("Owner"), stage)
    return brand


@pytest.mark.usefixtures("workers")
@pytest.mark.parametrize("type", makers.MAKERS)
def test_a_real_event_comes_of_it_and_is_delivered(flask, sandboxed, receiver, type):
    sandboxed.endpoint(receiver.url, [type])

    made = flask.json("trigger", type, "--org", str(sandboxed.id))

    ((event_id, body), *_) = sandboxed.rows(
        "select id, body from event where type = %s and position(%s in body) > 0 order by created_at, id",
        type,
        made["about"],
    )
    assert events.event_id(event_id) in made["events"]
    assert made["organization"] == str(sandboxed.id)
    assert [one["url"] for one in made["deliveries"]][:1] == [receiver.url]
    told = json.loads(body)["data"]
    assert made["about"] == next(told[name] for name in _NAMES if name in told)
    assert sandboxed.rows("select after->>'type', actor_type from audit_entry where action = 'event.triggered'") == [
        (type, "operator")
    ]


@pytest.mark.usefixtures("workers")
def test_every_second_one_works_as_the_first(flask, sandboxed):
    for type in makers.MAKERS:
        first, second = (flask.json("trigger", type, "--org", str(sandboxed.id)) for _ in range(2))
        # clicks of an hour are one conversion
        assert (first["about"] == second["about"]) is (type == "conversion.adjusted"), type


@pytest.mark.usefixtures("workers")
def test_a_person_is_shown_what_happened_and_who_is_told(flask, sandboxed, receiver):
    alone = flask("trigger", "affiliate.created", "--org", str(sandboxed.id))
    sandboxed.endpoint(f"{receiver.url}?token=hush")
    code, said = flask("trigger", "affiliate.created", "--org", str(sandboxed.id))

    assert alone[0] == code == 0
    assert f"  no endpoint subscribes\nNext: flask listen --org {sandboxed.id}, then this command again\n" in alone[1]
    assert said.startswith("affiliate.created of Brand, about ")
    assert f"  {receiver.url}  delivery " in said
    assert "hush" not in said


@pytest.mark.parametrize("type", sorted({*events.TYPES} - {*makers.MAKERS}))
def test_what_nothing_can_cause_yet_is_said(flask, sandboxed, type):
    code, said = flask("trigger", type, "--org", str(sandboxed.id))

    assert code == 1
    assert said.startswith(f"Error: This release cannot cause {type} yet.")
    assert (f"Next: flask trigger {type} --sample" in said) == (type in events.TESTABLE)
    assert sandboxed.rows("select count(*) from event") == [(0,)]


def test_an_unknown_name_lists_those_there_are(flask, sandboxed):
    code, said = flask("trigger", "conversion.deleted", "--org", str(sandboxed.id))

    assert code == 2
    assert all(type in said for type in events.TYPES)


def test_a_sample_goes_to_those_who_subscribe(flask, sandboxed, receiver, drain):
    sandboxed.endpoint(receiver.url, ["campaign_coupon.created"])
    sandboxed.endpoint(f"{receiver.url}/all")
    sandboxed.endpoint(f"{receiver.url}/else", ["payout.paid"])

    made = flask.json("trigger", "campaign_coupon.created", "--sample", "--org", str(sandboxed.id))
    drain()
    nobody = flask("trigger", "affiliate_coupon.created", "--sample", "--org", str(sandboxed.id))
    refused = flask("trigger", "dispute.opened", "--sample", "--org", str(sandboxed.id))

    assert sorted(one["url"] for one in made["deliveries"]) == [receiver.url, f"{receiver.url}/all"]
    assert receiver.of_type("campaign_coupon.created") == [events.sample("campaign_coupon.created")] * 2
    assert nobody[0] == 0
    assert refused[0] == 1
    assert "There is no sample of dispute.opened" in refused[1]


@pytest.mark.usefixtures("workers")
def test_without_the_sandbox_nothing_is_made_that_anybody_is_paid_for(flask, brand):
    brand.program()
    brand.affiliate("ben")
    refused = [flask("trigger", type, "--org", str(brand.id)) for type in _IN_THE_SANDBOX]
    made = [
        flask("trigger", type, "--org", str(brand.id))
        for type in makers.MAKERS
        if type not in (*_IN_THE_SANDBOX, *coupons.MAKERS)
    ]

    assert {code for code, _ in refused} == {1}
    assert all(f"Next, to pay in the sandbox: flask org set {brand.id} sandboxRail=ok" in said for _, said in refused)
    assert {code for code, _ in made} == {0}
    assert brand.rows("select distinct is_test from conversion") == [(True,)]
    assert brand.rows("select distinct is_test from affiliate where email like 'trigger-%'") == [(True,)]
    assert brand.rows("select count(*) from payout") == [(0,)]


@pytest.mark.usefixtures("workers")
def test_in_the_sandbox_nobody_real_is_owed_anything_when_it_ends(flask, sandboxed):
    for type in makers.MAKERS:
        flask.json("trigger", type, "--org", str(sandboxed.id))

    assert sandboxed.rows(
        "select distinct starts_with(a.email, 'trigger-') from conversion c join affiliate a on a.id = c.affiliate_id"
        " where not c.is_test"
    ) == [(True,)]


@pytest.mark.usefixtures("workers")
def test_the_demo_brand_is_the_default_and_its_sales_can_be_paid(flask, sandboxed, monkeypatch, tmp_path):
    (tmp_path / "demo.json").write_text(json.dumps({"organizationId": str(sandboxed.id)}))
    override_settings(monkeypatch, servers={"data_dir": tmp_path})

    made = flask.json("trigger", "conversion.created")

    assert made["organization"] == str(sandboxed.id)
    assert sandboxed.rows("select distinct is_test from conversion") == [(False,)]


@pytest.mark.usefixtures("workers")
def test_coupons_are_of_the_demos_brand_with_a_gateway(flask, sandboxed, rival, monkeypatch, tmp_path):
    kept = tmp_path / "demo.json"
    kept.write_text(json.dumps({"organizationId": str(rival.id), "gatewayOrganizationId": str(sandboxed.id)}))
    override_settings(monkeypatch, servers={"data_dir": tmp_path})

    code, said = flask("trigger", "affiliate_coupon.created")
    assert (code, said.startswith("affiliate_coupon.created of Brand, about ")) == (0, True)
    assert f"Next: flask listen --org {sandboxed.id}, then this command again" in said

    kept.write_text(json.dumps({"organizationId": str(rival.id)}))
    code, said = flask("trigger", "campaign_coupon.created")
    assert (code, said.startswith(f"Error: There is no demo brand with a gateway in {tmp_path}. Next: make run")) == (
        1,
        True,
    )


@pytest.mark.parametrize("type", coupons.MAKERS)
def test_no_code_is_made_that_is_worth_money(flask, brand, stage, type):
    brand.program()
    brand.affiliate("ben")
    none = flask("trigger", type, "--org", str(brand.id))
    connect_gateway(brand.person("Owner"), stage)
    live = flask("trigger", type, "--org", str(brand.id))

    assert (none[0], "Connect a payment processor first" in none[1]) == (1, True)
    assert (live[0], live[1].startswith("Error: Codes of Brand at stripe are worth real money. Next: ")) == (1, True)
    assert stage.codes.coupons == stage.codes.promotion_codes == []
    assert brand.rows("select count(*) from campaign_coupon") == [(0,)]


@pytest.mark.usefixtures("workers")
def test_a_deal_whose_charge_the_sandbox_refuses_is_one_line(flask, sandboxed):
    sandboxed.set(sandboxRail="fail")

    code, said = flask("trigger", "deal.funded", "--org", str(sandboxed.id))

    assert (code, said.startswith("Error: The sandbox refused the charge (sandbox_rejected")) == (1, True)


def test_without_a_demo_brand_it_says_what_to_do(flask, monkeypatch, tmp_path):
    override_settings(monkeypatch, servers={"data_dir": tmp_path})

    code, said = flask("trigger", "conversion.created")

    assert (code, said.startswith(f"Error: There is no demo brand in {tmp_path}. Next: flask demo")) == (1, True)


@pytest.mark.usefixtures("workers")
def test_a_payout_pays_its_own_affiliate_alone_and_a_rejected_one_nobody(flask, sandboxed, drain):
    sandboxed.set(payoutGraceDays="0")
    sandboxed.sale()  # what is due beside it stays due

    flask("trigger", "payout.paid", "--org", str(sandboxed.id))
    flask("trigger", "payout.failed", "--org", str(sandboxed.id))

    assert sandboxed.rows("select status, amount_cents from payout order by created_at, id") == [
        ("Paid", 2_000),
        ("Failed", 2_000),
    ]
    assert sandboxed.rows("select count(*) from sandbox_transfer") == [(1,)]
    assert sandboxed.rows("select payouts_need_review from organization where id = %s", sandboxed.id) == [(False,)]


def test_a_brand_without_affiliates_is_one_line(flask, brand):
    assert flask("trigger", "conversion.created", "--org", str(brand.id)) == (
        1,
        "Error: Brand has no Approved affiliate in an open campaign that pays for sales.\n",
    )


def test_without_workers_it_says_what_is_missing(flask, sandboxed, monkeypatch):
    monkeypatch.setattr(targets, "TIMEOUT_S", 0.3)

    for type in ("conversion.created", "deal.funded", "campaign_coupon.deactivated"):
        code, said = flask("trigger", type, "--org", str(sandboxed.id))
        assert code == 1
        assert "workers running? Next: flask jobs queues" in said


@pytest.mark.usefixtures("workers")
def test_an_organization_that_is_not_there_is_one_line(flask):
    nobody = "01890000-0000-7000-8000-000000000000"

    assert flask("trigger", "conversion.created", "--org", nobody) == (
        1,
        f"Error: There is no organization {nobody}. Next: flask org list\n",
    )

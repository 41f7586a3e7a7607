"""`flask trigger` causes events through the pipelines, and real deliveries follow."""

import json
import threading

import pytest

from commands.developer import coupons, deals, makers, targets
from domain.webhooks import events
from models import db
from tests.support.gateways.gateway_connections import connect_gateway, play_gateway, switch_to_test_mode
from tests.support.settings_overrides import override_settings

_SANDBOX_TYPES = [
    "payout.created",
    "payout.paid",
    "payout.failed",
    "conversion.adjusted",
    "affiliate.application_completed",
    *deals.MAKERS,
]
_ID_FIELDS = ("conversionId", "dealId", "payoutId", "affiliateCouponId", "campaignCouponId", "affiliateId")


@pytest.fixture
def workers(drain, monkeypatch, gateway):
    """Run workers during the test, with a timeout that suffices on any machine; stop them before the gateway stops."""
    monkeypatch.setattr(targets, "TIMEOUT_S", 120)
    is_over = threading.Event()

    def run_jobs() -> None:
        while not is_over.wait(0.05):
            drain("gateways", "sales", "refunds", "payouts", "webhooks")
        db.db.drop_connection()

    thread = threading.Thread(target=run_jobs)
    thread.start()
    yield
    is_over.set()
    thread.join()


@pytest.fixture
def gateway():
    """Yield a simulated gateway that no brand is connected to."""
    with play_gateway() as simulated:
        yield simulated


@pytest.fixture
def sandbox_brand(brand, gateway):
    """Return a brand with the sandbox rail, a gateway's test account, and an affiliate ben whom rita recruited."""
    brand.set(sandboxRail="ok", verified="on")
    brand.program(sub_affiliate_enabled=True, sub_affiliate_percent=10)
    brand.affiliate("ben", recruited_by_affiliate_id=brand.affiliate("rita"))
    switch_to_test_mode(gateway)
    connect_gateway(brand.person("Owner"), gateway)
    return brand


@pytest.mark.usefixtures("workers")
@pytest.mark.parametrize("type", makers.MAKERS)
def test_real_event_is_caused_and_delivered(flask, sandbox_brand, receiver, type):
    sandbox_brand.endpoint(receiver.url, [type])

    result = flask.json("trigger", type, "--org", str(sandbox_brand.id))

    ((event_id, body), *_) = sandbox_brand.rows(
        "select id, body from event where type = %s and position(%s in body) > 0 order by created_at, id",
        type,
        result["about"],
    )
    assert events.event_id(event_id) in result["events"]
    assert result["organization"] == str(sandbox_brand.id)
    assert [delivery["url"] for delivery in result["deliveries"]][:1] == [receiver.url]
    data = json.loads(body)["data"]
    assert result["about"] == next(data[name] for name in _ID_FIELDS if name in data)
    assert sandbox_brand.rows(
        "select after->>'type', actor_type from audit_entry where action = 'event.triggered'"
    ) == [(type, "operator")]


@pytest.mark.usefixtures("workers")
def test_every_type_can_be_triggered_twice(flask, sandbox_brand):
    for type in makers.MAKERS:
        first, second = (flask.json("trigger", type, "--org", str(sandbox_brand.id)) for _ in range(2))
        # clicks within an hour are one conversion
        assert (first["about"] == second["about"]) is (type == "conversion.adjusted"), type


@pytest.mark.usefixtures("workers")
def test_output_reports_the_event_and_its_deliveries(flask, sandbox_brand, receiver):
    without_endpoint = flask("trigger", "affiliate.created", "--org", str(sandbox_brand.id))
    sandbox_brand.endpoint(f"{receiver.url}?token=hush")
    code, output = flask("trigger", "affiliate.created", "--org", str(sandbox_brand.id))

    assert without_endpoint[0] == code == 0
    assert (
        f"  no endpoint subscribes\nNext: flask listen --org {sandbox_brand.id}, then this command again\n"
        in without_endpoint[1]
    )
    assert output.startswith("affiliate.created of Brand, about ")
    assert f"  {receiver.url}  delivery " in output
    assert "hush" not in output


@pytest.mark.parametrize("type", sorted({*events.TYPES} - {*makers.MAKERS}))
def test_type_without_a_maker_is_refused(flask, sandbox_brand, type):
    code, output = flask("trigger", type, "--org", str(sandbox_brand.id))

    assert code == 1
    assert output.startswith(f"Error: This release cannot cause {type} yet.")
    assert (f"Next: flask trigger {type} --sample" in output) == (type in events.TESTABLE)
    assert sandbox_brand.rows("select count(*) from event") == [(0,)]


def test_unknown_type_lists_the_types(flask, sandbox_brand):
    code, output = flask("trigger", "conversion.deleted", "--org", str(sandbox_brand.id))

    assert code == 2
    assert all(type in output for type in events.TYPES)


def test_sample_is_sent_to_subscribed_endpoints(flask, sandbox_brand, receiver, drain):
    sandbox_brand.endpoint(receiver.url, ["campaign_coupon.created"])
    sandbox_brand.endpoint(f"{receiver.url}/all")
    sandbox_brand.endpoint(f"{receiver.url}/else", ["payout.paid"])

    result = flask.json("trigger", "campaign_coupon.created", "--sample", "--org", str(sandbox_brand.id))
    drain()
    unsubscribed = flask("trigger", "affiliate_coupon.created", "--sample", "--org", str(sandbox_brand.id))
    refused = flask("trigger", "dispute.opened", "--sample", "--org", str(sandbox_brand.id))

    assert sorted(delivery["url"] for delivery in result["deliveries"]) == [receiver.url, f"{receiver.url}/all"]
    assert receiver.of_type("campaign_coupon.created") == [events.sample("campaign_coupon.created")] * 2
    assert unsubscribed[0] == 0
    assert refused[0] == 1
    assert "There is no sample of dispute.opened" in refused[1]


@pytest.mark.usefixtures("workers")
def test_payable_events_require_the_sandbox(flask, brand):
    brand.program()
    brand.affiliate("ben")
    refused = [flask("trigger", type, "--org", str(brand.id)) for type in _SANDBOX_TYPES]
    accepted = [
        flask("trigger", type, "--org", str(brand.id))
        for type in makers.MAKERS
        if type not in (*_SANDBOX_TYPES, *coupons.MAKERS)
    ]

    assert {code for code, _ in refused} == {1}
    assert all(
        f"Next, to pay in the sandbox: flask org set {brand.id} sandboxRail=ok" in output for _, output in refused
    )
    assert {code for code, _ in accepted} == {0}
    assert brand.rows("select distinct is_test from conversion") == [(True,)]
    assert brand.rows("select distinct is_test from affiliate where email like 'trigger-%'") == [(True,)]
    assert brand.rows("select count(*) from payout") == [(0,)]


@pytest.mark.usefixtures("workers")
def test_sandbox_events_owe_nothing_to_real_affiliates(flask, sandbox_brand):
    for type in makers.MAKERS:
        flask.json("trigger", type, "--org", str(sandbox_brand.id))

    assert sandbox_brand.rows(
        "select distinct starts_with(a.email, 'trigger-') from conversion c join affiliate a on a.id = c.affiliate_id"
        " where not c.is_test"
    ) == [(True,)]


@pytest.mark.usefixtures("workers")
def test_demo_brand_is_the_default_and_its_sales_are_payable(flask, sandbox_brand, monkeypatch, tmp_path):
    (tmp_path / "demo.json").write_text(json.dumps({"organizationId": str(sandbox_brand.id)}))
    override_settings(monkeypatch, servers={"data_dir": tmp_path})

    result = flask.json("trigger", "conversion.created")

    assert result["organization"] == str(sandbox_brand.id)
    assert sandbox_brand.rows("select distinct is_test from conversion") == [(False,)]


@pytest.mark.usefixtures("workers")
def test_coupons_are_created_for_the_demo_brand_with_a_gateway(flask, sandbox_brand, rival, monkeypatch, tmp_path):
    facts_file = tmp_path / "demo.json"
    facts_file.write_text(json.dumps({"organizationId": str(rival.id), "gatewayOrganizationId": str(sandbox_brand.id)}))
    override_settings(monkeypatch, servers={"data_dir": tmp_path})

    code, output = flask("trigger", "affiliate_coupon.created")
    assert (code, output.startswith("affiliate_coupon.created of Brand, about ")) == (0, True)
    assert f"Next: flask listen --org {sandbox_brand.id}, then this command again" in output

    facts_file.write_text(json.dumps({"organizationId": str(rival.id)}))
    code, output = flask("trigger", "campaign_coupon.created")
    assert (code, output.startswith(f"Error: There is no demo brand with a gateway in {tmp_path}. Next: make run")) == (
        1,
        True,
    )


@pytest.mark.parametrize("type", coupons.MAKERS)
def test_code_at_a_live_gateway_is_not_created(flask, brand, gateway, type):
    brand.program()
    brand.affiliate("ben")
    unconnected = flask("trigger", type, "--org", str(brand.id))
    connect_gateway(brand.person("Owner"), gateway)
    live = flask("trigger", type, "--org", str(brand.id))

    assert (unconnected[0], "Connect a payment provider first" in unconnected[1]) == (1, True)
    assert (live[0], live[1].startswith("Error: Codes of Brand at stripe are worth real money. Next: ")) == (1, True)
    assert gateway.codes.coupons == gateway.codes.promotion_codes == []
    assert brand.rows("select count(*) from campaign_coupon") == [(0,)]


@pytest.mark.usefixtures("workers")
def test_refused_deal_charge_is_a_one_line_error(flask, sandbox_brand):
    sandbox_brand.set(sandboxRail="fail")

    code, output = flask("trigger", "deal.funded", "--org", str(sandbox_brand.id))

    assert (code, output.startswith("Error: The sandbox refused the charge (sandbox_rejected")) == (1, True)


def test_missing_demo_brand_is_reported_with_the_next_step(flask, monkeypatch, tmp_path):
    override_settings(monkeypatch, servers={"data_dir": tmp_path})

    code, output = flask("trigger", "conversion.created")

    assert (code, output.startswith(f"Error: There is no demo brand in {tmp_path}. Next: flask demo")) == (1, True)


@pytest.mark.usefixtures("workers")
def test_triggered_payouts_pay_only_their_own_affiliate(flask, sandbox_brand, drain):
    sandbox_brand.set(payoutGraceDays="0")
    sandbox_brand.sale()  # another affiliate's commission stays due

    flask("trigger", "payout.paid", "--org", str(sandbox_brand.id))
    flask("trigger", "payout.failed", "--org", str(sandbox_brand.id))

    assert sandbox_brand.rows("select status, amount_cents from payout order by created_at, id") == [
        ("Paid", 2_000),
        ("Failed", 2_000),
    ]
    assert sandbox_brand.rows("select count(*) from sandbox_transfer") == [(1,)]
    assert sandbox_brand.rows("select payouts_need_review from organization where id = %s", sandbox_brand.id) == [
        (False,)
    ]


def test_brand_without_affiliates_is_a_one_line_error(flask, brand):
    assert flask("trigger", "conversion.created", "--org", str(brand.id)) == (
        1,
        "Error: Brand has no Approved affiliate in an open campaign that pays for sales.\n",
    )


def test_missing_workers_are_reported(flask, sandbox_brand, monkeypatch):
    monkeypatch.setattr(targets, "TIMEOUT_S", 0.3)

    for type in ("conversion.created", "deal.funded", "campaign_coupon.deactivated"):
        code, output = flask("trigger", type, "--org", str(sandbox_brand.id))
        assert code == 1
        assert "workers running? Next: flask jobs queues" in output


@pytest.mark.usefixtures("workers")
def test_unknown_organization_is_a_one_line_error(flask):
    unknown_id = "01890000-0000-7000-8000-000000000000"

    assert flask("trigger", "conversion.created", "--org", unknown_id) == (
        1,
        f"Error: There is no organization {unknown_id}. Next: flask org list\n",
    )

"""The billing state and the limits of plans. Source: core spec, "Other resources" (billing state)."""

from datetime import UTC, datetime, timedelta

import pytest

from adapters import clock
from adapters.coupons import registry
from models import advisory_locks, db, ids
from models.organization import organizations
from pipelines.organization import capacity
from tests.support.api.concurrency import run_concurrently
from tests.support.gateways.gateway_connections import connect_gateway, play_gateway
from tests.support.gateways.stages import STAGES

URL = "/api/billing/state"


def _read_limits(brand):
    return brand.get(URL).json["limits"]


def _pay(brand, cents, currency="USD", *, at=None, kind="pay", is_test=False):
    """Insert a payment to the brand's affiliate into the ledger."""
    brand.rows(
        "insert into ledger_entry (id, organization_id, affiliate_id, program_id, kind, amount_cents, currency,"
        " cause_id, is_test, created_at) select %s, organization_id, id, program_id, %s, %s, %s, %s, %s, %s"
        " from affiliate limit 1 returning id",
        ids.new_id(), kind, -cents, currency, ids.new_id(), is_test, at or datetime.now(UTC),
    )  # fmt: skip


def test_state_of_a_brand_without_connections(brand):
    brand.program()
    brand.affiliate("ben")

    assert brand.get(URL).json == {
        "planTier": "Growth",
        "subscriptionStatus": "Active",
        "billingProvider": None,
        "trialEndsAt": None,
        "interval": None,
        "processorSubscriptionId": None,
        "processorCustomerLinked": False,
        "processorConnectLinked": False,
        "processorConnectedVia": None,
        "couponsEnabled": False,
        "limits": {
            "affiliates": {"current": 1, "max": 5000},
            "campaigns": {"current": 1, "max": 25},
            "partnerPayoutsThisMonthCents": {"current": 0, "max": None},
            "teamSeats": {"current": 1, "max": 10},
        },
    }


def test_operators_gateway_of_a_subscribed_brand_enables_no_coupons(brand):
    brand.set(gateways="stripe,paddle", billingProvider="stripe", billingInterval="Year", status="Trialing")
    brand.rows("update organization set processor_customer_id = 'c', processor_subscription_id = 's' returning id")

    state = brand.get(URL).json

    assert state["trialEndsAt"].endswith("Z")
    assert {name: state[name] for name in state if name not in ("limits", "trialEndsAt", "planTier")} == {
        "subscriptionStatus": "Trialing",
        "billingProvider": "stripe",
        "interval": "Year",
        "processorSubscriptionId": "s",
        "processorCustomerLinked": True,
        "processorConnectLinked": True,
        "processorConnectedVia": "StripeApp",
        "couponsEnabled": False,
    }


@pytest.mark.parametrize("name", [name for name in STAGES if name != "thrivecart"])
def test_coupons_need_a_paid_plan_and_an_active_gateway_with_codes(brand, name):
    with play_gateway(name) as stage:
        connection = connect_gateway(brand.person("Owner"), stage)
        can_mint = name in registry.MINTABLE
        assert brand.get(URL).json["couponsEnabled"] is can_mint

        brand.set(plan="Free")
        assert brand.person("Owner").get(URL).json["couponsEnabled"] is False
        brand.set(plan="Starter")
        assert brand.get(URL).json["couponsEnabled"] is can_mint

        brand.rows("update gateway_connection set status = 'Broken' returning id")
        assert brand.get(URL).json["couponsEnabled"] is False
        brand.rows("update gateway_connection set status = 'Active' returning id")
        brand.person("Owner").call("DELETE", f"/api/v1/connections/{connection['id']}")
        assert brand.get(URL).json["couponsEnabled"] is False


def test_other_gateway_is_named_and_has_no_coupons(brand):
    brand.set(gateways="thrivecart")

    state = brand.get(URL).json
    assert (state["processorConnectLinked"], state["processorConnectedVia"], state["couponsEnabled"]) == (
        True,
        "thrivecart",
        False,
    )


@pytest.mark.parametrize(
    ("plan", "limits"),
    [("Free", (25, 1, 0, 1)), ("Starter", (500, 5, None, 3)), ("Growth", (5000, 25, None, 10)), ("Pro", (None,) * 4)],
)
def test_every_plan_has_its_limits(brand, plan, limits):
    brand.set(plan=plan)

    assert tuple(share["max"] for share in _read_limits(brand).values()) == limits


def test_canceled_subscription_has_the_limits_of_the_free_plan_and_no_coupons(brand):
    brand.set(status="Canceled", gateways="stripe")

    state = brand.get(URL).json
    assert (state["planTier"], state["limits"]["affiliates"]["max"]) == ("Growth", 25)
    assert (state["processorConnectLinked"], state["couponsEnabled"]) == (True, False)


def test_deleted_rejected_and_test_rows_are_not_counted(brand):
    brand.program()
    brand.program(archived_at=datetime.now(UTC))
    program_id = brand.programs[0]
    brand.affiliate("counts", program_id=program_id, status="Pending")
    brand.affiliate("banned", program_id=program_id, status="Banned")
    brand.affiliate("rejected", program_id=program_id, status="Rejected")
    brand.affiliate("tester", program_id=program_id, is_test=True)
    brand.affiliate("gone", program_id=program_id, deleted_at=datetime.now(UTC))

    limits = _read_limits(brand)
    assert limits["affiliates"]["current"] == 2
    assert limits["campaigns"]["current"] == 1


def test_member_takes_a_seat_at_first_sign_in(brand):
    brand.person("Viewer").get(URL)

    assert _read_limits(brand)["teamSeats"]["current"] == 2


def test_payouts_of_this_month_are_summed_in_home_currency(brand):
    brand.program()
    brand.affiliate("ben")
    month = datetime.now(UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    with db.any_org_work():
        db.db.run(
            "insert into fx_rate (currency, published_on, per_usd) values ('EUR', '2020-01-01', 0.5)"
            " on conflict do nothing"
        )
        ((per_usd,),) = db.db.run(
            "select per_usd from fx_rate where currency = 'EUR' order by published_on desc limit 1"
        )
    _pay(brand, 1000)
    _pay(brand, 500, at=month)
    _pay(brand, 100, "EUR")
    _pay(brand, 7000, at=month - timedelta(microseconds=1))
    _pay(brand, 7000, is_test=True)
    _pay(brand, 7000, kind="reverse")
    _pay(brand, 7000, "XPF")  # has no stored rate

    assert _read_limits(brand)["partnerPayoutsThisMonthCents"]["current"] == 1500 + round(100 / per_usd)


def test_every_member_and_key_reads_the_state_on_every_plan(brand):
    brand.set(plan="Free")

    assert brand.person("Viewer").get(URL).status_code == 200
    assert brand.other_key(scope="read").get(URL).status_code == 200


def test_other_tenants_rows_are_not_counted(brand, rival):
    rival.program()
    rival.affiliate("theirs")

    assert _read_limits(brand)["affiliates"]["current"] == 0


def _count_affiliates_left(brand):
    with db.unit_of_work(brand.id):
        return capacity.count_affiliates_left(organizations.find(brand.id), now=clock.now())


@pytest.mark.parametrize(("limit", "left"), [("none", 4998), ("3", 1), ("2", 0), ("0", 0)])
def test_operators_limit_overrides_the_plans(brand, limit, left):
    brand.program()
    brand.affiliate("ben")
    brand.affiliate("eve")

    brand.set(affiliateLimit=limit)

    assert _count_affiliates_left(brand) == left
    assert _read_limits(brand)["affiliates"]["max"] == (None if limit == "none" else int(limit)) or 5000


def test_largest_plan_has_no_affiliate_limit(brand):
    brand.set(plan="Pro")

    assert _count_affiliates_left(brand) is None


def test_concurrent_enrollments_do_not_exceed_the_limit(brand):
    program_id = brand.program()
    brand.set(affiliateLimit="1")

    def enroll(slug):
        with db.unit_of_work(brand.id):
            advisory_locks.stage_affiliate_capacity_lock(brand.id)
            if not capacity.count_affiliates_left(organizations.find(brand.id), now=clock.now()):
                return False
            db.db.run("select pg_sleep(0.1)")
            brand_row = {"slug": slug, "program": program_id, "org": brand.id, "id": ids.new_id()}
            db.db.run(
                "insert into affiliate (id, organization_id, program_id, email, email_normalized, full_name, status,"
                " source, applied_at, created_at) values (%(id)s, %(org)s, %(program)s, %(slug)s, %(slug)s, '',"
                " 'Pending', 'Public', now(), now())",
                brand_row,
            )
            return True

    assert sorted(run_concurrently(lambda: enroll("a@x.test"), lambda: enroll("b@x.test"))) == [False, True]

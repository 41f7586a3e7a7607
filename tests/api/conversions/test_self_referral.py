"""Conversions whose buyer is the credited affiliate, from every source except gateways, under each policy.

Source: tracking spec, "Attribution method taxonomy" (self_referral); the organization's field selfReferrals.
"""

import pytest

from adapters import clock
from models import db
from models.conversions import reviews
from tests.support import books
from tests.support.api.decisions import post_action
from tests.support.api.import_requests import build_past_sale, import_sales
from tests.support.job_queues import drain
from tests.support.recruits import Recruits
from tests.support.rows.brands import Partner
from tests.support.rows.leads import post_browser_lead, post_signed_lead, slug_of

_OWN = "Ben+shop@Example.com"
_CHANNELS = ("sale", "lead", "page_lead", "manual", "import")


@pytest.fixture
def campaign(brand):
    """Return a brand without holds and its affiliate ben; check the ledger invariants after the test."""
    brand.set(payoutGraceDays="0")
    brand.program()
    ben = brand.affiliate("ben")
    with db.unit_of_work(brand.id):
        db.db.run(
            "insert into tracking_link (id, organization_id, program_id, affiliate_id, slug, is_default, created_at)"
            " select gen_random_uuid(), organization_id, program_id, affiliate_id, %s, false, created_at"
            " from tracking_link where affiliate_id = %s returning 1",
            (slug_of(brand), ben),
        )
    yield brand
    violations = books.list_violations(brand.id, is_finished=False)
    imported = {id for (id,) in brand.rows("select external_event_id from conversion where source = 'import'")}
    # Imports send no events.
    assert [
        violation
        for violation in violations
        if violation.removeprefix("every conversion is announced once: ") not in imported
    ] == []


def _set_policy(brand, policy):
    answer = brand.person("Owner").call("PATCH", "/api/organizations/me", {"selfReferrals": policy})
    assert (answer.status_code, answer.json["selfReferrals"]) == (200, policy)


def _convert(brand, channel, email=_OWN):
    """Create a conversion of a buyer with this email by one of `_CHANNELS`, and return it as the API shows it."""
    if channel == "sale":
        assert brand.sale(customerEmail=email).status_code == 200
    elif channel == "lead":
        assert post_signed_lead(brand, email=email).status_code == 200
    elif channel == "page_lead":
        assert post_browser_lead(brand, email=email).status_code == 200
    elif channel == "manual":
        ((affiliate_id,),) = brand.rows("select id from affiliate")
        body = {"programId": str(brand.programs[-1]), "affiliateId": str(affiliate_id), "amountCents": 10_000}
        assert brand.post("/api/v1/conversions", body | {"customerEmail": email}).status_code == 201
    else:
        assert import_sales(brand, build_past_sale(customerEmail=email), confirmUnpaidPayout=True).status_code == 200
    drain()
    (conversion,) = brand.get("/api/v1/conversions").json["items"]
    return conversion


def _release_due(brand):
    with db.any_org_work():
        reviews.any_org_release(now=clock.now(), limit=1_000)
    return brand.get("/api/v1/conversions").json["items"][0]["status"]


def _list_payable_ids(brand):
    candidates = brand.person("Owner").post("/api/v1/payouts/preview", {}).json["candidates"]
    return [id for candidate in candidates for id in candidate["eligibleConversionIds"]]


def _list_events(brand, type):
    return [body["data"] for (body,) in brand.rows("select body::jsonb from event where type = %s", type)]


@pytest.mark.parametrize("channel", _CHANNELS)
def test_own_purchase_earns_by_default(campaign, channel):
    assert campaign.person("Owner").get("/api/organizations/me").json["selfReferrals"] == "earn"

    conversion = _convert(campaign, channel)

    assert (conversion["selfReferral"], conversion["awaitsApproval"]) == (True, False)
    assert conversion["status"] == ("Approved" if channel == "import" else "Pending")
    assert campaign.get(f"/api/v1/conversions/{conversion['id']}").json["selfReferral"] is True
    assert _list_events(campaign, "conversion.denied") == []


@pytest.mark.parametrize("policy", ["earn", "hold", "deny"])
@pytest.mark.parametrize("channel", _CHANNELS)
def test_purchase_of_another_person_is_no_self_referral(campaign, channel, policy):
    _set_policy(campaign, policy)

    conversion = _convert(campaign, channel, email="ann@example.com")

    assert (conversion["selfReferral"], conversion["awaitsApproval"]) == (False, False)
    assert conversion["status"] == ("Approved" if channel == "import" else "Pending")


@pytest.mark.parametrize("channel", _CHANNELS)
def test_held_self_referral_enters_no_payout_until_a_manager_approves_it(campaign, channel):
    _set_policy(campaign, "hold")

    conversion = _convert(campaign, channel)

    assert (
        conversion["selfReferral"],
        conversion["status"],
        conversion["awaitsApproval"],
        conversion["payableAt"],
    ) == (
        True,
        "Pending",
        True,
        None,
    )
    assert (_release_due(campaign), _list_payable_ids(campaign)) == ("Pending", [])

    approved = post_action(campaign.person("Manager"), "approve", conversion["id"])

    assert (approved.status_code, approved.json["status"], approved.json["awaitsApproval"]) == (200, "Approved", False)
    assert _list_payable_ids(campaign) == ([conversion["id"]] if conversion["commissionCents"] else [])


@pytest.mark.parametrize("channel", _CHANNELS)
def test_denied_self_referral_earns_nothing(campaign, channel):
    _set_policy(campaign, "deny")

    conversion = _convert(campaign, channel)

    assert (conversion["selfReferral"], conversion["status"]) == (True, "Denied")
    assert campaign.rows("select coalesce(sum(amount_cents), 0)::int from ledger_entry") == [(0,)]
    assert (_release_due(campaign), _list_payable_ids(campaign)) == ("Denied", [])
    if channel == "import":  # an import sends no events
        assert _list_events(campaign, "conversion.denied") == []
        return
    (created,), (denied,) = _list_events(campaign, "conversion.created"), _list_events(campaign, "conversion.denied")
    assert (created["conversionId"], created["status"]) == (conversion["id"], "Denied")
    assert (denied["conversionId"], denied["status"], denied["previousStatus"], denied["reason"]) == (
        conversion["id"],
        "Denied",
        "Pending",
        "self_referral",
    )


def test_held_commission_counts_as_pending_until_it_is_approved(campaign):
    _set_policy(campaign, "hold")
    conversion = _convert(campaign, "sale")

    def stats():
        (totals,) = campaign.get("/api/v1/programs/stats").json
        return totals["pendingCommissionCents"], totals["availableCommissionCents"]

    assert stats() == (2_000, 0)
    drain()
    assert stats() == (2_000, 0)
    post_action(campaign.person("Manager"), "approve", conversion["id"])
    assert stats() == (0, 2_000)
    drain()
    assert stats() == (0, 2_000)


def test_bonus_with_the_affiliates_address_is_no_self_referral(campaign):
    _set_policy(campaign, "deny")
    ((affiliate_id,),) = campaign.rows("select id from affiliate")
    body = {"programId": str(campaign.programs[-1]), "affiliateId": str(affiliate_id), "kind": "bonus"}

    answer = campaign.post("/api/v1/conversions", body | {"commissionCents": 500, "customerEmail": _OWN})

    assert (answer.json["conversion"]["selfReferral"], answer.json["conversion"]["status"]) == (False, "Pending")


def test_policy_change_does_not_affect_earlier_conversions(campaign):
    _set_policy(campaign, "hold")
    conversion = _convert(campaign, "sale")

    _set_policy(campaign, "earn")

    assert campaign.get(f"/api/v1/conversions/{conversion['id']}").json["awaitsApproval"] is True
    assert _release_due(campaign) == "Pending"


def test_quarantined_and_validated_self_referral_still_needs_an_approval(campaign):
    _set_policy(campaign, "hold")
    conversion = _convert(campaign, "sale")
    post_action(campaign, "invalidate", conversion["id"])

    conversion = post_action(campaign, "validate", conversion["id"]).json

    assert (conversion["status"], conversion["awaitsApproval"]) == ("Pending", True)
    assert (_release_due(campaign), _list_payable_ids(campaign)) == ("Pending", [])


def test_override_of_a_held_sale_is_held_until_the_sale_is_approved(brand):
    brand.set(payoutGraceDays="0", selfReferrals="hold")
    recruits = Recruits.create(brand)
    sale_id = recruits.sell(customerEmail="ben@example.com")
    drain()
    assert recruits.overrides("status, needs_approval, self_referral") == [("Pending", True, False)]
    assert _list_payable_ids(brand) == []

    post_action(brand.person("Manager"), "approve", sale_id)

    assert recruits.overrides("status, needs_approval") == [("Pending", False)]
    assert len(_list_payable_ids(brand)) == 2
    assert books.list_violations(brand.id) == []


def test_override_written_after_the_approval_is_not_held(brand):
    brand.set(payoutGraceDays="0", selfReferrals="hold")
    recruits = Recruits.create(brand)
    sale_id = recruits.sell(customerEmail="ben@example.com")
    recruits.settle(sale_id)
    post_action(brand.person("Manager"), "approve", sale_id)

    drain()

    assert recruits.overrides("status, needs_approval") == [("Pending", False)]
    assert books.list_violations(brand.id) == []


def test_full_refund_of_a_held_sale_and_its_restoration_keep_the_hold(campaign):
    _set_policy(campaign, "hold")
    conversion = _convert(campaign, "sale")
    campaign.refund(conversion["externalEventId"])
    drain()

    conversion = campaign.get(f"/api/v1/conversions/{conversion['id']}").json

    assert (conversion["status"], conversion["awaitsApproval"], conversion["commissionCents"]) == ("Refunded", False, 0)


@pytest.mark.parametrize(
    ("policy", "state", "sentence"),
    [
        ("earn", "Payable", "The buyer's email address is your own."),
        ("hold", "Held", "It is paid only after the brand approves it."),
        ("deny", "Denied", "The brand denied it."),
    ],
)
def test_affiliate_sees_the_state_of_their_own_purchase(campaign, policy, state, sentence):
    _set_policy(campaign, policy)
    _convert(campaign, "sale")

    ben = Partner(campaign.app, "ben@example.com")
    (conversion,) = ben.get(f"/api/me/conversions?programId={campaign.programs[-1]}").json["items"]

    assert (conversion["state"], conversion["selfReferral"]) == (state, True)
    assert {"The buyer's email address is your own.", sentence} <= set(conversion["why"])
    assert (conversion["payableAt"] is None) == (policy != "earn")


def test_imported_history_stays_locked_under_every_policy(campaign):
    for policy in ("hold", "deny"):
        _set_policy(campaign, policy)
        rows = [build_past_sale(customerEmail=_OWN, paid=paid, externalId=f"{policy} {paid}") for paid in (True, False)]
        assert import_sales(campaign, *rows).status_code == 200

    conversions = campaign.get("/api/v1/conversions").json["items"]

    assert {
        (conversion["status"], conversion["locked"], conversion["selfReferral"], conversion["awaitsApproval"])
        for conversion in conversions
    } == {
        ("Paid", True, True, False),
        ("Pending", True, True, False),
    }


@pytest.mark.parametrize(
    ("policy", "code", "payable"),
    [("earn", "self_referral", 4_000), ("hold", "self_referral_held", 2_000), ("deny", "self_referral_denied", 2_000)],
)
def test_import_warns_of_self_referrals_and_totals_only_payable_ones(campaign, policy, code, payable):
    _set_policy(campaign, policy)
    rows = [build_past_sale(customerEmail=_OWN), build_past_sale(customerEmail="ann@example.com")]

    preview = import_sales(campaign, *rows, url="/api/v1/conversions/import/preview").json
    result = import_sales(campaign, *rows, confirmUnpaidPayout=True).json

    assert [[warning["code"] for warning in row["warnings"]] for row in preview["rows"]] == [[code], []]
    assert [(warning["index"], warning["code"]) for warning in result["warnings"]] == [(0, code)]
    assert [balance["commissionCents"] for balance in preview["unpaidBalance"]] == [payable]
    assert result["unpaidConfirmedCents"] == payable


def test_unknown_policy_is_refused(campaign):
    for value in ("Hold", "", None, 1):
        answer = campaign.person("Owner").call("PATCH", "/api/organizations/me", {"selfReferrals": value})
        assert answer.status_code == 400, value
    assert campaign.person("Admin").call("PATCH", "/api/organizations/me", {"selfReferrals": "deny"}).status_code == 403

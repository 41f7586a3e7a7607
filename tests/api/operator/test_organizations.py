"""Organizations, attention counts and broken connections at the console."""

import pytest

from adapters import clock
from models import db
from models.ledger import results
from pipelines.organization import operator_settings
from tests.support.gateways.gateway_connections import connect_gateway, play_gateway
from tests.support.outside.console import list_audit_entries, stage_failed_job


def _find_row(console, brand):
    (organization,) = console.get("organizations", q=brand.id)["items"]
    return organization


def test_organizations_are_found_by_part_of_the_name_or_by_id(console, brand, rival):
    with db.any_org_work():
        db.db.run("update organization set name = 'Ünique 100%% Knives' where id = %s", (brand.id,))

    assert [organization["id"] for organization in console.get("organizations", q="ünique 100%25")["items"]] == [
        str(brand.id)
    ]
    assert _find_row(console, rival)["name"] == "Rival"
    assert console.get("organizations", q="no such name")["items"] == []


def test_pages_have_no_gap(console, brand, rival):
    first = console.get("organizations", take=1)
    second = console.get("organizations", take=1, cursor=first["nextCursor"])

    assert [organization["id"] for page in (first, second) for organization in page["items"]] == [
        str(rival.id),
        str(brand.id),
    ]


def test_list_item_shows_risk_settings(console, brand):
    brand.program()
    brand.affiliate("ben")
    brand.set(plan="Pro", fraudScore="70", needsReview="on", fundingFrozen="on", payoutHold="3", verified="on")

    item = _find_row(console, brand)
    assert {name: item[name] for name in ("planTier", "fraudScore", "affiliates", "payoutHoldDays")} == {
        "planTier": "Pro",
        "fraudScore": 70,
        "affiliates": 1,
        "payoutHoldDays": 3,
    }
    assert (item["payoutsNeedReview"], item["fundingFrozen"], item["verificationState"]) == (True, True, "verified")


def test_every_setting_is_shown(console, brand):
    settings = console.get(f"organizations/{brand.id}")["settings"]
    assert set(settings) == set(operator_settings.NAMES)

    same = {name: value for name, value in settings.items() if name not in ("trialEndsAt", "status")}
    answer = console.call("PATCH", f"organizations/{brand.id}", {"settings": same, "why": "nothing"})

    assert answer.status_code == 200, answer.get_data(as_text=True)
    assert answer.json["settings"] == settings


def test_change_is_audited_with_previous_values_and_reason(console, brand):
    answer = console.call(
        "PATCH",
        f"organizations/{brand.id}",
        {"settings": {"plan": "Pro", "fraudScore": "55", "identityRequired": "auto"}, "why": "they pay more"},
    )
    with db.any_org_work():
        ((before,),) = db.db.run(
            "select before from audit_entry where action = 'organization.changed' and organization_id = %s", (brand.id,)
        )

    assert answer.status_code == 200
    assert (answer.json["settings"]["plan"], answer.json["settings"]["fraudScore"]) == ("Pro", "55")
    assert before == {"plan": "Growth", "fraudScore": "0", "identityRequired": "auto"}
    assert list_audit_entries("organization.changed", brand.id)[-1] == (
        "operator",
        "ops@example.com",
        brand.id,
        {"plan": "Pro", "fraudScore": "55", "identityRequired": "auto", "why": "they pay more"},
    )


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"plan": "Pro", "colour": "red"}, "unknown_setting"),
        ({"plan": "Pro", "fraudScore": "101"}, "bad_value"),
        ({"plan": "Pro", "currency": "XXQ"}, "unsupported_currency"),
    ],
)
def test_invalid_setting_changes_nothing(console, brand, settings, code):
    answer = console.call("PATCH", f"organizations/{brand.id}", {"settings": settings, "why": "w"})

    assert (answer.status_code, answer.json["error"]) == (400, code)
    assert console.get(f"organizations/{brand.id}")["settings"]["plan"] == "Growth"


@pytest.mark.parametrize("body", [{}, {"settings": {"plan": "Pro"}}, {"settings": {}, "why": "w"}, {"why": "w"}])
def test_change_needs_settings_and_a_reason(console, brand, body):
    assert console.call("PATCH", f"organizations/{brand.id}", body).status_code == 400


def test_plan_usage_is_shown(console, brand):
    brand.program()
    limits = console.get(f"organizations/{brand.id}")["limits"]

    assert (limits["campaigns"]["current"], limits["teamSeats"]["current"]) == (1, 1)


def test_owner_sees_the_operator_in_the_audit_log_and_a_key_does_not(console, brand):
    brand.set(plan="Pro")
    console.call("PATCH", f"organizations/{brand.id}", {"settings": {"fraudScore": "5"}, "why": "looked"})
    url = "/api/v1/audit-log?action=organization.changed"
    (to_owner,) = brand.person("Owner").get(url).json["items"]
    (to_key,) = brand.get(url).json["items"]

    assert (to_owner["actorLabel"], to_owner["ip"], to_owner["userAgent"]) == ("ops@example.com", None, None)
    assert (to_key["actorLabel"], to_key["actorType"]) == (None, "operator")


def test_attention_counts_pending_work(console, brand):
    before = console.get("attention")
    stage_failed_job(brand)
    with db.any_org_work():
        results.stage(organization_id=brand.id, findings=[("a rule", "broken")], at=clock.now())
    after = console.get("attention")

    assert set(after) == {
        "deadLetters",
        "runsToReview",
        "doubtfulPayouts",
        "railEvents",
        "redOrganizations",
        "failedMail",
        "connections",
        "disputes",
        "networkReviews",
        "lateTicks",
        "staleRates",
    }
    assert (before["deadLetters"], after["deadLetters"]) == (0, 1)
    assert after["redOrganizations"] == before["redOrganizations"] + 1


def test_broken_connections_are_listed(console, brand):
    with play_gateway() as stage:
        connection = connect_gateway(brand.person("Owner"), stage)
    healthy_ids = [item["id"] for item in console.get("connections")]
    with db.any_org_work():
        db.db.run(
            "update gateway_connection set status = 'Broken', last_error = 'key revoked', refused_at = now()"
            " where id = %s",
            (connection["id"],),
        )
    (listed,) = [item for item in console.get("connections") if item["id"] == connection["id"]]

    assert connection["id"] not in healthy_ids
    assert connection["id"] in [item["id"] for item in console.get("connections", troubled="false")]
    assert (listed["kind"], listed["status"], listed["lastError"]) == ("gateway", "Broken", "key revoked")
    assert listed["organizationId"] == str(brand.id)

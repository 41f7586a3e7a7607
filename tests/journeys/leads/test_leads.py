"""The end of a lead: a sale, ninety days without one, or a decision of the brand (tracking spec, section 8)."""

from decimal import Decimal

import peewee
import pytest

from domain.leads import LeadMethod
from domain.programs.fees import Fee
from domain.programs.rewards import Reward
from domain.statuses import ConversionStatus
from models import db, ids
from pipelines.leads import lifecycle
from tests.support.rows.lead_rows import DAY, expire_leads, record_lead
from tests.support.rows.leads import list_lead_emails, list_lead_states, post_signed_lead
from tests.support.rows.program_rows import insert_conversion, time_ago
from tests.support.running.hours import start_of_test


def _reward(currency):
    return Reward(Fee(750, currency), Decimal("7.50"), "program")


def _convert(brand, lead_id, conversion_id):
    with db.unit_of_work(brand.id):
        lifecycle.stage_convert(
            organization_id=brand.id, lead_id=lead_id, conversion_id=conversion_id, now=start_of_test()
        )


def test_sale_converts_an_open_lead_once(brand, ben):
    lead_id = record_lead(brand, ben)
    first, second = insert_conversion(brand, ben), insert_conversion(brand, ben)

    _convert(brand, lead_id, first)
    _convert(brand, lead_id, second)

    assert brand.rows("select state, converted_by_conversion_id, converted_at from lead") == [
        ("Converted", first, start_of_test())
    ]


@pytest.mark.parametrize("state", ["Expired", "Invalidated"])
def test_only_open_leads_are_converted(brand, ben, state):
    lead_id = record_lead(brand, ben)
    brand.rows("update lead set state = %s returning id", state)

    _convert(brand, lead_id, insert_conversion(brand, ben))

    assert list_lead_states(brand) == [state]


def test_unknown_conversion_cannot_convert_a_lead(brand, ben):
    lead_id = record_lead(brand, ben)

    with pytest.raises(peewee.IntegrityError):
        _convert(brand, lead_id, ids.new_id())

    assert list_lead_states(brand) == ["Open"]


def test_lead_without_its_conversion_is_rejected_by_the_database(brand, ben):
    lead_id = record_lead(brand, ben)

    with pytest.raises(peewee.IntegrityError), db.unit_of_work(brand.id):
        db.db.run("update lead set id = %s where id = %s", (ids.new_id(), lead_id))


def _decide(brand, lead_id, action):
    answer = brand.person("Manager").post(f"/api/v1/conversions/{lead_id}/{action}", {"reason": "looked at"})
    assert answer.status_code == 200, answer.get_data(as_text=True)
    return answer.json["status"]


def test_lead_is_invalidated_and_validated_with_its_conversion(brand, ben):
    lead_id = record_lead(brand, ben)

    after_invalidation = (_decide(brand, lead_id, "invalidate"), list_lead_states(brand))
    after_validation = (_decide(brand, lead_id, "validate"), list_lead_states(brand))

    assert after_invalidation == ("Invalidated", ["Invalidated"])
    assert after_validation == ("Pending", ["Open"])


def test_validated_lead_regains_its_state(brand, ben):
    converted = record_lead(brand, ben, "a@example.com", occurred_at=time_ago(days=100))
    expired = record_lead(brand, ben, "b@example.com", occurred_at=time_ago(days=99))
    _convert(brand, converted, insert_conversion(brand, ben))
    for lead_id in (converted, expired):
        _decide(brand, lead_id, "invalidate")
    invalidated_states = list_lead_states(brand)
    for lead_id in (converted, expired):
        _decide(brand, lead_id, "validate")

    assert invalidated_states == ["Invalidated", "Invalidated"]
    assert list_lead_states(brand) == ["Converted", "Expired"]


def test_expired_lead_stays_expired_and_blocks_no_new_one(brand, ben):
    expired_id = record_lead(brand, ben, occurred_at=time_ago(days=91))
    expire_leads()
    post_signed_lead(brand, email="ada@example.com")

    _decide(brand, expired_id, "invalidate")
    invalidated_states = list_lead_states(brand)
    _decide(brand, expired_id, "validate")

    assert invalidated_states == list_lead_states(brand) == ["Expired", "Open"]


def test_denied_lead_stays_open(brand, ben):
    lead_id = record_lead(brand, ben)

    answer = brand.person("Manager").post(f"/api/conversions/{lead_id}/deny")

    assert answer.json["status"] == "Denied"
    assert list_lead_states(brand) == ["Open"]


def test_invalidated_sale_leaves_its_lead_converted(brand, ben):
    lead_id = record_lead(brand, ben)
    sale_id = insert_conversion(brand, ben)
    _convert(brand, lead_id, sale_id)

    _decide(brand, sale_id, "invalidate")

    assert list_lead_states(brand) == ["Converted"]


def test_paid_lead_is_a_separate_row_with_its_fee(brand, ben):
    free_id = record_lead(brand, ben)
    paid_id = record_lead(brand, ben, method=LeadMethod.lead_form, reward=_reward("EUR"))
    repeated_id = record_lead(brand, ben, method=LeadMethod.lead_form, reward=_reward("EUR"))

    assert repeated_id is None
    assert brand.rows(
        "select id, commission_cents, currency, payability, attribution_method, rate_source, amount_cents"
        " from conversion order by commission_cents"
    ) == [
        (free_id, 0, "USD", "not_paid_on_campaign", "lead_signup", "lead", 0),
        (paid_id, 750, "EUR", "payable", "lead_form", "program", 0),
    ]
    assert brand.rows("select conversion_id, kind, amount_cents, currency from ledger_entry") == [
        (paid_id, "earn", 750, "EUR")
    ]


def test_quarantined_lead_owes_nothing_until_validated(brand, ben):
    lead_id = record_lead(
        brand, ben, method=LeadMethod.lead_form, reward=_reward("USD"), status=ConversionStatus.Invalidated
    )
    state_before = (list_lead_states(brand), brand.rows("select count(*) from ledger_entry"))

    _decide(brand, lead_id, "validate")

    assert state_before == (["Invalidated"], [(0,)])
    assert list_lead_states(brand) == ["Open"]
    assert brand.rows("select amount_cents from ledger_entry") == [(750,)]


def test_lead_hold_is_the_organizations(brand, ben):
    brand.rows("update organization set payout_grace_days = 7 where id = %s returning id", brand.id)

    record_lead(brand, ben)

    assert brand.rows("select hold_until - occurred_at from conversion") == [(7 * DAY,)]


def test_leads_count_in_campaign_statistics(brand, ben):
    record_lead(brand, ben)

    (stats,) = brand.get("/api/v1/programs/stats").json

    assert [stats[name] for name in ("leads30d", "sales30d", "conversions30d", "pendingCommissionCents")] == [
        1,
        0,
        1,
        0,
    ]


def test_other_tenants_lead_is_not_converted(brand, rival, ben):
    lead_id = record_lead(brand, ben)
    rival.program()

    _convert(rival, lead_id, insert_conversion(rival, rival.affiliate("rita")))

    assert (list_lead_states(brand), list_lead_emails(rival)) == (["Open"], [])

"""What becomes of a lead: a sale, ninety days without one, or a word of the brand (tracking spec, section 8)."""

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
from tests.support.running.hours import test_started_at


def _reward(currency):
    return Reward(Fee(750, currency), Decimal("7.50"), "program")


def _convert(brand, lead_id, conversion_id):
    with db.unit_of_work(brand.id):
        lifecycle.stage_convert(
            organization_id=brand.id, lead_id=lead_id, conversion_id=conversion_id, now=test_started_at()
        )


def test_a_sale_converts_an_open_lead_once(brand, ben):
    lead_id = record_lead(brand, ben)
    first, second = insert_conversion(brand, ben), insert_conversion(brand, ben)

    _convert(brand, lead_id, first)
    _convert(brand, lead_id, second)

    assert brand.rows("select state, converted_by_conversion_id, converted_at from lead") == [
        ("Converted", first, test_started_at())
    ]


@pytest.mark.parametrize("state", ["Expired", "Invalidated"])
def test_only_an_open_lead_is_converted(brand, ben, state):
    lead_id = record_lead(brand, ben)
    brand.rows("update lead set state = %s returning id", state)

    _convert(brand, lead_id, insert_conversion(brand, ben))

    assert list_lead_states(brand) == [state]


def test_a_lead_is_not_converted_by_what_is_not_there(brand, ben):
    lead_id = record_lead(brand, ben)

    with pytest.raises(peewee.IntegrityError):
        _convert(brand, lead_id, ids.new_id())

    assert list_lead_states(brand) == ["Open"]


def test_a_lead_without_its_conversion_is_refused_by_the_database(brand, ben):
    lead_id = record_lead(brand, ben)

    with pytest.raises(peewee.IntegrityError), db.unit_of_work(brand.id):
        db.db.run("update lead set id = %s where id = %s", (ids.new_id(), lead_id))


def _decide(brand, lead_id, word):
    answer = brand.person("Manager").post(f"/api/v1/conversions/{lead_id}/{word}", {"reason": "looked at"})
    assert answer.status_code == 200, answer.get_data(as_text=True)
    return answer.json["status"]


def test_a_lead_goes_and_comes_back_with_its_conversion(brand, ben):
    lead_id = record_lead(brand, ben)

    gone = (_decide(brand, lead_id, "invalidate"), list_lead_states(brand))
    back = (_decide(brand, lead_id, "validate"), list_lead_states(brand))

    assert gone == ("Invalidated", ["Invalidated"])
    assert back == ("Pending", ["Open"])


def test_a_lead_that_comes_back_is_converted_or_expired_as_it_was(brand, ben):
    converted = record_lead(brand, ben, "a@example.com", occurred_at=time_ago(days=100))
    expired = record_lead(brand, ben, "b@example.com", occurred_at=time_ago(days=99))
    _convert(brand, converted, insert_conversion(brand, ben))
    for lead_id in (converted, expired):
        _decide(brand, lead_id, "invalidate")
    gone = list_lead_states(brand)
    for lead_id in (converted, expired):
        _decide(brand, lead_id, "validate")

    assert gone == ["Invalidated", "Invalidated"]
    assert list_lead_states(brand) == ["Converted", "Expired"]


def test_an_expired_lead_stays_so_and_keeps_nobody_out(brand, ben):
    old = record_lead(brand, ben, occurred_at=time_ago(days=91))
    expire_leads()
    post_signed_lead(brand, email="ada@example.com")

    _decide(brand, old, "invalidate")
    gone = list_lead_states(brand)
    _decide(brand, old, "validate")

    assert gone == list_lead_states(brand) == ["Expired", "Open"]


def test_a_denied_lead_is_a_lead_still(brand, ben):
    lead_id = record_lead(brand, ben)

    answer = brand.person("Manager").post(f"/api/conversions/{lead_id}/deny")

    assert answer.json["status"] == "Denied"
    assert list_lead_states(brand) == ["Open"]


def test_the_word_on_a_sale_leaves_leads_alone(brand, ben):
    lead_id = record_lead(brand, ben)
    sale_id = insert_conversion(brand, ben)
    _convert(brand, lead_id, sale_id)

    _decide(brand, sale_id, "invalidate")

    assert list_lead_states(brand) == ["Converted"]


def test_a_paid_lead_carries_its_fee_and_is_a_row_beside_the_free_one(brand, ben):
    free = record_lead(brand, ben)
    paid = record_lead(brand, ben, method=LeadMethod.lead_form, reward=_reward("EUR"))
    again = record_lead(brand, ben, method=LeadMethod.lead_form, reward=_reward("EUR"))

    assert again is None
    assert brand.rows(
        "select id, commission_cents, currency, payability, attribution_method, rate_source, amount_cents"
        " from conversion order by commission_cents"
    ) == [
        (free, 0, "USD", "not_paid_on_campaign", "lead_signup", "lead", 0),
        (paid, 750, "EUR", "payable", "lead_form", "program", 0),
    ]
    assert brand.rows("select conversion_id, kind, amount_cents, currency from ledger_entry") == [
        (paid, "earn", 750, "EUR")
    ]


def test_a_lead_in_quarantine_owes_nothing_until_it_is_validated(brand, ben):
    lead_id = record_lead(
        brand, ben, method=LeadMethod.lead_form, reward=_reward("USD"), status=ConversionStatus.Invalidated
    )
    held = (list_lead_states(brand), brand.rows("select count(*) from ledger_entry"))

    _decide(brand, lead_id, "validate")

    assert held == (["Invalidated"], [(0,)])
    assert list_lead_states(brand) == ["Open"]
    assert brand.rows("select amount_cents from ledger_entry") == [(750,)]


def test_its_hold_is_the_organizations(brand, ben):
    brand.rows("update organization set payout_grace_days = 7 where id = %s returning id", brand.id)

    record_lead(brand, ben)

    assert brand.rows("select hold_until - occurred_at from conversion") == [(7 * DAY,)]


def test_leads_count_as_leads_in_the_campaigns_numbers(brand, ben):
    record_lead(brand, ben)

    (stats,) = brand.get("/api/v1/programs/stats").json

    assert [stats[name] for name in ("leads30d", "sales30d", "conversions30d", "pendingCommissionCents")] == [
        1,
        0,
        1,
        0,
    ]


def test_another_tenant_cannot_change_a_lead(brand, rival, ben):
    lead_id = record_lead(brand, ben)
    rival.program()

    _convert(rival, lead_id, insert_conversion(rival, rival.affiliate("rita")))

    assert (list_lead_states(brand), list_lead_emails(rival)) == (["Open"], [])

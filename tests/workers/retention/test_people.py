"""Who a lead was, and from which address somebody came, is forgotten a while after it matters."""

import os
import re

import peewee
import pytest

import settings
from adapters import sealing
from adapters.fraud import human_check
from models import db
from tests.support.api.audit_entries import insert_entry
from tests.support.databases import alter
from tests.support.rows import leads, paid_leads
from tests.support.rows.program_rows import time_ago
from tests.support.rows.retention_rows import end_due, insert_dead_letter

_HASH = r"hash:[0-9a-f]{32}"


@pytest.fixture
def expired(brand, ben):
    """A lead that expired 40 days ago."""
    answer = leads.post_signed_lead(brand, email="Ada@Example.com", name="Ada")
    assert answer.status_code == 200, answer.json
    _expire(brand, days=40)
    return brand


def _expire(brand, *, days, state="Expired"):
    alter(brand, "update lead set state = %s, expires_at = %s", state, time_ago(days=days))


def _person(brand):
    return brand.rows(
        "select l.email, l.email_normalized, l.name, c.customer_email, c.customer_name, c.customer_avatar_url"
        " from lead l join conversion c on c.id = l.id"
    )[0]


def test_who_a_lead_was_is_forgotten_a_while_after_it_expired(expired):
    ((before_id, before_event),) = expired.rows("select id, event_id from lead")

    end_due("leads")

    email, normalized, *rest = _person(expired)
    assert (email, rest) == ("", [None] * 4)
    assert re.fullmatch(_HASH, normalized)
    assert expired.rows("select id, event_id, state from lead") == [(before_id, before_event, "Expired")]
    assert end_due("leads")["leads"] == 0, "and once"


@pytest.mark.parametrize(("state", "days"), [("Expired", 29), ("Open", 40), ("Invalidated", 40)])
def test_a_lead_that_may_still_matter_is_not_forgotten(expired, state, days):
    _expire(expired, days=days, state=state)

    end_due("leads")

    assert _person(expired)[0] == "Ada@Example.com"


def test_a_lead_is_not_forgotten_while_a_sale_of_its_brand_waits_among_the_dead_letters(expired):
    insert_dead_letter(expired, "sales", days=1, name="sale.settle")

    end_due("leads")

    assert _person(expired)[0] == "Ada@Example.com"


def test_nobody_is_paid_twice_for_a_person_who_is_forgotten(brand, drain):
    with paid_leads.configure_human_check(URL="local"):
        slug, person = paid_leads.create_campaign(brand), paid_leads.unique_person_email()
        paid_leads.send_lead(brand, slug, email=person)
        drain()
        _expire(brand, days=40)
        end_due("leads")
        paid_leads.send_lead(brand, slug, email=person.upper())
        drain()

    assert len(paid_leads.list_lead_conversions(brand)) == 1


def test_a_new_secret_key_does_not_pay_for_them_again_while_the_former_one_is_listed(brand, drain, monkeypatch):
    with paid_leads.configure_human_check(URL="local"):
        slug, person = paid_leads.create_campaign(brand), paid_leads.unique_person_email()
        paid_leads.send_lead(brand, slug, email=person)
        drain()
        _expire(brand, days=40)
        end_due("leads")
        former = os.environ["SECRET_KEY"]
        with monkeypatch.context() as changed:
            changed.setenv("SECRET_KEY", "another key that is long enough too")
            changed.setenv("SECRET_KEY_PREVIOUS", former)
            settings.current.cache_clear()
            sealing.clear_caches()
            human_check.clear_caches()
            paid_leads.send_lead(brand, slug, email=person)
            drain()
        settings.current.cache_clear()
        sealing.clear_caches()

    assert len(paid_leads.list_lead_conversions(brand)) == 1


@pytest.fixture
def old_entry(brand):
    """An entry of 100 days ago from 203.0.113.7."""
    insert_entry(brand, at=time_ago(days=100))
    return brand


def _ips(brand):
    return [ip for (ip,) in brand.rows("select ip from audit_entry order by created_at")]


def test_an_old_address_becomes_a_hash_and_is_still_found_by_whoever_knows_it(old_entry):
    insert_entry(old_entry, at=time_ago(days=80))
    before = old_entry.rows("select to_jsonb(e) - 'ip' from audit_entry e order by created_at")

    end_due("audit_addresses")

    hashed, kept = _ips(old_entry)
    assert re.fullmatch(_HASH, hashed)
    assert kept == "203.0.113.7"
    assert old_entry.rows("select to_jsonb(e) - 'ip' from audit_entry e order by created_at") == before
    owner = old_entry.person("Owner")
    assert owner.get("/api/v1/audit-log?ip=203.0.113.7").json["total"] == 2
    assert owner.get("/api/v1/audit-log?ip=203.0.113.8").json["total"] == 0


@pytest.mark.parametrize(
    "change",
    [
        "ip = null",
        "ip = '203.0.113.8'",
        "ip = 'hash:short'",
        "ip = 'hash:' || md5('x'), action = 'x'",
        "ip = 'hash:' || md5('x'), actor_user_id = null",
        "ip = 'hash:' || md5('x'), created_at = now()",
        "ip = 'hash:' || md5('x'), before = null",
        "ip = 'hash:' || md5('x'), organization_id = null",
        "user_agent = null",
        "action = action",
    ],
)
def test_nothing_else_of_an_audit_entry_can_be_changed(old_entry, change):
    with pytest.raises(peewee.PeeweeException, match="append-only"), db.any_org_work():
        db.db.run(f"update audit_entry set {change} where organization_id = %s", (old_entry.id,))

    assert _ips(old_entry) == ["203.0.113.7"]


@pytest.mark.parametrize("statement", ["update audit_entry set ip = 'hash:' || md5('x')", "delete from audit_entry"])
def test_a_young_entry_changes_not_at_all(brand, statement):
    insert_entry(brand, at=time_ago(days=29))

    with pytest.raises(peewee.PeeweeException, match="append-only"), db.unit_of_work(brand.id):
        db.db.run(statement)


def test_a_hash_is_no_address_to_be_hashed_again(old_entry):
    end_due("audit_addresses")

    with pytest.raises(peewee.PeeweeException, match="append-only"), db.unit_of_work(old_entry.id):
        db.db.run("update audit_entry set ip = 'hash:' || md5('x')")


def test_the_old_entry_itself_is_never_deleted(old_entry):
    with pytest.raises(peewee.PeeweeException, match="append-only"), db.unit_of_work(old_entry.id):
        db.db.run("delete from audit_entry")

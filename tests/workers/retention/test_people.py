"""Personal data of leads and IP addresses are deleted some time after they are needed."""

import os
import re

import peewee
import pytest

import settings
from adapters.fraud import human_check
from adapters.secret_key import sealing
from models import db
from tests.support.api.audit_entries import insert_entry
from tests.support.databases import run_as_brand
from tests.support.rows import leads, paid_leads
from tests.support.rows.program_rows import time_ago
from tests.support.rows.retention_rows import end_due, insert_dead_letter

_HASH = r"hash:[0-9a-f]{32}"


@pytest.fixture
def expired_lead(brand, ben):
    """A brand with a lead that expired 40 days ago."""
    answer = leads.post_signed_lead(brand, email="Ada@Example.com", name="Ada")
    assert answer.status_code == 200, answer.json
    _expire(brand, days=40)
    return brand


def _expire(brand, *, days, state="Expired"):
    run_as_brand(brand, "update lead set state = %s, expires_at = %s", state, time_ago(days=days))


def _person(brand):
    return brand.rows(
        "select l.email, l.email_normalized, l.name, c.customer_email, c.customer_name, c.customer_avatar_url"
        " from lead l join conversion c on c.id = l.id"
    )[0]


def test_personal_data_of_an_expired_lead_is_deleted(expired_lead):
    ((before_id, before_event),) = expired_lead.rows("select id, event_id from lead")

    end_due("leads")

    email, normalized, *rest = _person(expired_lead)
    assert (email, rest) == ("", [None] * 4)
    assert re.fullmatch(_HASH, normalized)
    assert expired_lead.rows("select id, event_id, state from lead") == [(before_id, before_event, "Expired")]
    assert end_due("leads")["leads"] == 0, "and once"


@pytest.mark.parametrize(("state", "days"), [("Expired", 29), ("Open", 40), ("Invalidated", 40)])
def test_lead_within_its_retention_is_kept(expired_lead, state, days):
    _expire(expired_lead, days=days, state=state)

    end_due("leads")

    assert _person(expired_lead)[0] == "Ada@Example.com"


def test_lead_is_kept_while_a_sale_is_a_dead_letter(expired_lead):
    insert_dead_letter(expired_lead, "sales", days=1, name="sale.settle")

    end_due("leads")

    assert _person(expired_lead)[0] == "Ada@Example.com"


def test_deleted_person_is_not_paid_for_twice(brand, drain):
    with paid_leads.configure_human_check(URL="local"):
        slug, person = paid_leads.create_campaign(brand), paid_leads.unique_person_email()
        paid_leads.send_lead(brand, slug, email=person)
        drain()
        _expire(brand, days=40)
        end_due("leads")
        paid_leads.send_lead(brand, slug, email=person.upper())
        drain()

    assert len(paid_leads.list_lead_conversions(brand)) == 1


def test_rotated_secret_key_does_not_pay_for_a_deleted_person_again(brand, drain, monkeypatch):
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
    """A brand with an audit entry of 100 days ago from 203.0.113.7."""
    insert_entry(brand, at=time_ago(days=100))
    return brand


def _ips(brand):
    return [ip for (ip,) in brand.rows("select ip from audit_entry order by created_at")]


def test_old_ip_becomes_a_hash_that_is_still_searchable(old_entry):
    insert_entry(old_entry, at=time_ago(days=80))
    entries_before = old_entry.rows("select to_jsonb(e) - 'ip' from audit_entry e order by created_at")

    end_due("audit_addresses")

    hashed_ip, kept_ip = _ips(old_entry)
    assert re.fullmatch(_HASH, hashed_ip)
    assert kept_ip == "203.0.113.7"
    assert old_entry.rows("select to_jsonb(e) - 'ip' from audit_entry e order by created_at") == entries_before
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
def test_other_changes_of_an_audit_entry_are_rejected(old_entry, change):
    with pytest.raises(peewee.PeeweeException, match="append-only"), db.any_org_work():
        db.db.run(f"update audit_entry set {change} where organization_id = %s", (old_entry.id,))

    assert _ips(old_entry) == ["203.0.113.7"]


@pytest.mark.parametrize("statement", ["update audit_entry set ip = 'hash:' || md5('x')", "delete from audit_entry"])
def test_recent_audit_entry_cannot_be_changed(brand, statement):
    insert_entry(brand, at=time_ago(days=29))

    with pytest.raises(peewee.PeeweeException, match="append-only"), db.unit_of_work(brand.id):
        db.db.run(statement)


def test_hashed_ip_cannot_be_hashed_again(old_entry):
    end_due("audit_addresses")

    with pytest.raises(peewee.PeeweeException, match="append-only"), db.unit_of_work(old_entry.id):
        db.db.run("update audit_entry set ip = 'hash:' || md5('x')")


def test_old_audit_entry_cannot_be_deleted(old_entry):
    with pytest.raises(peewee.PeeweeException, match="append-only"), db.unit_of_work(old_entry.id):
        db.db.run("delete from audit_entry")

"""Domains are looked at by the clock: those that wait, and those that are proved."""

from datetime import timedelta

import pytest

from adapters import clock
from domain import jobs
from models import db
from pipelines import work
from tests.support.databases import alter_any
from tests.support.job_queues import drain
from tests.support.outside.brand_dns import TARGET, answering

_HOUR, _DAY = timedelta(hours=1), timedelta(days=1)


@pytest.fixture
def dns(monkeypatch):
    with answering(monkeypatch) as server:
        yield server


class _Watch:
    """A brand's campaign domain and a clock that tests turn."""

    def __init__(self, brand, monkeypatch):
        self.brand, self.domain = brand, f"partners.{brand.id.hex}.example"
        self.program_id = brand.program(custom_domain=self.domain)
        self.now = clock.now()
        monkeypatch.setattr(clock, "now", lambda: self.now)

    def tick(self, after=timedelta()):
        """Let the tick come, this long after the last one."""
        self.now += after
        with db.any_org_work():
            # What other tests have left is no turn of this one.
            db.db.run(
                "update host_proof set due_at = null where organization_id <> %s; update program set custom_domain ="
                " null where custom_domain is not null and not custom_domain_verified and organization_id <> %s;"
                " update organization set tracking_domain = null where not tracking_domain_verified and id <> %s",
                (self.brand.id,) * 3,
            )
            work.enqueue(jobs.DOMAINS_CHECK, organization_id=None)
        drain("upkeep")

    def state(self):
        return self.brand.get(f"/api/v1/programs/{self.program_id}/domain").json["state"]

    def audited(self):
        return self.brand.rows(
            "select action, actor_type, actor_label, after->>'provedBy' from audit_entry where action like"
            " 'program.domain%%' order by created_at, id"
        )

    def letters(self):
        return self.brand.rows("select recipient, subject from mail_message where kind = 'domain.lost'")


@pytest.fixture
def watch(brand, monkeypatch):
    return _Watch(brand, monkeypatch)


def test_a_domain_that_waits_is_found_by_itself_and_audited(watch, dns):
    watch.tick()
    waiting = watch.state()
    dns.zone[watch.domain, "CNAME"] = [f"{TARGET}."]
    watch.tick(timedelta(minutes=1))
    too_soon = watch.state()
    watch.tick(timedelta(minutes=5))

    assert (waiting, too_soon, watch.state()) == ("Pending", "Pending", "Verified")
    assert watch.audited() == [("program.domain_verified", "system", "domain check", "CNAME")]


def test_a_proof_that_is_missing_for_three_days_is_lost_told_once_and_found_again(watch, dns):
    dns.zone[watch.domain, "CNAME"] = [f"{TARGET}."]
    watch.tick()
    dns.zone[watch.domain, "CNAME"] = ["shops.example.net."]
    watch.tick(_DAY)
    failing = watch.state()
    for _ in range(12):
        assert watch.letters() == []
        watch.tick(6 * _HOUR)

    assert (failing, watch.state()) == ("Failing", "Pending")
    assert watch.brand.get(f"/api/v1/programs/{watch.program_id}").json["customDomainVerified"] is False
    assert watch.letters() == [("owner@example.com", f"{watch.domain} lost its proof")]
    watch.tick(_DAY)
    assert len(watch.letters()) == 1
    dns.zone[watch.domain, "CNAME"] = [f"{TARGET}."]
    watch.tick(_DAY)
    assert watch.state() == "Verified"
    assert [action for action, *_ in watch.audited()] == [
        "program.domain_verified",
        "program.domain_lost",
        "program.domain_verified",
    ]


def test_silence_of_dns_loses_nothing(watch, dns):
    dns.zone[watch.domain, "CNAME"] = [f"{TARGET}."]
    watch.tick()
    dns.broken = {watch.domain, f"_finderfee.{watch.domain}"}
    for _ in range(8):
        watch.tick(_DAY)

    assert (watch.state(), watch.letters()) == ("Verified", [])


def test_a_tracking_domain_is_looked_at_and_an_operators_word_is_left_alone(watch, dns):
    go = f"go.{watch.brand.id.hex}.example"
    dns.zone[go, "CNAME"] = [f"{TARGET}."]
    watch.brand.set(trackingDomain=go)
    watch.tick()
    shown = watch.brand.get("/api/v1/settings/tracking-domain").json
    watch.brand.set(trackingDomain=f"word.{go}", trackingDomainVerified="on")
    dns.asked.clear()
    watch.tick(_DAY)

    assert (shown["state"], shown["provedBy"]) == ("Verified", "CNAME")
    assert [name for name, _ in dns.asked if "word." in name] == []
    assert watch.brand.get("/api/v1/settings/tracking-domain").json["provedBy"] == "Operator"


def test_domain_of_another_tenant_is_taken_until_its_hold_has_ended(watch, rival, dns):
    holder = rival.program(custom_domain=watch.domain, custom_domain_verified=True)
    dns.zone[watch.domain, "CNAME"] = [f"{TARGET}."]
    watch.tick()
    taken = watch.state()
    rival.call("DELETE", f"/api/v1/programs/{holder}")
    watch.tick(timedelta(minutes=5))
    held = watch.state()
    alter_any("update host_hold set held_until = now() where name = %s", watch.domain)
    watch.tick(timedelta(minutes=10))

    assert (taken, held, watch.state()) == ("Taken", "Taken", "Verified")


def test_a_job_of_a_name_that_was_changed_changes_nothing(watch, dns):
    with db.unit_of_work(watch.brand.id):
        work.enqueue(
            jobs.DOMAIN_CHECK,
            organization_id=watch.brand.id,
            holder_id=watch.program_id,
            name=f"before.{watch.domain}",
        )
    drain("upkeep", deliveries=2)

    assert dns.asked == []
    assert watch.state() == "Pending"
    assert watch.audited() == []


def test_ticks_that_come_twice_ask_once(watch, dns):
    watch.tick()
    asked = len(dns.asked)
    watch.tick()

    assert asked > 0
    assert len(dns.asked) == asked

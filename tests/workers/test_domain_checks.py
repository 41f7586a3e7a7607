"""Domains are checked on a schedule: unverified ones and verified ones."""

from datetime import timedelta

import pytest

from adapters import clock
from domain import jobs
from models import db
from pipelines import work
from tests.support.databases import run_for_all_tenants
from tests.support.job_queues import drain
from tests.support.outside.brand_dns import TARGET, run_name_server

_HOUR, _DAY = timedelta(hours=1), timedelta(days=1)


@pytest.fixture
def dns(monkeypatch):
    with run_name_server(monkeypatch) as server:
        yield server


class _Watch:
    """A brand's campaign domain and a clock that tests set."""

    def __init__(self, brand, monkeypatch):
        self.brand, self.domain = brand, f"partners.{brand.id.hex}.example"
        self.program_id = brand.program(custom_domain=self.domain)
        self.now = clock.now()
        monkeypatch.setattr(clock, "now", lambda: self.now)

    def tick(self, after=timedelta()):
        """Run the scheduled check, `after` the last one."""
        self.now += after
        with db.any_org_work():
            # Remove what other tests have left.
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

    def list_audit_entries(self):
        return self.brand.rows(
            "select action, actor_type, actor_label, after->>'provedBy' from audit_entry where action like"
            " 'program.domain%%' order by created_at, id"
        )

    def list_emails(self):
        return self.brand.rows("select recipient, subject from mail_message where kind = 'domain.lost'")


@pytest.fixture
def watch(brand, monkeypatch):
    return _Watch(brand, monkeypatch)


def test_unverified_domain_is_verified_by_the_check_and_audited(watch, dns):
    watch.tick()
    state_before = watch.state()
    dns.zone[watch.domain, "CNAME"] = [f"{TARGET}."]
    watch.tick(timedelta(minutes=1))
    state_after_a_minute = watch.state()
    watch.tick(timedelta(minutes=5))

    assert (state_before, state_after_a_minute, watch.state()) == ("Pending", "Pending", "Verified")
    assert watch.list_audit_entries() == [("program.domain_verified", "system", "domain check", "CNAME")]


def test_missing_proof_for_three_days_is_lost_and_emailed_once(watch, dns):
    dns.zone[watch.domain, "CNAME"] = [f"{TARGET}."]
    watch.tick()
    dns.zone[watch.domain, "CNAME"] = ["shops.example.net."]
    watch.tick(_DAY)
    failing_state = watch.state()
    for _ in range(12):
        assert watch.list_emails() == []
        watch.tick(6 * _HOUR)

    assert (failing_state, watch.state()) == ("Failing", "Pending")
    assert watch.brand.get(f"/api/v1/programs/{watch.program_id}").json["customDomainVerified"] is False
    assert watch.list_emails() == [("owner@example.com", f"Your domain {watch.domain} is no longer in use")]
    watch.tick(_DAY)
    assert len(watch.list_emails()) == 1
    dns.zone[watch.domain, "CNAME"] = [f"{TARGET}."]
    watch.tick(_DAY)
    assert watch.state() == "Verified"
    assert [action for action, *_ in watch.list_audit_entries()] == [
        "program.domain_verified",
        "program.domain_lost",
        "program.domain_verified",
    ]


def test_failing_dns_loses_no_proof(watch, dns):
    dns.zone[watch.domain, "CNAME"] = [f"{TARGET}."]
    watch.tick()
    dns.broken = {watch.domain, f"_finderfee.{watch.domain}"}
    for _ in range(8):
        watch.tick(_DAY)

    assert (watch.state(), watch.list_emails()) == ("Verified", [])


def test_tracking_domain_is_checked_unless_verified_by_the_operator(watch, dns):
    tracking_domain = f"go.{watch.brand.id.hex}.example"
    dns.zone[tracking_domain, "CNAME"] = [f"{TARGET}."]
    watch.brand.set(trackingDomain=tracking_domain)
    watch.tick()
    settings = watch.brand.get("/api/v1/settings/tracking-domain").json
    watch.brand.set(trackingDomain=f"word.{tracking_domain}", trackingDomainVerified="on")
    dns.queries.clear()
    watch.tick(_DAY)

    assert (settings["state"], settings["provedBy"]) == ("Verified", "CNAME")
    assert [name for name, _ in dns.queries if "word." in name] == []
    assert watch.brand.get("/api/v1/settings/tracking-domain").json["provedBy"] == "Operator"


def test_domain_of_another_tenant_is_taken_until_its_hold_ends(watch, rival, dns):
    holder = rival.program(custom_domain=watch.domain, custom_domain_verified=True)
    dns.zone[watch.domain, "CNAME"] = [f"{TARGET}."]
    watch.tick()
    taken_state = watch.state()
    rival.call("DELETE", f"/api/v1/programs/{holder}")
    watch.tick(timedelta(minutes=5))
    held_state = watch.state()
    run_for_all_tenants("update host_hold set held_until = now() where name = %s", watch.domain)
    watch.tick(timedelta(minutes=10))

    assert (taken_state, held_state, watch.state()) == ("Taken", "Taken", "Verified")


def test_job_of_a_changed_name_changes_nothing(watch, dns):
    with db.unit_of_work(watch.brand.id):
        work.enqueue(
            jobs.DOMAIN_CHECK,
            organization_id=watch.brand.id,
            holder_id=watch.program_id,
            name=f"before.{watch.domain}",
        )
    drain("upkeep", deliveries=2)

    assert dns.queries == []
    assert watch.state() == "Pending"
    assert watch.list_audit_entries() == []


def test_repeated_tick_checks_once(watch, dns):
    watch.tick()
    query_count = len(dns.queries)
    watch.tick()

    assert query_count > 0
    assert len(dns.queries) == query_count

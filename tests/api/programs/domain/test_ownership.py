"""Ownership of a custom domain: competing claims, changes, and access to the check."""

import threading
from datetime import UTC, datetime
from uuid import uuid4

from adapters import name_servers
from models import db
from pipelines.organization import tenancy
from tests.api.programs.domain.conftest import Campaign, point_cname, write_txt


def test_txt_record_of_another_tenant_or_program_blocks_the_cname(brand, rival, dns):
    own, second, rivals = Campaign(brand), Campaign(brand), Campaign(rival)
    point_cname(dns, own.domain)
    for other in (second, rivals):
        other_value = other.txt_record()[1]
        write_txt(dns, own, other_value)
        answer = own.check().json
        assert (answer["state"], answer["steps"][1]["found"]) == (
            "Pending",
            f"TXT of another program or organization: {other_value}",
        )


def test_domain_belongs_to_the_first_program_that_proves_it(brand, rival, dns):
    first = Campaign(brand)
    second = Campaign(rival, first.domain)
    point_cname(dns, first.domain)

    assert first.check().json["state"] == "Verified"
    refused = second.check()

    assert (refused.status_code, refused.json["error"]) == (409, "custom_domain_already_taken")
    assert str(brand.id) not in refused.text
    assert "Brand" not in refused.text
    assert first.program_id not in refused.text
    assert not second.is_verified()


def test_concurrent_checks_of_two_programs_leave_one_owner(brand, rival, dns):
    campaigns = [Campaign(brand)]
    campaigns.append(Campaign(rival, campaigns[0].domain))
    point_cname(dns, campaigns[0].domain)
    answers = []
    threads = [
        threading.Thread(target=lambda campaign=campaign: answers.append(campaign.check())) for campaign in campaigns
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(answer.status_code for answer in answers) == [200, 409]
    assert [campaign.is_verified() for campaign in campaigns].count(True) == 1


def test_other_tenants_tracking_or_portal_domain_is_refused_and_own_accepted(brand, rival, dns):
    own = Campaign(brand)
    point_cname(dns, own.domain)
    for setting in ({"trackingDomain": own.domain, "trackingDomainVerified": "on"}, {"portalHost": own.domain}):
        rival.set(**setting)
        assert own.check().json["error"] == "custom_domain_already_taken", setting
        rival.set(trackingDomain="none", portalHost="none")
    with db.any_org_work():
        tenancy.any_org_free_host(own.domain)
    brand.set(trackingDomain=own.domain, trackingDomainVerified="on", portalHost=own.domain)

    assert own.check().json["state"] == "Verified"


def test_domain_changed_during_a_check_is_not_verified(campaign, dns, monkeypatch):
    point_cname(dns, campaign.domain)
    new_domain = f"after.{campaign.brand.id.hex}.example"
    read = name_servers.read

    def read_and_change(queries, *, limit_s):
        records = read(queries, limit_s=limit_s)
        assert campaign.change(customDomain=new_domain).status_code == 200
        return records

    monkeypatch.setattr(name_servers, "read", read_and_change)

    answer = campaign.check()

    assert (answer.status_code, answer.json["error"]) == (409, "domain_changed")
    assert (campaign.read_state()["domain"], campaign.read_state()["state"]) == (new_domain, "Pending")


def test_changed_domain_loses_its_proof(campaign, dns):
    point_cname(dns, campaign.domain)
    campaign.check()
    domain = campaign.domain

    campaign.change(customDomain=f"b.{domain}")
    changed = campaign.read_state()
    campaign.change(customDomain=domain)
    restored = campaign.read_state()
    campaign.change(customDomain=None)

    for state in (changed, restored):
        assert (state["state"], state["provedBy"], state["checkedAt"]) == ("Pending", None, None)
    assert (campaign.read_state()["state"], campaign.read_state()["steps"]) == ("Unset", [])
    assert (campaign.check().status_code, campaign.check().json["error"]) == (409, "no_custom_domain")


def test_concurrent_checks_verify_once(campaign, dns):
    point_cname(dns, campaign.domain)
    answers = []
    threads = [threading.Thread(target=lambda: answers.append(campaign.check())) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [(answer.status_code, answer.json["state"]) for answer in answers] == [(200, "Verified")] * 2
    assert len(campaign.list_audit_entries()) == 1


def test_verified_domain_stays_verified_when_a_check_fails(campaign, dns):
    point_cname(dns, campaign.domain)
    campaign.check()
    dns.zone = {}

    answer = campaign.check().json

    assert (answer["state"], answer["provedBy"]) == ("Failing", "CNAME")
    assert answer["missingSince"] is not None
    assert campaign.is_verified()


def test_domain_verified_by_an_operator_needs_no_dns(campaign, dns, flask):
    flask("program", "verify-domain", campaign.program_id)

    answer = campaign.check().json

    assert (answer["state"], answer["provedBy"], answer["nextCheckAt"]) == ("Verified", "Operator", None)


def test_unauthorized_callers_and_unknown_programs_are_refused(brand, rival, campaign, dns):
    viewer = brand.person("Viewer")
    for caller in (brand.other_key(scope="read"), viewer):
        assert caller.post(f"{campaign.url}/check").status_code == 403
    assert viewer.get(campaign.url).status_code == 200
    for program in (uuid4(), "x", "%00", "9" * 300):
        for answer in (
            brand.get(f"/api/v1/programs/{program}/domain"),
            brand.post(f"/api/v1/programs/{program}/domain/check"),
        ):
            assert (answer.status_code, answer.json["error"]) == (404, "not_found")
    assert rival.get(campaign.url).status_code == 404
    assert rival.post(f"{campaign.url}/check").status_code == 404
    archived = brand.program(custom_domain=f"old.{brand.id.hex}.example", archived_at=datetime.now(UTC))
    refused = brand.post(f"/api/v1/programs/{archived}/domain/check")
    assert (refused.status_code, refused.json["error"]) == (409, "invalid_status_transition")
    assert dns.queries == []

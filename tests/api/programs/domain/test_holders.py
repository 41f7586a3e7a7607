"""Who holds a custom domain: of two who claim it, of two at once, after a change, and who may ask."""

import threading
from datetime import UTC, datetime
from uuid import uuid4

from adapters import name_servers
from models import db
from pipelines.organization import tenancy
from tests.api.programs.domain.conftest import Campaign, lead_here, write


def test_a_text_of_another_tenant_or_program_proves_nothing_and_shuts_the_cname_out(brand, rival, dns):
    mine, other, theirs = Campaign(brand), Campaign(brand), Campaign(rival)
    lead_here(dns, mine.domain)
    for stranger in (other, theirs):
        other_value = stranger.text()[1]
        write(dns, mine, other_value)
        answer = mine.check().json
        assert (answer["state"], answer["steps"][1]["found"]) == (
            "Pending",
            f"TXT of another program or organization: {other_value}",
        )


def test_of_two_who_claim_a_domain_the_one_that_proves_it_has_it(brand, rival, dns):
    first = Campaign(brand)
    second = Campaign(rival, first.domain)
    lead_here(dns, first.domain)

    assert first.check().json["state"] == "Verified"
    refused = second.check()

    assert (refused.status_code, refused.json["error"]) == (409, "custom_domain_already_taken")
    assert str(brand.id) not in refused.text
    assert "Brand" not in refused.text
    assert first.program_id not in refused.text
    assert not second.is_verified()


def test_of_two_who_prove_it_at_once_one_has_it(brand, rival, dns):
    claims = [Campaign(brand)]
    claims.append(Campaign(rival, claims[0].domain))
    lead_here(dns, claims[0].domain)
    answers = []
    threads = [threading.Thread(target=lambda claim=claim: answers.append(claim.check())) for claim in claims]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(answer.status_code for answer in answers) == [200, 409]
    assert [claim.is_verified() for claim in claims].count(True) == 1


def test_a_tracking_domain_or_a_portal_of_another_tenant_is_taken_and_ones_own_is_not(brand, rival, dns):
    mine = Campaign(brand)
    lead_here(dns, mine.domain)
    for setting in ({"trackingDomain": mine.domain, "trackingDomainVerified": "on"}, {"portalHost": mine.domain}):
        rival.set(**setting)
        assert mine.check().json["error"] == "custom_domain_already_taken", setting
        rival.set(trackingDomain="none", portalHost="none")
    with db.any_org_work():
        tenancy.any_org_free_host(mine.domain)
    brand.set(trackingDomain=mine.domain, trackingDomainVerified="on", portalHost=mine.domain)

    assert mine.check().json["state"] == "Verified"


def test_a_domain_that_was_changed_during_a_look_is_not_verified_by_it(campaign, dns, monkeypatch):
    lead_here(dns, campaign.domain)
    after = f"after.{campaign.brand.id.hex}.example"
    read = name_servers.read

    def read_and_change(wanted, *, limit_s):
        found = read(wanted, limit_s=limit_s)
        assert campaign.change(customDomain=after).status_code == 200
        return found

    monkeypatch.setattr(name_servers, "read", read_and_change)

    answer = campaign.check()

    assert (answer.status_code, answer.json["error"]) == (409, "domain_changed")
    assert (campaign.show()["domain"], campaign.show()["state"]) == (after, "Pending")


def test_a_change_forgets_the_proof(campaign, dns):
    lead_here(dns, campaign.domain)
    campaign.check()
    domain = campaign.domain

    campaign.change(customDomain=f"b.{domain}")
    other = campaign.show()
    campaign.change(customDomain=domain)
    back = campaign.show()
    campaign.change(customDomain=None)

    for shown in (other, back):
        assert (shown["state"], shown["provedBy"], shown["checkedAt"]) == ("Pending", None, None)
    assert (campaign.show()["state"], campaign.show()["steps"]) == ("Unset", [])
    assert (campaign.check().status_code, campaign.check().json["error"]) == (409, "no_custom_domain")


def test_pressed_twice_at_once_it_is_verified_once(campaign, dns):
    lead_here(dns, campaign.domain)
    answers = []
    threads = [threading.Thread(target=lambda: answers.append(campaign.check())) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [(answer.status_code, answer.json["state"]) for answer in answers] == [(200, "Verified")] * 2
    assert len(campaign.audited()) == 1


def test_a_verified_domain_stays_so_when_a_look_finds_nothing(campaign, dns):
    lead_here(dns, campaign.domain)
    campaign.check()
    dns.zone = {}

    answer = campaign.check().json

    assert (answer["state"], answer["provedBy"]) == ("Failing", "CNAME")
    assert answer["missingSince"] is not None
    assert campaign.is_verified()


def test_an_operators_word_stands_without_dns(campaign, dns, flask):
    flask("program", "verify-domain", campaign.program_id)

    answer = campaign.check().json

    assert (answer["state"], answer["provedBy"], answer["nextCheckAt"]) == ("Verified", "Operator", None)


def test_who_may_not_and_what_is_not_there(brand, rival, campaign, dns):
    viewer = brand.person("Viewer")
    for caller in (brand.other_key(scope="read"), viewer):
        assert caller.post(f"{campaign.address}/check").status_code == 403
    assert viewer.get(campaign.address).status_code == 200
    for program in (uuid4(), "x", "%00", "9" * 300):
        for answer in (
            brand.get(f"/api/v1/programs/{program}/domain"),
            brand.post(f"/api/v1/programs/{program}/domain/check"),
        ):
            assert (answer.status_code, answer.json["error"]) == (404, "not_found")
    assert rival.get(campaign.address).status_code == 404
    assert rival.post(f"{campaign.address}/check").status_code == 404
    archived = brand.program(custom_domain=f"old.{brand.id.hex}.example", archived_at=datetime.now(UTC))
    refused = brand.post(f"/api/v1/programs/{archived}/domain/check")
    assert (refused.status_code, refused.json["error"]) == (409, "invalid_status_transition")
    assert dns.queries == []

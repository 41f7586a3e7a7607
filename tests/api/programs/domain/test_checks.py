"""A program's custom domain proves itself by DNS. The name server is a real one, on loopback."""

from uuid import uuid4

import pytest

from adapters import name_servers
from pipelines.host_proofs import checks
from tests.api.programs.domain.conftest import Campaign, lead_here, write
from tests.support.outside.brand_dns import TARGET, run_name_server
from tests.support.rows.link_visits import create_limiter


def test_before_a_look_the_steps_say_what_to_set_up(campaign, dns):
    shown = campaign.show()

    name = campaign.domain
    assert (shown["domain"], shown["state"], shown["provedBy"]) == (name, "Pending", None)
    assert shown["steps"][0] == {"type": "CNAME", "name": name, "value": TARGET, "found": None}
    assert shown["steps"][1]["name"] == f"_finderfee.{name}"
    assert dns.queries == []


def test_a_cname_to_the_service_verifies(campaign, dns):
    lead_here(dns, campaign.domain, f"{TARGET.upper()}.")

    answer = campaign.check()

    assert (answer.status_code, answer.json["state"], answer.json["provedBy"]) == (200, "Verified", "CNAME")
    assert answer.json["steps"][0]["found"] == f"CNAME {TARGET}"
    assert campaign.show() == answer.json
    assert campaign.is_verified()
    assert campaign.audited() == [("program.domain_verified", "api_key", "CNAME")]
    found = campaign.brand.app.test_client().get("/api/p/by-domain", query_string={"host": campaign.domain})
    assert found.status_code == 200


def test_a_text_verifies_also_where_the_name_leads_elsewhere(campaign, dns):
    dns.zone[campaign.domain, "A"] = ["192.0.2.17"]
    write(dns, campaign)

    answer = campaign.check().json

    assert (answer["state"], answer["provedBy"]) == ("Verified", "TXT")
    assert answer["steps"][0]["found"] == "A 192.0.2.17"
    assert campaign.is_verified()


def test_what_was_found_instead_is_said_and_nothing_is_verified(campaign, dns):
    name = campaign.domain
    text_name, _ = campaign.text()
    cases = [
        ({}, set(), set(), "no such name", "no such name"),
        ({(name, "A"): ["192.0.2.1"]}, set(), set(), "A 192.0.2.1", "no such name"),
        ({(name, "MX"): ["10 m.example."]}, set(), set(), "no record", "no such name"),
        ({(name, "CNAME"): ["shops.example.net."]}, set(), set(), "CNAME shops.example.net", "no such name"),
        ({(text_name, "TXT"): ['"v=spf1 -all"']}, set(), set(), "no such name", "TXT v=spf1 -all"),
        ({(name, "CNAME"): [f"{name}."]}, set(), set(), "no record", "no such name"),
        ({}, {name}, set(), "DNS is silent: try again", "no such name"),
        ({}, set(), {name}, "DNS fails: try again, or ask whoever runs the name servers", "no such name"),
    ]
    for zone, silent, broken, at_name, in_text in cases:
        dns.zone, dns.silent, dns.broken = zone, silent, broken
        answer = campaign.check()
        found = [step["found"] for step in answer.json["steps"]]
        assert (answer.status_code, answer.json["state"], found) == (200, "Pending", [at_name, in_text]), zone
    assert campaign.audited() == []


def test_a_chain_is_followed_and_one_without_an_end_leads_nowhere(campaign, dns):
    name, hops = campaign.domain, [f"hop{number}.{campaign.brand.id.hex}.example" for number in range(12)]
    for here, there in zip([name, *hops], [*hops, TARGET], strict=True):
        lead_here(dns, here, f"{there}.")
    too_long = campaign.check().json["state"]
    lead_here(dns, hops[4])
    followed = campaign.check().json["state"]

    assert (too_long, followed) == ("Pending", "Verified")


def test_a_huge_text_of_bytes_is_read_past_and_a_text_in_parts_is_one(campaign, dns):
    name, value = campaign.text()
    parts = f'"{value[:9]}" "{value[9:]}"'
    dns.zone[name, "TXT"] = ['"' + "\\000\\255\\027" * 60 + '"', parts]

    answer = campaign.check()

    assert (answer.status_code, answer.json["state"], answer.json["provedBy"]) == (200, "Verified", "TXT")
    assert all((step["found"] or "").isprintable() for step in answer.json["steps"])


def test_a_repeated_request_looks_once(campaign, dns):
    key = {"Idempotency_Key": uuid4().hex}
    first = campaign.check(**key)
    asked = len(dns.queries)

    again = campaign.check(**key)

    assert (again.json, again.headers["Idempotency-Replayed"]) == (first.json, "true")
    assert len(dns.queries) == asked


def test_checks_have_a_limit_of_their_own_and_few_are_made_at_once(campaign, dns, monkeypatch):
    with name_servers.reading_slot(), name_servers.reading_slot(), name_servers.reading_slot():
        busy = campaign.check()
    monkeypatch.setitem(campaign.brand.app.extensions, "limiter", create_limiter(domain_check=1))

    assert (busy.status_code, busy.json["error"]) == (503, "domain_check_busy")
    assert dns.queries == []
    assert [campaign.check().status_code for _ in range(2)] == [200, 429]


@pytest.mark.parametrize(
    "host",
    [
        TARGET,
        f"x.{TARGET}",
        "leads.example.org",
        "brand.localhost",
        "brand.local",
        "db.internal",
        "com",
        "localhost",
        "192.0.2.1",
    ],
)
def test_a_host_that_cannot_be_the_brands_is_refused(campaign, monkeypatch, host):
    with run_name_server(monkeypatch, domain_target="leads.example.org"):
        answer = campaign.change(customDomain=host)

    assert answer.status_code == 400
    assert list(answer.json["errors"]) == ["customDomain"]


def test_a_service_without_a_name_is_proved_to_by_text_alone(campaign, monkeypatch):
    with run_name_server(monkeypatch, public_base_url="http://127.0.0.1:8000") as dns:
        write(dns, campaign)
        answer = campaign.check().json

    assert [step["type"] for step in answer["steps"]] == ["TXT"]
    assert answer["provedBy"] == "TXT"


def test_the_longest_name_and_one_of_another_script_can_be_looked_up(brand, dns):
    long = ".".join(["a" * 60, "b" * 60, "c" * 60, brand.id.hex + "d" * 28, "example"])
    script = f"xn--mnchen-3ya.{brand.id.hex}.example"
    for name in (long, script):
        campaign = Campaign(brand, name)
        lead_here(dns, name)
        assert campaign.check().json["state"] == "Verified", name


def test_a_look_asks_for_nothing_inside_a_transaction(campaign, dns, monkeypatch):
    from models import db

    read, seen = name_servers.read, []

    def watched(wanted, *, limit_s):
        seen.append(db.in_transaction())
        return read(wanted, limit_s=limit_s)

    monkeypatch.setattr(checks.name_servers, "read", watched)
    campaign.check()

    assert seen == [False]

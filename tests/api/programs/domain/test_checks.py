"""Verification of a program's custom domain by DNS, with a real name server on loopback."""

from uuid import uuid4

import pytest

from adapters import name_servers
from pipelines.host_proofs import checks
from tests.api.programs.domain.conftest import Campaign, point_cname, write_txt
from tests.support.outside.brand_dns import TARGET, run_name_server
from tests.support.rows.link_visits import create_limiter


def test_steps_list_the_records_before_the_first_check(campaign, dns):
    state = campaign.read_state()

    name = campaign.domain
    assert (state["domain"], state["state"], state["provedBy"]) == (name, "Pending", None)
    assert state["steps"][0] == {"type": "CNAME", "name": name, "value": TARGET, "found": None}
    assert state["steps"][1]["name"] == f"_finderfee.{name}"
    assert dns.queries == []


def test_cname_to_the_service_verifies_the_domain(campaign, dns):
    point_cname(dns, campaign.domain, f"{TARGET.upper()}.")

    answer = campaign.check()

    assert (answer.status_code, answer.json["state"], answer.json["provedBy"]) == (200, "Verified", "CNAME")
    assert answer.json["steps"][0]["found"] == f"CNAME {TARGET}"
    assert campaign.read_state() == answer.json
    assert campaign.is_verified()
    assert campaign.list_audit_entries() == [("program.domain_verified", "api_key", "CNAME")]
    by_domain = campaign.brand.app.test_client().get("/api/p/by-domain", query_string={"host": campaign.domain})
    assert by_domain.status_code == 200


def test_txt_record_verifies_a_domain_with_another_address(campaign, dns):
    dns.zone[campaign.domain, "A"] = ["192.0.2.17"]
    write_txt(dns, campaign)

    answer = campaign.check().json

    assert (answer["state"], answer["provedBy"]) == ("Verified", "TXT")
    assert answer["steps"][0]["found"] == "A 192.0.2.17"
    assert campaign.is_verified()


def test_other_records_are_reported_and_do_not_verify(campaign, dns):
    name = campaign.domain
    text_name, _ = campaign.txt_record()
    cases = [
        ({}, set(), set(), "no such name", "no such name"),
        ({(name, "A"): ["192.0.2.1"]}, set(), set(), "A 192.0.2.1", "no such name"),
        ({(name, "MX"): ["10 m.example."]}, set(), set(), "no record", "no such name"),
        ({(name, "CNAME"): ["shops.example.net."]}, set(), set(), "CNAME shops.example.net", "no such name"),
        ({(text_name, "TXT"): ['"v=spf1 -all"']}, set(), set(), "no such name", "TXT v=spf1 -all"),
        ({(name, "CNAME"): [f"{name}."]}, set(), set(), "no record", "no such name"),
        ({}, {name}, set(), "DNS is silent: try again", "no such name"),
        ({}, set(), {name}, "DNS fails: try again, or ask your DNS provider", "no such name"),
    ]
    for zone, silent, broken, expected_cname, expected_txt in cases:
        dns.zone, dns.silent, dns.broken = zone, silent, broken
        answer = campaign.check()
        results = [step["found"] for step in answer.json["steps"]]
        assert (answer.status_code, answer.json["state"], results) == (
            200,
            "Pending",
            [expected_cname, expected_txt],
        ), zone
    assert campaign.list_audit_entries() == []


def test_cname_chain_is_followed_up_to_a_limit(campaign, dns):
    name, hops = campaign.domain, [f"hop{number}.{campaign.brand.id.hex}.example" for number in range(12)]
    for alias, target in zip([name, *hops], [*hops, TARGET], strict=True):
        point_cname(dns, alias, f"{target}.")
    state_of_long_chain = campaign.check().json["state"]
    point_cname(dns, hops[4])
    state_of_short_chain = campaign.check().json["state"]

    assert (state_of_long_chain, state_of_short_chain) == ("Pending", "Verified")


def test_binary_txt_record_is_skipped_and_split_one_joined(campaign, dns):
    name, value = campaign.txt_record()
    parts = f'"{value[:9]}" "{value[9:]}"'
    dns.zone[name, "TXT"] = ['"' + "\\000\\255\\027" * 60 + '"', parts]

    answer = campaign.check()

    assert (answer.status_code, answer.json["state"], answer.json["provedBy"]) == (200, "Verified", "TXT")
    assert all((step["found"] or "").isprintable() for step in answer.json["steps"])


def test_repeated_idempotency_key_queries_dns_once(campaign, dns):
    key = {"Idempotency_Key": uuid4().hex}
    first = campaign.check(**key)
    query_count = len(dns.queries)

    repeated = campaign.check(**key)

    assert (repeated.json, repeated.headers["Idempotency-Replayed"]) == (first.json, "true")
    assert len(dns.queries) == query_count


def test_checks_are_limited_per_minute_and_in_concurrency(campaign, dns, monkeypatch):
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
def test_reserved_or_invalid_host_is_refused(campaign, monkeypatch, host):
    with run_name_server(monkeypatch, domain_target="leads.example.org"):
        answer = campaign.change(customDomain=host)

    assert answer.status_code == 400
    assert list(answer.json["errors"]) == ["customDomain"]


def test_service_without_a_host_name_offers_only_the_txt_record(campaign, monkeypatch):
    with run_name_server(monkeypatch, public_base_url="http://127.0.0.1:8000") as dns:
        write_txt(dns, campaign)
        answer = campaign.check().json

    assert [step["type"] for step in answer["steps"]] == ["TXT"]
    assert answer["provedBy"] == "TXT"


def test_longest_and_internationalized_names_are_verified(brand, dns):
    longest = ".".join(["a" * 60, "b" * 60, "c" * 60, brand.id.hex + "d" * 28, "example"])
    internationalized = f"xn--mnchen-3ya.{brand.id.hex}.example"
    for name in (longest, internationalized):
        campaign = Campaign(brand, name)
        point_cname(dns, name)
        assert campaign.check().json["state"] == "Verified", name


def test_dns_is_queried_outside_a_transaction(campaign, dns, monkeypatch):
    from models import db

    read, in_transaction = name_servers.read, []

    def record_and_read(queries, *, limit_s):
        in_transaction.append(db.in_transaction())
        return read(queries, limit_s=limit_s)

    monkeypatch.setattr(checks.name_servers, "read", record_and_read)
    campaign.check()

    assert in_transaction == [False]

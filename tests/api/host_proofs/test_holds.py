"""Holds on verified host names after their organization left: which tenant may take them, and when."""

import threading

import peewee
import pytest

from models import db
from tests.api.host_proofs.conftest import KINDS, CampaignDomain, PortalHost, TrackingDomain, is_refused, occupy
from tests.support.outside.brand_dns import TARGET

_CLAIMABLE_KINDS = (CampaignDomain, TrackingDomain)


@pytest.fixture
def host(brand, dns):
    """A host name whose CNAME points to the service."""
    name = f"partners.{brand.id.hex}.example"
    dns.zone[name, "CNAME"] = [f"{TARGET}."]
    return name


@pytest.fixture
def tenants(brand, rival):
    """The organization that leaves a host, and the one that claims it next."""
    return brand, rival


@pytest.fixture
def get_certificate_status(app):
    return lambda host: app.test_client().get("/api/tls/ask", query_string={"domain": host}).status_code


def _age_hold(host, days):
    with db.any_org_work():
        changed = db.db.run(
            "update host_hold set held_until = held_until - %s * interval '1 day' where name = %s returning name",
            (days, host),
        )
    assert changed == [(host,)]


@pytest.mark.parametrize("next_kind", KINDS)
@pytest.mark.parametrize("kind", KINDS)
def test_host_left_by_one_tenant_is_refused_to_the_next_for_90_days(
    tenants, host, get_certificate_status, *, kind, next_kind
):
    former, claimant = kind(tenants[0]), next_kind(tenants[1])
    occupy(former, host)
    assert get_certificate_status(host) == 200
    former.leave()

    assert is_refused(claimant, host)
    assert get_certificate_status(host) == 404
    _age_hold(host, 89)
    assert is_refused(claimant, host)
    assert get_certificate_status(host) == 404
    _age_hold(host, 2)
    assert not is_refused(claimant, host)
    assert get_certificate_status(host) == 200


def test_host_of_an_archived_campaign_is_refused_to_the_next_tenant(brand, rival, host, get_certificate_status):
    former = CampaignDomain(brand)
    occupy(former, host)
    former.archive()

    for kind in KINDS:
        assert is_refused(kind(rival), host), kind
    assert get_certificate_status(host) == 404


@pytest.mark.parametrize("kind", _CLAIMABLE_KINDS)
def test_host_that_lost_its_proof_is_refused_to_the_next_tenant(brand, rival, host, kind):
    occupy(kind(brand), host)
    brand.rows("update program set custom_domain_verified = false where custom_domain = %s returning id", host)
    brand.rows("update organization set tracking_domain_verified = false returning id")

    assert is_refused(TrackingDomain(rival), host)


@pytest.mark.parametrize("next_kind", KINDS)
@pytest.mark.parametrize("kind", KINDS)
def test_same_organization_takes_its_host_back_at_once(brand, host, get_certificate_status, kind, next_kind):
    former = kind(brand)
    occupy(former, host)
    former.leave()

    assert not is_refused(next_kind(brand), host)
    assert get_certificate_status(host) == 200


@pytest.mark.parametrize("kind", KINDS)
def test_host_with_another_use_in_the_organization_is_not_released(brand, rival, host, kind):
    first, second = CampaignDomain(brand), TrackingDomain(brand)
    occupy(first, host)
    occupy(second, host)
    first.leave()
    assert _is_held_without_end(host)
    second.leave()
    assert not _is_held_without_end(host)

    assert is_refused(kind(rival), host)


def test_renamed_portal_host_stays_with_its_organization(brand, rival, host, get_certificate_status):
    brand.set(portalHost=host)
    brand.set(portalHost=f"new.{host}")

    assert get_certificate_status(host) == 404
    for kind in KINDS:
        assert is_refused(kind(rival), host), kind


@pytest.mark.parametrize("next_kind", _CLAIMABLE_KINDS)
@pytest.mark.parametrize("kind", KINDS)
def test_txt_of_another_organization_frees_a_host_that_no_longer_points_to_the_service(
    tenants, host, dns, *, kind, next_kind
):
    former, claimant = kind(tenants[0]), next_kind(tenants[1])
    occupy(former, host)
    former.leave()
    claimant.claim(host)
    name, value = claimant.txt()
    dns.zone[name, "TXT"] = [f'"{value}"']

    assert is_refused(claimant, host)  # its CNAME still points to the service
    dns.zone[host, "CNAME"] = ["elsewhere.example."]
    dns.zone["elsewhere.example", "A"] = ["198.51.100.7"]

    assert not is_refused(claimant, host)


@pytest.mark.parametrize(
    ("records", "frees"),
    [
        ({"A": ["192.0.2.10"]}, False),
        ({"A": ["198.51.100.7", "192.0.2.10"]}, False),
        ({"AAAA": ["2001:db8::10"]}, False),
        ({"CNAME": ["alias.example."]}, False),  # another name of the service's address
        ({"A": ["198.51.100.7"]}, True),
        ({}, True),
    ],
)
def test_txt_frees_a_host_only_if_no_address_record_points_to_the_service(tenants, host, dns, *, records, frees):
    dns.zone[TARGET, "AAAA"] = ["2001:db8::10"]
    dns.zone["alias.example", "A"] = ["192.0.2.10"]
    former, claimant = map(TrackingDomain, tenants)
    occupy(former, host)
    former.leave()
    claimant.claim(host)
    name, value = claimant.txt()
    dns.zone[name, "TXT"] = [f'"{value}"']
    del dns.zone[host, "CNAME"]
    dns.zone.update({(host, kind): values for kind, values in records.items()})

    assert is_refused(claimant, host) is not frees


@pytest.mark.parametrize("broken", ["broken", "silent"])
def test_txt_does_not_free_a_host_while_the_services_own_address_is_unknown(tenants, host, dns, monkeypatch, broken):
    former, claimant = map(TrackingDomain, tenants)
    occupy(former, host)
    former.leave()
    claimant.claim(host)
    name, value = claimant.txt()
    dns.zone[name, "TXT"] = [f'"{value}"']
    del dns.zone[host, "CNAME"]
    dns.zone[host, "A"] = ["192.0.2.10"]
    if broken == "silent":
        monkeypatch.setattr("adapters.name_servers.REQUEST_LIMIT_S", 3.0)
    getattr(dns, broken).add(TARGET)

    assert is_refused(claimant, host)


def test_txt_does_not_take_a_host_that_its_organization_still_uses(brand, rival, host, dns, get_certificate_status):
    occupy(TrackingDomain(brand), host)
    claimant = CampaignDomain(rival)
    claimant.claim(host)
    name, value = claimant.txt()
    dns.zone[name, "TXT"] = [f'"{value}"']
    dns.zone[host, "CNAME"] = ["elsewhere.example."]

    assert is_refused(claimant, host)
    assert get_certificate_status(host) == 200


def test_unverified_claim_holds_nothing(brand, rival, host):
    CampaignDomain(brand).claim(host)

    assert not is_refused(TrackingDomain(rival), host)


@pytest.mark.parametrize("spelling", [str.upper, str.title])
def test_every_spelling_of_a_host_is_held(brand, rival, dns, spelling):
    host = f"xn--mnchen-3ya.{brand.id.hex}.example"
    dns.zone[host, "CNAME"] = [f"{TARGET}."]
    former = TrackingDomain(brand)
    occupy(former, spelling(host))
    former.leave()

    for kind in (CampaignDomain, TrackingDomain):
        assert is_refused(kind(rival), spelling(host)), kind
    assert is_refused(PortalHost(rival), host)


@pytest.mark.parametrize("spelling", ["münchen.{}.example", "partners.{}.example.", "partners。{}.example"])
def test_other_spelling_of_a_host_is_no_host_name(brand, rival, spelling):
    host = spelling.format(brand.id.hex)

    assert CampaignDomain(rival).claim(host).status_code == 400
    assert TrackingDomain(rival).claim(host).status_code == 400


@pytest.mark.parametrize("kinds", [(a, b) for a in KINDS for b in KINDS])
def test_concurrent_claims_give_a_host_to_one_tenant(app, brand, rival, host, kinds):
    claims = [kind(tenant) for kind, tenant in zip(kinds, (brand, rival), strict=True)]
    for claim in claims:
        if not isinstance(claim, PortalHost):
            claim.claim(host)
    start, refused = threading.Barrier(2), []

    def take(claim):
        with app.app_context():
            start.wait()
            refused.append(is_refused(claim, host))

    threads = [threading.Thread(target=take, args=(claim,)) for claim in claims]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(refused) == [False, True]
    assert _count_verified_uses(host) == 1


@pytest.mark.parametrize(
    "statement",
    [
        "update program set custom_domain = %s, custom_domain_verified = true where organization_id = %s",
        "update organization set tracking_domain = %s, tracking_domain_verified = true where id = %s",
        "update organization set portal_host = %s where id = %s",
    ],
)
def test_database_refuses_a_held_host_to_another_organization(brand, rival, host, statement):
    rival.program()
    former = TrackingDomain(brand)
    occupy(former, host)
    former.leave()

    with pytest.raises(peewee.IntegrityError), db.any_org_work():
        db.db.run(statement, (host, rival.id))


def _is_held_without_end(host):
    with db.any_org_work():
        return db.db.run("select held_until = 'infinity' from host_hold where name = %s", (host,)) == [(True,)]


def _count_verified_uses(host):
    with db.any_org_work():
        return db.db.row(
            """
            select (select count(*) from program where custom_domain = %(host)s and custom_domain_verified)
              + (select count(*) from organization where tracking_domain = %(host)s and tracking_domain_verified)
              + (select count(*) from organization where portal_host = %(host)s)
            """,
            {"host": host},
        )[0]

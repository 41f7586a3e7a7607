"""Programs with a custom domain, and a real name server that resolves it."""

import pytest

from tests.support.outside.brand_dns import TARGET, run_name_server


@pytest.fixture
def dns(monkeypatch):
    """Yield a real name server on loopback that the service queries."""
    with run_name_server(monkeypatch) as server:
        yield server


@pytest.fixture
def campaign(brand):
    """Return a program of the brand with a custom domain."""
    return Campaign(brand)


class Campaign:
    """A program of a brand with a custom domain."""

    def __init__(self, brand, domain=None):
        self.brand, self.domain = brand, domain or f"partners.{brand.id.hex}.example"
        self.program_id = str(brand.program(custom_domain=self.domain))
        self.url = f"/api/v1/programs/{self.program_id}/domain"

    def read_state(self):
        return self.brand.get(self.url).json

    def check(self, **headers):
        return self.brand.post(f"{self.url}/check", **headers)

    def txt_record(self):
        (step,) = (step for step in self.read_state()["steps"] if step["type"] == "TXT")
        return step["name"], step["value"]

    def change(self, **fields):
        return self.brand.call("PATCH", f"/api/v1/programs/{self.program_id}", fields)

    def is_verified(self):
        return self.brand.get(f"/api/v1/programs/{self.program_id}").json["customDomainVerified"]

    def list_audit_entries(self):
        return self.brand.rows(
            "select action, actor_type, after->>'provedBy' from audit_entry where action like 'program.domain%%'"
            " and entity_id = %s order by created_at, id",
            self.program_id,
        )


def point_cname(dns, name, target=f"{TARGET}."):
    dns.zone[name, "CNAME"] = [target]


def write_txt(dns, campaign, value=None):
    name, expected = campaign.txt_record()
    dns.zone[name, "TXT"] = [f'"{value or expected}"']

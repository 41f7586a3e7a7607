"""Programs with a custom domain, and the name server that knows it."""

import pytest

from tests.support.outside.brand_dns import TARGET, run_name_server


@pytest.fixture
def dns(monkeypatch):
    """A real name server on loopback, which is asked."""
    with run_name_server(monkeypatch) as server:
        yield server


@pytest.fixture
def campaign(brand):
    """A program of the brand with a custom domain."""
    return Campaign(brand)


class Campaign:
    """A program of a brand with a custom domain."""

    def __init__(self, brand, domain=None):
        self.brand, self.domain = brand, domain or f"partners.{brand.id.hex}.example"
        self.program_id = str(brand.program(custom_domain=self.domain))
        self.address = f"/api/v1/programs/{self.program_id}/domain"

    def show(self):
        return self.brand.get(self.address).json

    def check(self, **headers):
        return self.brand.post(f"{self.address}/check", **headers)

    def text(self):
        (step,) = (step for step in self.show()["steps"] if step["type"] == "TXT")
        return step["name"], step["value"]

    def change(self, **sent):
        return self.brand.call("PATCH", f"/api/v1/programs/{self.program_id}", sent)

    def is_verified(self):
        return self.brand.get(f"/api/v1/programs/{self.program_id}").json["customDomainVerified"]

    def audited(self):
        return self.brand.rows(
            "select action, actor_type, after->>'provedBy' from audit_entry where action like 'program.domain%%'"
            " and entity_id = %s order by created_at, id",
            self.program_id,
        )


def lead_here(dns, name, target=f"{TARGET}."):
    dns.zone[name, "CNAME"] = [target]


def write(dns, campaign, value=None):
    name, wanted = campaign.text()
    dns.zone[name, "TXT"] = [f'"{value or wanted}"']

"""The three kinds of host names of a brand, with the same methods for each."""

import pytest

from domain.refusals import Refused
from tests.support.outside.brand_dns import TARGET, run_name_server

_TRACKING = "/api/v1/settings/tracking-domain"


@pytest.fixture
def dns(monkeypatch):
    """A real name server on loopback that the service queries."""
    with run_name_server(monkeypatch) as server:
        server.zone[TARGET, "A"] = ["192.0.2.10"]
        yield server


class CampaignDomain:
    """A campaign's custom domain."""

    def __init__(self, brand):
        self.brand, self.program_id = brand, brand.program()
        self.path = f"/api/v1/programs/{self.program_id}/domain"

    def claim(self, host):
        return self.brand.call("PATCH", f"/api/v1/programs/{self.program_id}", {"customDomain": host})

    def verify(self, host):
        """Claim the host, request a DNS check, and return the answer of the check."""
        assert self.claim(host).status_code == 200
        return self.brand.post(f"{self.path}/check")

    def leave(self):
        assert self.claim(None).status_code == 200

    def archive(self):
        assert self.brand.call("DELETE", f"/api/v1/programs/{self.program_id}").status_code == 204

    def txt(self):
        return _get_txt_record(self.brand.get(self.path).json)


class TrackingDomain:
    """An organization's tracking domain."""

    def __init__(self, brand):
        self.brand, self.owner = brand, brand.person("Owner")

    def claim(self, host):
        return self.owner.call("PATCH", _TRACKING, {"trackingDomain": host})

    def verify(self, host):
        """Claim the host, request a DNS check, and return the answer of the check."""
        assert self.claim(host).status_code == 200
        return self.owner.post(f"{_TRACKING}/check")

    def leave(self):
        assert self.claim(None).status_code == 200

    def txt(self):
        return _get_txt_record(self.brand.get(_TRACKING).json)


class PortalHost:
    """An organization's portal host, which the operator sets."""

    def __init__(self, brand):
        self.brand = brand

    def take(self, host):
        self.brand.set(portalHost=host)

    def leave(self):
        self.brand.set(portalHost="none")


def _get_txt_record(proof):
    (step,) = (step for step in proof["steps"] if step["type"] == "TXT")
    return step["name"], step["value"]


KINDS = (CampaignDomain, TrackingDomain, PortalHost)


def occupy(kind, host):
    """Assign the host to the brand, verified if its kind needs verification."""
    if isinstance(kind, PortalHost):
        kind.take(host)
    else:
        assert kind.verify(host).json["state"] == "Verified"


def is_refused(kind, host):
    """Try to take the host; return whether it is refused because it belongs to another organization."""
    if isinstance(kind, PortalHost):
        return _is_portal_refused(kind, host)
    answer = kind.verify(host)
    if answer.status_code == 200:
        assert answer.json["state"] == "Verified"
        return False
    assert answer.status_code == 409
    assert answer.json["error"] in ("custom_domain_already_taken", "tracking_domain_already_taken")
    return True


def _is_portal_refused(kind, host):
    try:
        kind.take(host)
    except Refused as refused:
        error = (refused.status, refused.code)
    else:
        return False
    assert error == (409, "already_taken")
    return True

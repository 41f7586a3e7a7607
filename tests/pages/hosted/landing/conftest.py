"""A campaign with a landing page, and visitors who open it and apply."""

import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import pytest

from models import db
from models.organization import organizations
from tests.support.outside.visitor import Visitor

OURS = {"Sec-Fetch-Site": "same-origin"}


@dataclass
class Shop:
    """A brand named Acme, with a handle and hosts that are unique to the test."""

    brand: Any
    visitor: Visitor

    @property
    def handle(self):
        return f"shop-{self.brand.id.hex[:20]}"

    @property
    def domain(self):
        return f"partners.{self.brand.id.hex}.example"

    @property
    def path(self):
        return f"/p/{self.handle}/tea"

    def set(self, **columns):
        with db.unit_of_work(self.brand.id):
            organizations.update(self.brand.id, columns)

    def update_page(self, **page):
        """Change the landing page through the API."""
        path = f"/api/v1/programs/{self.brand.programs[0]}"
        return self.brand.call("PATCH", path, {"landingPageConfig": page})

    def open(self, path=None, host=None, **headers):
        all_headers = headers | ({"Host": host} if host else {})
        return self.visitor.client.get(path or self.path, headers=all_headers)

    def apply(self, path=None, *, host=None, **fields):
        """Open the form, fill it in and send it, as a browser does."""
        html = self.open(path, host).text
        action, content = re.search(r'<form[^>]* action="([^"]*)"[^>]*>(.*?)</form>', html, re.DOTALL).groups()
        hidden = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', content))
        return self.send(hidden | {"email": "ada@example.com"} | fields, urlsplit(action).path, host=host)

    def send(self, form, path=None, *, host=None, proof=OURS):
        headers = proof | ({"Host": host} if host else {})
        return self.visitor.client.post(path or self.path, data=form, headers=headers)


@pytest.fixture
def shop(brand, visitor):
    acme = Shop(brand, visitor)
    acme.set(name="Acme", subdomain=acme.handle)
    brand.program(name="Tea", slug="tea", description="Sell our tea.")
    return acme

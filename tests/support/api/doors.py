"""Campaigns with a checkout door, visits of buyers, and the stored visits."""

import re
from typing import Any
from uuid import uuid4

from tests.support.rows.brands import Brand
from tests.support.rows.link_visits import new_slug, visit

PAY = "https://buy.stripe.com/test_1?quantity=2#pay"


def create_door_program(brand: Brand, *, mode: str = "redirect", site: str | None = PAY, **fields: Any) -> str:
    """Create a campaign with an open door and an Approved affiliate; return the affiliate's slug."""
    brand.program(
        slug=fields.pop("slug", f"p-{uuid4().hex[:12]}"),
        hosted_checkout_door_enabled=True,
        hosted_checkout_door_mode=mode,
        referral_destination_url=site,
        **fields,
    )
    slug = new_slug()
    brand.affiliate(slug)
    return slug


def door_path(brand: Brand, slug: str) -> str:
    """Return the path of an affiliate's door in the newest campaign."""
    return f"/door/{brand.programs[-1]}/{slug}"


def visit_door(brand: Brand, slug: str, **options: Any) -> Any:
    """Open a door as a browser does."""
    return visit(brand.app, door_path(brand, slug), **options)


def submit_door_form(brand: Brand, slug: str, email: str, *, token: str | None = None, **fields: Any) -> Any:
    """Submit the form of a door as a browser does, by default with the token of its page."""
    path = door_path(brand, slug)
    if token is None:
        token = token_from_page(visit(brand.app, path))
    return visit(brand.app, path, method="POST", data={"email": email, "token": token, "website": ""} | fields)


def token_from_page(page: Any) -> str:
    """Return the token in the form of a door's page."""
    match = re.search(r'name="token" value="([^"]+)"', page.text)
    assert match is not None, page.text
    return match[1]


def list_door_visits(brand: Brand, columns: str = "slug, visitor is not null, email_normalized") -> list[Any]:
    """Return columns of the stored door visits of a brand, oldest first."""
    return brand.rows(f"select {columns} from door_visit order by first_at, email_normalized")

"""A brand that pays for recruiting, with the affiliate ann."""

from uuid import uuid4

import pytest

from tests.support.api.recruiting import RecruitingScene, update
from tests.support.rows.brands import Partner


@pytest.fixture
def scene(brand):
    email, portal = f"ann-{uuid4().hex}@example.com", f"{uuid4().hex[:12]}.portal.test"
    brand.program(slug="tea", sub_affiliate_enabled=True, sub_affiliate_percent=10)
    update(brand, portal_host=portal)
    ann_id = brand.affiliate("ann", email=email, email_normalized=email)
    return RecruitingScene(brand, email, Partner(brand.app, email), ann_id, portal)

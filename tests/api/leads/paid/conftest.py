"""A campaign that pays for leads, and local tokens that prove a human sender."""

import pytest

from tests.support.rows import paid_leads
from tests.support.rows.paid_leads import create_campaign


@pytest.fixture(autouse=True)
def _local_tokens(app):
    with paid_leads.configure_human_check(URL="local"):
        yield


@pytest.fixture
def slug(brand):
    return create_campaign(brand)

"""The affiliate of the brand's one campaign."""

import pytest


@pytest.fixture
def ben(brand):
    """The affiliate of the brand's one campaign."""
    brand.program()
    return brand.affiliate("ben")

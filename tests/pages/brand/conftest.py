"""People of a brand at its dashboard."""

import pytest


@pytest.fixture
def people(visitor, links):
    """A browser in which a member of the brand signs in: `people("Manager")`."""

    def signed_in(role="Owner"):
        visitor.open(links("owner", "--role", role))
        return visitor

    return signed_in

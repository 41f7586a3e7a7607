"""Members of a brand on its dashboard."""

import pytest


@pytest.fixture
def people(visitor, links):
    """Return a function that signs a member of the brand in and returns the browser: `people("Manager")`."""

    def sign_in(role="Owner"):
        visitor.open(links("owner", "--role", role))
        return visitor

    return sign_in

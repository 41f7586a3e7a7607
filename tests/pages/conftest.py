"""People at the pages: browsers, and links that sign them in."""

import pytest

from tests.support.outside.visitor import Visitor


@pytest.fixture
def visitor(app):
    """A browser without a session."""
    return Visitor(app)


@pytest.fixture
def links(flask, brand):
    """What makes one-time links: `links("owner")`, `links("affiliate", "--email", …)`, `links("operator")`."""

    def make(who, *more):
        org = ("--org", brand.id) if who == "owner" and "--org" not in more else ()
        return flask.json("sign-in", who, *org, *more)["url"]

    return make

"""Browsers, and links that sign people in to the pages."""

import pytest

from tests.support.outside.visitor import Visitor


@pytest.fixture
def visitor(app):
    """A browser without a session."""
    return Visitor(app)


@pytest.fixture
def links(flask, brand):
    """Return a function that makes one-time sign-in links: `links("owner")`, `links("affiliate", "--email", …)`."""

    def make(who, *more):
        org = ("--org", brand.id) if who == "owner" and "--org" not in more else ()
        return flask.json("sign-in", who, *org, *more)["url"]

    return make

"""Who may do what somebody else may do."""

import itertools

import pytest

from domain.organization import access

_FROM_THE_MOST = ["Owner", "Admin", "Manager", "Viewer"]


@pytest.mark.parametrize(("role", "needed"), list(itertools.combinations_with_replacement(_FROM_THE_MOST, 2)))
def test_a_role_includes_itself_and_every_lower_one(role, needed):
    assert access.at_least(role, needed)


@pytest.mark.parametrize(("needed", "role"), list(itertools.combinations(_FROM_THE_MOST, 2)))
def test_a_role_does_not_include_a_higher_one(role, needed):
    assert not access.at_least(role, needed)


def test_there_are_these_roles_and_no_other():
    assert list(access.Role) == _FROM_THE_MOST


@pytest.mark.parametrize("unknown", ["owner", "OWNER", "", "Owner ", "Root"])
def test_a_role_that_does_not_exist_is_an_error_on_either_side(unknown):
    with pytest.raises(ValueError, match="is not a valid Role"):
        access.at_least(unknown, "Viewer")
    with pytest.raises(ValueError, match="is not a valid Role"):
        access.at_least("Owner", unknown)

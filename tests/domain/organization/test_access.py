"""The order of roles: a higher role includes the permissions of a lower one."""

import itertools

import pytest

from domain.organization import access

_ROLES_DESCENDING = ["Owner", "Admin", "Manager", "Viewer"]


@pytest.mark.parametrize(("role", "required"), list(itertools.combinations_with_replacement(_ROLES_DESCENDING, 2)))
def test_role_includes_itself_and_every_lower_role(role, required):
    assert access.at_least(role, required)


@pytest.mark.parametrize(("required", "role"), list(itertools.combinations(_ROLES_DESCENDING, 2)))
def test_role_does_not_include_a_higher_role(role, required):
    assert not access.at_least(role, required)


def test_roles_are_owner_admin_manager_and_viewer():
    assert list(access.Role) == _ROLES_DESCENDING


@pytest.mark.parametrize("unknown", ["owner", "OWNER", "", "Owner ", "Root"])
def test_unknown_role_is_refused_as_either_argument(unknown):
    with pytest.raises(ValueError, match="is not a valid Role"):
        access.at_least(unknown, "Viewer")
    with pytest.raises(ValueError, match="is not a valid Role"):
        access.at_least("Owner", unknown)

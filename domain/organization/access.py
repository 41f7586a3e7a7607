"""The roles of an organization's members, and the comparison of roles.

Source: core spec, section 5 "Role checks". API keys pass role gates without this check.
"""

from enum import StrEnum


class Role(StrEnum):
    """The roles of members, from the most to the fewest rights. Tokens carry these names."""

    Owner = "Owner"
    Admin = "Admin"
    Manager = "Manager"
    Viewer = "Viewer"


_RANK = {role: rank for rank, role in enumerate(reversed(Role))}


def at_least(role: str, needed: str) -> bool:
    """Return whether `role` includes the rights of `needed`. Raises ValueError for an unknown role."""
    return _RANK[Role(role)] >= _RANK[Role(needed)]

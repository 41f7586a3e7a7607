"""The roles of a brand's people, and which of them is enough.

Source: core spec, section 5 "Role checks". API keys pass role gates and don't ask here.
"""

from enum import StrEnum


class Role(StrEnum):
    """What a member may do, from the most to the least. Tokens carry these names."""

    Owner = "Owner"
    Admin = "Admin"
    Manager = "Manager"
    Viewer = "Viewer"


_RANK = {role: rank for rank, role in enumerate(reversed(Role))}


def at_least(role: str, needed: str) -> bool:
    """Return whether `role` includes what `needed` may do. Raises ValueError for a role that doesn't exist."""
    return _RANK[Role(role)] >= _RANK[Role(needed)]

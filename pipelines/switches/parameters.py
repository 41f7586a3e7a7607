"""Adds the parameter names of a switch's links to the organization's own. Source: the switch-over rules, "Links"."""

from domain.clicks import attribution_params
from domain.clicks.attribution_params import Params
from domain.refusals import Refused
from models.organization import organizations
from models.switches.switches import Switch


def add(switch: Switch) -> tuple[str, ...]:
    """Put the parameters that are not effective yet behind the organization's own; return those that were added."""
    organization = organizations.lock(switch.organization_id)
    assert organization is not None  # it has the switch
    effective = Params(organization.attribution_params).effective_order
    custom = [part for part in (organization.attribution_params or "").split(",") if part]
    added: list[str] = []
    for name in switch.parameters:
        if name in effective or name in added:
            continue
        try:
            attribution_params.normalize(",".join([*custom, *added, name]))
        except Refused:
            continue
        added.append(name)
    if added:
        organizations.change(organization, {"attribution_params": ",".join([*custom, *added])})
    return tuple(added)


def remove(switch: Switch) -> None:
    """Remove the parameters that the switch had added."""
    organization = organizations.lock(switch.organization_id)
    assert organization is not None  # it has the switch
    custom = [part for part in (organization.attribution_params or "").split(",") if part]
    left = [name for name in custom if name not in switch.parameters_added]
    if left != custom:
        organizations.change(organization, {"attribution_params": ",".join(left) or None})

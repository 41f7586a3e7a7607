"""Adds the parameter names of a switch's links to the organization's own. Source: the switch-over rules, "Links"."""

from domain.switches.rules import link_rules
from domain.switches.states import SwitchState
from models.organization import organizations
from models.switches import switches
from models.switches.judgement import link_parameters
from models.switches.switches import Switch


def list_names(switch: Switch) -> tuple[str, ...]:
    """Return the parameters of a judged switch: those that its links name, then those of the account and the source."""
    return tuple(dict.fromkeys([*link_parameters.list_names(**switch.key), *switch.parameters]))


def add(switch: Switch) -> tuple[str, ...]:
    """Put the parameters that are not effective yet behind the organization's own; return those that were added."""
    organization = organizations.lock(switch.organization_id)
    assert organization is not None  # it has the switch
    plan = link_rules.plan_parameters(organization.attribution_params, list_names(switch))
    if plan.added:
        organizations.change(organization, {"attribution_params": plan.custom})
    return plan.added


def remove(switch: Switch) -> None:
    """Remove the parameters that this switch or one that is undone already had added.

    Those that another completed switch has links with stay until that one is undone.
    """
    organization_id = switch.organization_id
    organization = organizations.lock(organization_id)
    assert organization is not None  # it has the switch
    undone = switches.list_of_state(organization_id=organization_id, state=SwitchState.Undone)
    completed = switches.list_of_state(organization_id=organization_id, state=SwitchState.Completed)
    added = {name for each in (switch, *undone) for name in each.parameters_added}
    needed = {name for each in completed for name in list_names(each)}
    custom = [part for part in (organization.attribution_params or "").split(",") if part]
    left = [name for name in custom if name not in added - needed]
    if left != custom:
        organizations.change(organization, {"attribution_params": ",".join(left) or None})

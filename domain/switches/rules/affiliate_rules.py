"""What becomes of one person's affiliates of the old system in one program.

Source: the switch-over rules, "How rows become records" (Affiliates).
"""

from collections.abc import Iterable, Sequence
from decimal import Decimal

from domain.conversions.commission import CommissionType
from domain.statuses import AffiliateStatus, pays_on_sale
from domain.switches.options import SwitchOptions
from domain.switches.reasons import LeftOutReason

_BEST_FIRST = (AffiliateStatus.Approved, AffiliateStatus.Pending, AffiliateStatus.Paused, AffiliateStatus.Rejected)
#: Tags of an affiliate are at most this long; a longer group name is cut.
_MAX_TAG_CHARS = 50
# Of partner groups: the length of a name, and the largest rate by its type, in percent or major units.
_MAX_GROUP_CHARS = 100
_MAX_RATE = {CommissionType.Percentage: Decimal(100), CommissionType.Fixed: Decimal(1_000_000)}
_MAX_RATE_DECIMALS = 6


def status_of_person(statuses: Iterable[AffiliateStatus]) -> AffiliateStatus:
    """Return the status of a person whose campaigns lead to one program: Banned if one is, else the best of them.

    The best is the first of Approved, Pending, Paused, Rejected. Raises ValueError without any.
    """
    present = set(statuses)
    if AffiliateStatus.Banned in present:
        return AffiliateStatus.Banned
    for status in _BEST_FIRST:
        if status in present:
            return status
    raise ValueError("a person has at least one status")


def reason_for_person(*, status: AffiliateStatus, has_referrals: bool, options: SwitchOptions) -> LeftOutReason | None:
    """Return why the options leave a person out; None if they do not."""
    if options.include_statuses is not None and status.value not in options.include_statuses:
        return LeftOutReason.StatusExcluded
    if not options.without_referrals and not has_referrals:
        return LeftOutReason.StatusExcluded
    return None


def tags(groups: Sequence[str], options: SwitchOptions, *, group_names: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the tags of a person from the names of their groups there; `group_names` became partner groups."""
    if options.groups == "none":
        return ()
    used = set(group_names)
    names = (name.strip()[:_MAX_TAG_CHARS].strip() for name in groups if name not in used)
    return tuple(dict.fromkeys(name for name in names if name))


def can_be_partner_group(name: str, *, type: str | None, value: Decimal | None, model: str) -> bool:
    """Return whether a group there can be a partner group of a program of this commission model.

    Its rate is per sale: a program that pays for clicks or leads would pay it for each of them.
    """
    if type not in _MAX_RATE or value is None or not name.strip() or len(name) > _MAX_GROUP_CHARS:
        return False
    is_in_range = 0 <= value <= _MAX_RATE[CommissionType(type)]
    return is_in_range and value == round(value, _MAX_RATE_DECIMALS) and pays_on_sale(model)

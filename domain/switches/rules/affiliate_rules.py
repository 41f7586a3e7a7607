"""What becomes of one person's affiliates of the old system in one program.

Source: the switch-over rules, "How rows become records" (Affiliates).
"""

from collections.abc import Iterable, Sequence

from domain.statuses import AffiliateStatus
from domain.switches.options import SwitchOptions
from domain.switches.reasons import LeftOutReason

_BEST_FIRST = (AffiliateStatus.Approved, AffiliateStatus.Pending, AffiliateStatus.Paused, AffiliateStatus.Rejected)
#: Tags of an affiliate are at most this long; a longer group name is cut.
_MAX_TAG_CHARS = 50


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

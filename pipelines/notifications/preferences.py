"""The mark of a person in the notifications, and the kinds that they have switched off."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from adapters.mail import unsubscribe_links
from domain.notifications import kinds
from domain.notifications.kinds import NotificationKind
from domain.organization.access import Role
from domain.refusals import Refused, not_found
from models.notifications import readers
from models.notifications.readers import Reader, Switches


@dataclass(frozen=True, slots=True)
class Preference:
    """The switches of a kind that a person sees; `email` None: their role gets no email of it."""

    kind: NotificationKind
    in_app: bool
    email: bool | None


@dataclass(frozen=True, slots=True)
class SwitchChange:
    """A change of the switches of a kind; None leaves a switch as it is."""

    kind: str
    in_app: bool | None
    email: bool | None


@dataclass(frozen=True, slots=True)
class UnsubscribeLink:
    """What an unsubscribe link switches off."""

    organization_id: UUID
    member_id: UUID
    kind: NotificationKind


def find_reader(*, organization_id: UUID, member_id: UUID, role: Role) -> Reader:
    """Return a member as a reader of notifications. Raises Refused 404 not_found for one who was removed."""
    reader = readers.find(organization_id=organization_id, member_id=member_id, kinds=kinds.list_counted(role))
    if reader is None:
        raise not_found("member", member_id)
    return reader


def list_preferences(reader: Reader, *, role: Role) -> Sequence[Preference]:
    """Return the switches of every kind that a role sees."""
    emailed = kinds.list_emailed(role)
    return [
        Preference(
            kind,
            in_app=kind.value not in reader.bell_off,
            email=kind.value not in reader.emails_off if kind in emailed else None,
        )
        for kind in kinds.list_visible(role)
    ]


def stage_changes(changes: Sequence[SwitchChange], *, organization_id: UUID, member_id: UUID) -> None:
    """Stage changes of a member's switches. Of two changes of one kind the last counts."""
    emails = {change.kind: change.email for change in changes if change.email is not None}
    bell = {change.kind: change.in_app for change in changes if change.in_app is not None}
    switches = Switches(
        emails_on=[kind for kind, is_on in emails.items() if is_on],
        emails_off=[kind for kind, is_on in emails.items() if not is_on],
        bell_on=[kind for kind, is_on in bell.items() if is_on],
        bell_off=[kind for kind, is_on in bell.items() if not is_on],
    )
    readers.stage_switches(switches, organization_id=organization_id, member_id=member_id)


def open_link(token: str) -> UnsubscribeLink:
    """Return what the token of an unsubscribe link switches off. Raises Refused 404 not_found for an invalid one."""
    subscription = unsubscribe_links.decode(token)
    kind = kinds.kind_from_code(subscription.kind_code) if subscription else None
    if subscription is None or kind is None:
        raise Refused(404, "not_found", "This link is not valid.")
    return UnsubscribeLink(subscription.organization_id, subscription.member_id, kind)


def unsubscribe(link: UnsubscribeLink) -> None:
    """Stage that a member gets no more emails of a kind; nothing changes for one who was removed."""
    switches = Switches(emails_off=[link.kind.value])
    readers.stage_switches(switches, organization_id=link.organization_id, member_id=link.member_id)

"""The link of a notification's email that switches off its kind. The link itself is the proof; no sign-in is needed."""

from models import db
from pipelines.notifications import preferences
from pipelines.notifications.preferences import UnsubscribeLink


def open_link(token: str) -> UnsubscribeLink:
    """Return what a link switches off; changes nothing. Raises Refused 404 not_found."""
    return preferences.open_link(token)


def unsubscribe(token: str) -> UnsubscribeLink:
    """Switch off the emails of a link; again if it is repeated. Raises Refused 404 not_found."""
    link = preferences.open_link(token)
    with db.unit_of_work(link.organization_id):
        preferences.unsubscribe(link)
    return link

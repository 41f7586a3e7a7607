"""Changes of the organization's profile that a settings page sends: only values that differ from the stored ones.

Those about money require a fresh login, so an unchanged value must not be sent.
"""

from collections.abc import Collection

from flask import Response, request

from api.organization.organization import change_organization, get_organization
from pages import api_client, screens
from pages.form_pages import Body, send_form
from pages.forms import FormState


def send_changes(values: Body, *, to: str, always: Collection[str] = ()) -> Response | FormState:
    """Send the values that differ from the stored ones, and redirect `to` the page with its result.

    Those in `always` are sent in any case: the same number may be of another currency.
    """
    organization = api_client.require(get_organization)
    body = {name: value for name, value in values.items() if name in always or value != organization[name]}
    return send_form(change_organization, body=body, to=to) if body else screens.redirect(to)


def read_optional(name: str) -> str | None:
    """Return the text of a field; None if it is empty."""
    return request.form.get(name, "").strip() or None

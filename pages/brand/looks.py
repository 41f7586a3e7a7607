"""A look at DNS that was refused, as the page of a domain says it."""

from flask import Response

from pages import api_client, forms, screens
from pages.api_client import ApiResult
from pages.forms import FormState

_SAID_HERE = (409, 503)


def lead_on(answer: ApiResult, to: str) -> Response | FormState:
    """Return the way to what was found, or why nothing was looked at.

    Raises Refused where the page can say nothing of it.
    """
    if answer.status in _SAID_HERE:
        return forms.form_with_alert(answer)
    api_client.require_data(answer)
    return screens.redirect(to)

"""A look at DNS that was refused, as the page of a domain says it."""

from pages import calls, forms
from pages.calls import CallAnswer
from pages.forms import FormState

_SAID_HERE = (409, 503)


def refused(answer: CallAnswer) -> FormState:
    """Return why nothing was looked at, for the page. Raises Refused where the page can say nothing of it."""
    if answer.refusal is None or answer.status not in _SAID_HERE:
        calls.given(answer)
        return forms.EMPTY
    return FormState(alert=answer.refusal.message)

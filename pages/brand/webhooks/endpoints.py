"""The webhook endpoints of a brand, and a new one. Its secret is shown at that moment and never again."""

from typing import Any

from flask import Blueprint, Response, request

from api.webhooks.endpoints import create_webhook_endpoint, list_webhook_endpoints
from domain.webhooks import events
from pages import calls, forms, screens
from pages.forms import FormState
from pages.screens import screen

blueprint = Blueprint("webhooks_page", __name__)

#: What may be subscribed to: everything, or each type by its name.
EVENTS = ("*", *events.TYPES)
#: What is said of a form that names none: a browser does not even send the field then.
NO_EVENTS = "Choose what it is told of."
# As many as a brand may have, of its own and of workflows.
_MOST_OWN, _MOST_HOOKS = 50, 200


@blueprint.get("/dashboard/webhooks")
@screen("member", uses=(list_webhook_endpoints,))
def show_webhooks() -> Response:
    """Show the brand's endpoints, and apart from them those that workflows manage. Budget: 2 round trips."""
    return _page(forms.blank(events=["*"]))


@blueprint.post("/dashboard/webhooks")
@screen("member", uses=(list_webhook_endpoints, create_webhook_endpoint))
def send_webhook() -> Response:
    """Create an endpoint and show its secret, which a repeated request shows again."""
    if not told():
        return _page(forms.wrong({"events": NO_EVENTS}), status=422)
    answer = calls.call(create_webhook_endpoint, body=described(), key=forms.key())
    if answer.refusal is not None:
        return _page(forms.refused(answer.refusal), status=answer.status)
    return _page(forms.blank(events=["*"]), made=answer.data)


def described() -> dict[str, object]:
    """Return what the form of an endpoint says, as the API takes it."""
    return {
        "url": request.form.get("url", "").strip(),
        "events": told(),
        "description": request.form.get("description", "").strip() or None,
    }


def told() -> list[str]:
    """Return what the form of an endpoint wants it to be told of. What is ticked below `Everything` does not count."""
    chosen = [type for type in request.form.getlist("events") if type]
    return ["*"] if "*" in chosen else chosen


def _page(form: FormState, *, status: int = 200, made: object = None) -> Response:
    return screens.show(
        "brand/webhooks/list.html",
        status=status,
        form=form,
        endpoints=_listed(managed="false", take=_MOST_OWN),
        hooks=_listed(managed="true", take=_MOST_HOOKS),
        made=made,
        types=EVENTS,
        may_write=calls.may(create_webhook_endpoint),
    )


def _listed(**query: object) -> list[Any]:
    found: list[Any] = calls.needed(list_webhook_endpoints, query=query)["items"]
    return found

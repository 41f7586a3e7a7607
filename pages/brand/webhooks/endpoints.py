"""The webhook endpoints of a brand, and a new one. Its secret is shown at that moment and never again."""

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
_MOST = 50


@blueprint.get("/dashboard/webhooks")
@screen("member", uses=(list_webhook_endpoints,))
def show_webhooks() -> Response:
    """Show the endpoints. Budget: 2 round trips."""
    return _page(forms.blank(events=["*"]))


@blueprint.post("/dashboard/webhooks")
@screen("member", uses=(list_webhook_endpoints, create_webhook_endpoint))
def send_webhook() -> Response:
    """Create an endpoint and show its secret, which a repeated request shows again."""
    if not request.form.getlist("events"):
        return _page(forms.wrong({"events": NO_EVENTS}), status=422)
    answer = calls.call(create_webhook_endpoint, body=described(), key=forms.key())
    if answer.refusal is not None:
        return _page(forms.refused(answer.refusal), status=answer.status)
    return _page(forms.blank(events=["*"]), made=answer.data)


def described() -> dict[str, object]:
    """Return what the form of an endpoint says, as the API takes it."""
    return {
        "url": request.form.get("url", "").strip(),
        "events": request.form.getlist("events"),
        "description": request.form.get("description", "").strip() or None,
    }


def _page(form: FormState, *, status: int = 200, made: object = None) -> Response:
    return screens.show(
        "brand/webhooks/list.html",
        status=status,
        form=form,
        endpoints=calls.needed(list_webhook_endpoints, query={"take": _MOST})["items"],
        made=made,
        types=EVENTS,
        may_write=calls.may(create_webhook_endpoint),
    )

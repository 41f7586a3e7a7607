"""How links are recognized: the parameters in their addresses, and the domain of the tracking script."""

from flask import Blueprint, Response

from api.clicks.attribution_params import change_attribution_params
from api.organization.organization import get_organization
from api.organization.tracking_domain import get_tracking_domain
from pages import api_client, forms, screens
from pages.brand.settings import changes
from pages.form_pages import Body, Form, form_page
from pages.forms import FormState

blueprint = Blueprint("tracking_settings_page", __name__)


def _read_parameters() -> Body:
    """Return the brand's own parameters that its pages track."""
    return {"custom": changes.read_optional("custom")}


@form_page(
    blueprint,
    "member",
    "/dashboard/settings/tracking",
    Form("", change_attribution_params, _read_parameters, done="saved"),
    uses=(get_organization, get_tracking_domain),
)
def show_tracking(form: FormState | None) -> Response:
    """Show the settings of tracking. Budget: 2 round trips."""
    organization = api_client.require(get_organization)
    return screens.render(
        "brand/settings/tracking.html",
        form,
        organization=organization,
        parameters=form or forms.prefill(custom=organization["customAttributionParams"]),
        domain=api_client.require(get_tracking_domain),
    )

"""Organizations: their plan, status and usage, and the settings that only the operator changes."""

from dataclasses import replace

from flask import Blueprint, Response, request

from api.operator.tenants import change_tenant, get_tenant, list_tenants
from pages import api_client, forms, screens
from pages.form_pages import CustomForm, form_page, send
from pages.forms import FormState
from pages.list_pages import RowList
from pages.screens import screen

blueprint = Blueprint("tenants_page", __name__)

_TENANTS = "/console/tenants"
_LIST = RowList(list_tenants, ("q",))


@blueprint.get("/console/tenants")
@screen("operator", uses=(list_tenants,))
def show_tenants() -> Response:
    """Show organizations by the filter in the address, fifty a page. Budget: 1 round trip, however many there are."""
    return screens.render("console/tenants.html", **_LIST.read().values())


def _change_setting(organization_id: str) -> Response | FormState:
    """Change one setting; an error of the whole form appears at its value."""
    name = request.form.get("setting", "")
    if not name:
        return forms.form_with_errors({"setting": "Choose a setting."})
    body = {"settings": {name: request.form.get("value", "")}, "why": request.form.get("why", "")}
    answer = send(change_tenant, path={"organization_id": organization_id}, body=body)
    if answer.refusal is None:
        return screens.redirect(f"{_TENANTS}/{organization_id}")
    form = forms.form_from_refusal(answer)
    return form if form.errors else replace(form, errors={"value": form.alert or ""}, alert=None)


@form_page(
    blueprint,
    "operator",
    f"{_TENANTS}/<organization_id>",
    CustomForm("", _change_setting, (change_tenant,)),
    uses=(get_tenant,),
    restores=True,
)
def show_tenant(form: FormState | None, organization_id: str) -> Response:
    """Show one organization with a form for one of its settings. Budget: 5 round trips."""
    tenant = api_client.require(get_tenant, path={"organization_id": organization_id})
    setting = request.args.get("setting", "")
    form = form or forms.prefill(setting=setting, value=tenant["settings"].get(setting))
    return screens.render(
        "console/tenant.html", form, tenant=tenant, names=[(name, name) for name in tenant["settings"]]
    )

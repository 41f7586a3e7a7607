"""Organizations: their plan and standing, what of the plan is used, and the settings that are the operator's alone."""

from flask import Blueprint, Response, request

from api.operator.tenants import change_tenant, get_tenant, list_tenants
from pages import calls, forms, kept, screens
from pages.forms import FormState
from pages.screens import screen

blueprint = Blueprint("tenants_page", __name__)

_TENANTS = "/console/tenants"


@blueprint.get("/console/tenants")
@screen("operator", uses=(list_tenants,))
def show_tenants() -> Response:
    """Show organizations by the filter in the address, fifty a page. Budget: 1 round trip, however many there are."""
    wanted = {name: request.args.get(name) or None for name in ("q", "cursor")}
    answer = calls.call(list_tenants, query=wanted)
    form, page = forms.EMPTY, answer.data
    if answer.refusal is not None:
        form, page = FormState(alert=" ".join(answer.refusal.fields.values())), {"items": [], "nextCursor": None}
    return screens.show(
        "console/tenants.html",
        status=answer.status,
        form=form,
        tenants=page["items"],
        next_cursor=page["nextCursor"],
        is_narrowed=any(wanted.values()),
    )


@blueprint.get("/console/tenants/<organization_id>")
@screen("operator", uses=(get_tenant, change_tenant))
def show_tenant(organization_id: str) -> Response:
    """Show one organization with a form for one of its settings. Budget: 5 round trips."""
    return _page(organization_id, kept.form())


@blueprint.post("/console/tenants/<organization_id>")
@screen("operator", uses=(get_tenant, change_tenant))
def send_setting(organization_id: str) -> Response:
    """Change one setting."""
    name, value = request.form.get("setting", ""), request.form.get("value", "")
    if not name:
        return _page(organization_id, forms.wrong({"setting": "Choose a setting."}), status=422)
    answer = calls.tried(
        change_tenant,
        path={"organization_id": organization_id},
        body={"settings": {name: value}, "why": request.form.get("why", "")},
        key=forms.key(),
    )
    if answer.refusal is None:
        return screens.sent_on(f"{_TENANTS}/{organization_id}")
    form = forms.refused(answer.refusal)
    if not form.errors:
        form = FormState(form.values, {"value": form.alert or ""})
    return _page(organization_id, form, status=422)


def _page(organization_id: str, form: FormState | None = None, *, status: int = 200) -> Response:
    tenant = calls.needed(get_tenant, path={"organization_id": organization_id})
    if form is None:
        setting = request.args.get("setting", "")
        form = forms.blank(setting=setting, value=tenant["settings"].get(setting))
    names = [(name, name) for name in tenant["settings"]]
    return screens.show("console/tenant.html", status=status, form=form, tenant=tenant, names=names)

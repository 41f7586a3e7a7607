"""The tag of a program, and four lights for the progress of its installation, which update themselves."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from flask import Blueprint, Response, request

import settings
from api.clicks.install_check import check_installation, get_install_status
from api.clicks.install_snippet import get_install_snippet
from api.programs.programs import get_program
from pages import api_client, forms, screens
from pages.api_client import ApiResult
from pages.brand.programs import install_guides
from pages.form_pages import CustomForm, form_page, send
from pages.forms import FormState
from pages.screens import screen

blueprint = Blueprint("install_page", __name__)

_OPTIONS = ("options", "site", "emails", "consent", "gpc", "pixel")
#: The options of the form by the parameters of the snippet's operation.
_TAG_PARAMS = {"emails": "emailCapture", "consent": "consentRequired", "gpc": "respectGpc", "pixel": "withPixel"}
_PAGE = "/dashboard/programs/<program_id>/install"


@dataclass(frozen=True, slots=True)
class InstallForm:
    """The kind of site, and the chosen ones of `emails`, `consent`, `gpc` and `pixel`."""

    site: str
    chosen: frozenset[str]

    @classmethod
    def from_request(cls) -> "InstallForm":
        """Return the options in this request's address; by default those of the API's own snippet."""
        site = request.args.get("site", "")
        if not request.args.get("options"):
            return cls(site, frozenset({"emails"}))
        return cls(site, frozenset(name for name in _TAG_PARAMS if name in request.args))

    def form(self, refusal: str | None) -> FormState:
        """Return the form of the options; `refusal` is the reason for a missing pixel."""
        values = {name: ["on"] for name in self.chosen}
        return FormState({"site": [self.site], **values}, {"pixel": refusal} if refusal else {}, id="option-")


def _check_installation(program_id: str) -> Response | FormState:
    """Check a page of the brand for the tag, and show the result."""
    path = {"program_id": program_id}
    answer = send(check_installation, path=path, body={"url": request.form.get("url", "").strip()}, shows_all=True)
    if answer.refusal is not None:
        return forms.form_from_refusal(answer)
    return screens.redirect(f"/dashboard/programs/{program_id}/install?{_options_query()}#checks")


@form_page(
    blueprint,
    "member",
    _PAGE,
    CustomForm("", _check_installation, (check_installation,)),
    uses=(get_program, get_install_snippet, get_install_status),
)
def show_install(form: FormState | None, program_id: str) -> Response:
    """Show the tag and the lights. Budget: 4 round trips."""
    path = {"program_id": program_id}
    program = api_client.require(get_program, path=path)
    options = InstallForm.from_request()
    tag, refusal = _get_tag(program["id"], options)
    status = api_client.require(get_install_status, path=path)
    return screens.render(
        "brand/programs/install.html",
        form or forms.prefill(url=_suggest_page(status)),
        program=program,
        base=f"/dashboard/programs/{program['id']}",
        tag=tag,
        guide=install_guides.build_guide(options.site, snippet=tag["snippet"], attributes=tag["attributes"]),
        sites=list(install_guides.SITES.items()),
        consent_code=install_guides.CONSENT_CODE if options.chosen & {"consent", "gpc"} else None,
        options=options.form(refusal),
        chosen=_options_query(),
        lights=status,
        host=settings.current().web.url,
    )


@blueprint.get(f"{_PAGE}/checks")
@screen("member", uses=(get_install_status,))
def show_checks(program_id: str) -> Response:
    """Show the lights alone. Budget: 1 round trip."""
    lights = api_client.require(get_install_status, path={"program_id": program_id})
    return screens.render_part("brand/programs/_checks.html", lights=lights, base=f"/dashboard/programs/{program_id}")


def _options_query() -> str:
    """Return the options in this request's address as a query."""
    return urlencode({name: value for name in _OPTIONS if (value := request.args.get(name))})


def _get_tag(program_id: str, options: InstallForm) -> tuple[Any, str | None]:
    """Return the tag, and the reason if it has no pixel though one was requested."""
    answer = _get_snippet(program_id, options)
    if answer.refusal is not None and answer.refusal.code == "pixel_not_provisioned":
        without = InstallForm(options.site, options.chosen - {"pixel"})
        return api_client.require_data(_get_snippet(program_id, without)), answer.refusal.message
    return api_client.require_data(answer), None


def _get_snippet(program_id: str, options: InstallForm) -> ApiResult:
    chosen = {param: "true" if name in options.chosen else "false" for name, param in _TAG_PARAMS.items()}
    query = {"programId": program_id, **chosen}
    return api_client.call(get_install_snippet, query=query)


def _suggest_page(status: Any) -> str:
    """Return the page that was checked last, else the site on which the script ran."""
    if status["check"]:
        return str(status["check"]["pageUrl"])
    return status["scriptOrigin"] or "https://"

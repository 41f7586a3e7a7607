"""The tag of a program, and four lights that say how far its installation is. They change by themselves."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from flask import Blueprint, Response, request

import settings
from api.clicks.install_check import check_installation, get_install_status
from api.clicks.install_snippet import get_install_snippet
from api.programs.programs import get_program
from pages import calls, forms, fragments, screens
from pages.calls import CallAnswer
from pages.forms import FormState
from pages.screens import screen

blueprint = Blueprint("install_page", __name__)

_OPTIONS = ("options", "emails", "pixel")
_PAGE = "/dashboard/programs/<program_id>/install"


@dataclass(frozen=True, slots=True)
class TagOptions:
    """What the tag should carry; as long as nobody has chosen, what the API hands out."""

    captures_emails: bool
    with_pixel: bool

    @classmethod
    def asked(cls) -> "TagOptions":
        """Return what stands in this request's address."""
        if not request.args.get("options"):
            return cls(captures_emails=True, with_pixel=False)
        return cls(captures_emails="emails" in request.args, with_pixel="pixel" in request.args)

    def form(self, refusal: str | None) -> FormState:
        """Return the switches as they are; `refusal` says why there is no pixel."""
        values = {
            name: ["on"] for name, is_on in (("emails", self.captures_emails), ("pixel", self.with_pixel)) if is_on
        }
        return FormState(values, {"pixel": refusal} if refusal else {}, id="option-")


@blueprint.get(_PAGE)
@screen("member", uses=(get_program, get_install_snippet, get_install_status))
def show_install(program_id: str) -> Response:
    """Show the tag and the lights. Budget: 4 round trips."""
    return _show(program_id, forms.EMPTY)


@blueprint.post(_PAGE)
@screen("member", uses=(get_program, get_install_snippet, get_install_status, check_installation))
def check_page(program_id: str) -> Response:
    """Have a page looked at, and show what was found."""
    body = {"url": request.form.get("url", "").strip()}
    answer = calls.call(check_installation, path={"program_id": program_id}, body=body, key=forms.key())
    if answer.refusal is not None:
        return _show(program_id, forms.refused(answer.refusal), answer.status)
    return screens.sent_on(f"/dashboard/programs/{program_id}/install?{_chosen()}#checks")


@blueprint.get(f"{_PAGE}/checks")
@screen("member", uses=(get_install_status,))
def show_checks(program_id: str) -> Response:
    """Show the lights alone. Budget: 1 round trip."""
    lights = calls.needed(get_install_status, path={"program_id": program_id})
    return fragments.show("brand/programs/_checks.html", lights=lights, base=f"/dashboard/programs/{program_id}")


def _show(program_id: str, form: FormState, status: int = 200) -> Response:
    path = {"program_id": program_id}
    program = calls.needed(get_program, path=path)
    options = TagOptions.asked()
    tag, refusal = _tag(program["id"], options)
    installed = calls.needed(get_install_status, path=path)
    return screens.show(
        "brand/programs/install.html",
        status=status,
        form=form if form.is_wrong else forms.blank(url=_page_to_check(installed)),
        program=program,
        base=f"/dashboard/programs/{program['id']}",
        tag=tag,
        options=options.form(refusal),
        chosen=_chosen(),
        lights=installed,
        host=settings.current().web.url,
        can_check=calls.may(check_installation),
    )


def _chosen() -> str:
    """Return the options as they stand in this request's address."""
    return urlencode({name: value for name in _OPTIONS if (value := request.args.get(name))})


def _tag(program_id: str, options: TagOptions) -> tuple[Any, str | None]:
    """Return the tag, and why it has no pixel where one was wanted."""
    answer = _snippet(program_id, options)
    if answer.refusal is not None and answer.refusal.code == "pixel_not_provisioned":
        without = TagOptions(options.captures_emails, with_pixel=False)
        return calls.given(_snippet(program_id, without)), answer.refusal.message
    return calls.given(answer), None


def _snippet(program_id: str, options: TagOptions) -> CallAnswer:
    query = {
        "programId": program_id,
        "withPixel": "true" if options.with_pixel else "false",
        "emailCapture": "true" if options.captures_emails else "false",
    }
    return calls.call(get_install_snippet, query=query)


def _page_to_check(status: Any) -> str:
    """Return the page that was checked last, else the site where the script ran."""
    if status["check"]:
        return str(status["check"]["pageUrl"])
    return status["scriptOrigin"] or "https://"

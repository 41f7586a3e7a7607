"""Where an affiliate stands in each program, what it pays, and what else their brands offer."""

from flask import Blueprint, Response

from api.me.person import list_own_programs, list_program_offers
from api.storefront.application import apply_to_program
from domain.refused import not_found
from pages import calls, forms, screens, session
from pages.forms import FormState
from pages.portal import frame
from pages.screens import screen

blueprint = Blueprint("portal_programs_page", __name__)

_HERE = "/portal/programs"
_USES = (*frame.USES, list_own_programs, list_program_offers, apply_to_program)


@blueprint.get(_HERE)
@screen("account", uses=_USES)
def show_own_programs() -> Response:
    """Show programs and offers. Budget: 7 round trips, however many there are."""
    return _shown(forms.EMPTY)


@blueprint.post(f"{_HERE}/<program_id>/apply")
@screen("account", uses=_USES)
def apply_to_offer(program_id: str) -> Response:
    """Apply to a program that is offered, with the address that one is signed in with."""
    if program_id not in {one["programId"] for one in calls.needed(list_program_offers)}:
        raise not_found("program", program_id)
    body = {"email": session.person().email}
    answer = calls.tried(apply_to_program, path={"program_id": program_id}, body=body, key=forms.key())
    if answer.refusal is not None:
        return _shown(forms.refused(answer.refusal), status=frame.status(answer))
    return screens.sent_on(_HERE)


def _shown(form: FormState, *, status: int = 200) -> Response:
    return frame.show(
        "programs.html",
        status=status,
        form=form,
        programs=calls.needed(list_own_programs),
        offers=calls.needed(list_program_offers),
    )

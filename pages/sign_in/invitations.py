"""The link of an invitation to a team: it shows who is invited, and a button; mail scanners use nothing up.

Only the invited address can join: a browser that is signed in as another person has to sign out first.
"""

from flask import Blueprint, Response, request

from api import sessions, team_invites
from api.team_invites import TeamInvitation
from pages import screens, session
from pages.screens import open_page
from pages.sign_in import redirects, request_cookie

blueprint = Blueprint("team_invite_page", __name__)


@blueprint.get("/sign-in/invite/<token>")
@open_page(bucket="anonymous")
def show_invitation(token: str) -> Response:
    """Show an invitation to its person. Budget: 3 round trips."""
    if redirects.is_prefetch():
        return redirects.render_prefetch()
    invitation = team_invites.find(token)
    if invitation is None:
        person = session.find_person()
        if person is not None and person.kind == "member":
            return screens.redirect("/dashboard")
        return _render_invalid()
    return _render(invitation, token)


@blueprint.post("/sign-in/invite/<token>")
@open_page(bucket="anonymous")
def accept_invitation(token: str) -> Response:
    """Make the invited person a member, and sign them in: with their code, if they have a second factor."""
    invitation = team_invites.find(token)
    if invitation is None:
        return _render_invalid()
    person = session.find_person()
    if person is not None and person.name != invitation.email:
        return _render(invitation, token, status=403)
    cookie = session.read_cookie()
    if person is not None and person.kind == "member" and cookie:
        switched = team_invites.accept_in_session(token, cookie, person)
        if switched is None:
            return _render_invalid()
        return redirects.start_session(switched, requested="/dashboard")
    if not sessions.gives_links("dashboard"):
        return _render(invitation, token, status=403)
    secret = request_cookie.create()
    link = team_invites.accept(token, request_cookie=secret)
    if link is None:
        return _render_invalid()
    answer = screens.redirect(f"/sign-in/link/{link}?next=%2Fdashboard")
    request_cookie.set_on(answer, secret)
    return answer


def _render_invalid() -> Response:
    return screens.render("sign_in_invite_invalid.html", status=410)


def _render(invitation: TeamInvitation, token: str, *, status: int = 200) -> Response:
    person = session.find_person()
    providers = [
        (name, f"/sign-in/with/{kind}?next={request.path}")
        for kind, name in sessions.list_providers()
        if kind == "dashboard"
    ]
    return screens.render(
        "sign_in_invite.html",
        status=status,
        invitation=invitation,
        action=f"/sign-in/invite/{token}",
        is_other_person=person is not None and person.name != invitation.email,
        can_accept=person is not None or sessions.gives_links("dashboard"),
        providers=providers,
    )

"""The email to an invited person: their link, and the brand's note with its merge tags filled in.

Brands choose the names freely, so they are untrusted: one line in a subject, escaped in HTML.
Source: core spec, "Affiliate invites", invite rules.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from html import escape

from adapters.mail import html, template_renderer
from domain.mail import merge_tags
from domain.programs import terms
from domain.text import one_line
from models.invites import InviteWithProgram
from models.organization.organizations import Organization
from models.programs.programs import Program
from pipelines import mail

_KIND = "affiliate.invite"
_MAX_LINE = 1_000


@dataclass(frozen=True, slots=True)
class InviteContext:
    """An invite with its brand and program."""

    organization: Organization
    program: Program
    invite: InviteWithProgram

    @property
    def brand(self) -> str:
        """The brand's name on one line."""
        return _one_line(self.organization.name)

    @property
    def campaign(self) -> str:
        """The program's name on one line."""
        return _one_line(self.program.name)

    @property
    def commission(self) -> str:
        """What the invited person would earn, in words: their own rate, else the program's."""
        own, value = self.invite.custom_commission_type, self.invite.custom_commission_value
        currency = self.invite.custom_commission_currency
        if own is None or value is None:
            own, value = self.program.default_commission_type, self.program.default_commission_value
            currency = self.program.fee_currency
        model = self.program.default_commission_model
        if currency is None or not terms.has_unit_fee(model=model, type=own):
            currency = self.organization.home_currency
        return merge_tags.format_commission(type=own, value=value, model=model, currency=currency)

    @property
    def note_html(self) -> str | None:
        """The brand's note as HTML: sanitized when it was written, its tags filled in with escaped values."""
        note = self.invite.personal_note_html
        if note is None:
            return None
        return merge_tags.render(note, {name: escape(value) for name, value in self._values().items()})

    @property
    def note_text(self) -> str | None:
        """The brand's note as plain text."""
        note = self.invite.personal_note_html
        return None if note is None else merge_tags.render(html.to_text(note), self._values())

    def _values(self) -> Mapping[str, str]:
        return {
            "affiliate.firstName": merge_tags.first_name(_one_line(self.invite.full_name)),
            "program.commission": self.commission,
            "brand.name": self.brand,
        }


def send(context: InviteContext, *, accept_url: str, now: datetime) -> None:
    """Stage the email with the link."""
    mail.send(
        organization_id=context.invite.organization_id,
        to=context.invite.email,
        subject=f"{context.brand} invites you to the affiliate program {context.campaign}",
        text=_text(context, accept_url),
        html=_html(context, accept_url),
        kind=_KIND,
        at=now,
    )


def _text(context: InviteContext, accept_url: str) -> str:
    parts = [
        f"{context.brand} invites you to join its affiliate program {context.campaign} and earn {context.commission}.",
        context.note_text,
        f"Accept the invitation:\n{accept_url}",
        _closing_text(context),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _html(context: InviteContext, accept_url: str) -> str:
    return template_renderer.render(
        "invite.html",
        brand=context.brand,
        campaign=context.campaign,
        commission=context.commission,
        note=context.note_html or "",
        url=accept_url,
        ending=_closing_text(context),
    )


def _closing_text(context: InviteContext) -> str:
    expires_at = context.invite.expires_at
    until = f"{expires_at.day} {expires_at:%B %Y, %H:%M} UTC"
    return (
        f"The link is valid until {until}. You get this email because {context.brand} invited this address. If you"
        " don't know them, you can ignore it."
    )


def _one_line(text: str) -> str:
    return " ".join(one_line.format_line(text, max_length=_MAX_LINE).split())

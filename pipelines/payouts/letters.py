"""What the Owners of an organization are told by mail of their automatic payouts. No affiliate is named."""

from datetime import datetime
from decimal import Decimal

import settings
from domain.money import currencies
from domain.refusals import Refused
from models.organization.organizations import Organization
from models.payouts.proposals import Proposal
from pipelines import mail
from pipelines.payouts.run import Receipt


def send_proposed(organization: Organization, proposal: Proposal, *, at: datetime) -> None:
    """Tell the Owners that payouts wait for one of them."""
    text = (
        f"{_due(organization, proposal)}\n\nNothing was paid yet: look at the preview and confirm the run in the"
        f" dashboard at {settings.current().web.url}. What changes until then is in the preview."
    )
    _send(organization, f"Payouts of {organization.name} wait for you", text, "payout.prepared", at)


def send_refused(organization: Organization, proposal: Proposal, refusal: Refused, *, at: datetime) -> None:
    """Tell the Owners why automatic payouts were not confirmed."""
    text = (
        f"{_due(organization, proposal)}\n\nThey are to be confirmed automatically, and that was refused"
        f" ({refusal.code}): {refusal.message}\n\nNothing was paid. Once it is settled, confirm the run in the"
        f" dashboard at {settings.current().web.url}."
    )
    _send(organization, f"Payouts of {organization.name} were not made", text, "payout.refused", at)


def send_confirmed(organization: Organization, receipt: Receipt, *, at: datetime) -> None:
    """Tell the Owners that automatic payouts were confirmed."""
    waits = ""
    if receipt.run.review_status:
        waits = " They wait for the operator's review."
    elif receipt.run.hold_until:
        waits = f" They are held until {receipt.run.hold_until:%Y-%m-%d %H:%M} UTC."
    text = (
        f"{len(receipt.payouts)} payouts of {organization.name}, {_money(receipt.total_cents, 'USD')} in all, were"
        f" confirmed automatically.{waits}\n\nThe run is {receipt.run.id}; see it in the dashboard at"
        f" {settings.current().web.url}."
    )
    _send(organization, f"Payouts of {organization.name} were confirmed", text, "payout.confirmed", at)


def _due(organization: Organization, proposal: Proposal) -> str:
    totals = ", ".join(_money(cents, currency) for currency, cents in proposal.native_totals.items())
    total = _money(proposal.usd_estimate_cents, "USD")
    return (
        f"Affiliates of {organization.name} who are due to be paid: {proposal.recipients}. Due: {totals};"
        f" {total} at today's rates."
    )


def _money(cents: int, currency: str) -> str:
    exponent = currencies.exponent(currency)
    return f"{Decimal(cents).scaleb(-exponent):,.{exponent}f} {currency}"


def _send(organization: Organization, subject: str, text: str, kind: str, at: datetime) -> None:
    mail.send_to_owners(organization_id=organization.id, subject=subject, text=text, kind=kind, at=at)

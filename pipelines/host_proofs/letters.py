"""What the Owners are told by mail of a domain that lost its proof."""

from datetime import datetime

from domain.host_proofs.validity import LOST_AFTER
from pipelines import mail
from pipelines.host_proofs.host_status import HostStatus


def notify_lost(status: HostStatus, *, now: datetime) -> None:
    """Stage a letter to every Owner: what is not used any more, what would prove it, and what was found instead."""
    use = "your pages loaded our script from it" if status.holder.program_id is None else "it led to your campaign"
    text = (
        f"{status.domain} has not proved for {LOST_AFTER.days} days that it is yours, and is not used until it does:"
        f" {use}.\n\nOne of these DNS records proves it:\n\n"
        + "\n\n".join(f"  {step.name}  {step.type}  {step.value}\n  found: {step.found}" for step in status.steps)
        + "\n\nIt is looked for by itself, and used again as soon as it is there. The dashboard checks it at once."
    )
    mail.send_to_owners(
        organization_id=status.holder.organization_id,
        subject=f"{status.domain} lost its proof",
        text=text,
        kind="domain.lost",
        at=now,
    )

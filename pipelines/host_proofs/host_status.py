"""The status of a brand's host name: its holder, the DNS records that prove it, and what was found."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from domain.host_proofs import validity
from domain.host_proofs.records import ExpectedProof, ProofKind
from domain.host_proofs.validity import DomainState, ProofRecord
from models.host_proofs.holders import HostHolder


@dataclass(frozen=True, slots=True)
class ProofStep:
    """A DNS record that alone proves a name, and what was found instead (None: not checked yet)."""

    type: str
    name: str
    value: str
    found: str | None


@dataclass(frozen=True, slots=True)
class HostStatus:
    """A holder, the proof that its name needs (None: it has no name), and the result of the last check."""

    holder: HostHolder
    required: ExpectedProof | None
    record: ProofRecord | None

    @property
    def domain(self) -> str | None:
        """The host name."""
        return self.holder.name

    @property
    def state(self) -> DomainState:
        """The name's state."""
        return validity.state(self.record, is_set=self.required is not None, is_verified=self.holder.is_verified)

    @property
    def proved_by(self) -> str | None:
        """The kind of record that proves the name, or that an operator vouches for it."""
        return validity.proved_by(self.record, is_verified=self.holder.is_verified)

    @property
    def steps(self) -> Sequence[ProofStep]:
        """The records of which one is enough; without a CNAME if the service has no name to point to."""
        if self.required is None:
            return ()
        at_name, in_text = (self.record.found_at_name, self.record.found_in_text) if self.record else (None, None)
        text = ProofStep(ProofKind.Txt.value, self.required.text_name, self.required.text, in_text)
        if self.required.target is None:
            return (text,)
        return ProofStep(ProofKind.Cname.value, self.required.name, self.required.target, at_name), text

    @property
    def checked_at(self) -> datetime | None:
        """When it was checked last."""
        return self.record.checked_at if self.record else None

    @property
    def next_check_at(self) -> datetime | None:
        """When the next scheduled check is due."""
        return self.record.due_at if self.record else None

    @property
    def missing_since(self) -> datetime | None:
        """Since when the proof of a verified name is missing."""
        return self.record.missing_since if self.record else None


@dataclass(frozen=True, slots=True)
class HostCheck:
    """The status after a check, and whether the name was verified before it."""

    status: HostStatus
    was_verified: bool

    @property
    def is_lost(self) -> bool:
        """Whether the check ended a proof."""
        return self.was_verified and not self.status.holder.is_verified

    @property
    def action(self) -> str | None:
        """The audit log's action for the change; None if nothing changed."""
        if self.was_verified == self.status.holder.is_verified:
            return None
        event = "domain_lost" if self.is_lost else "domain_verified"
        return f"org.tracking_{event}" if self.status.holder.program_id is None else f"program.{event}"

    @property
    def audit_data(self) -> Mapping[str, object]:
        """The name's data in the audit log."""
        domain = "trackingDomain" if self.status.holder.program_id is None else "customDomain"
        status = self.status
        return {domain: status.domain, f"{domain}Verified": status.holder.is_verified, "provedBy": status.proved_by}

"""The creator network: what an operator reviews before affiliates see a program, and when that is due anew.

Source: core spec, "Program fields accepted on create or update", rule 5. Whether a reviewed program is shown also hangs
on its brand's plan and funding, which is asked each time and never kept: `models.conditions.LISTED_PROGRAM`.
"""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any

from domain.refused import Refused
from domain.statuses import NetworkVisibility

#: What an operator judged when they approved a listing: other words, or another address, are judged again.
ADVERTISED = ("name", "description", "terms_url", "referral_destination_url")


class ProgramCategory(StrEnum):
    """What a program is about: what affiliates look for in the network."""

    Software = "Software"
    Shopping = "Shopping"
    Finance = "Finance"
    Education = "Education"
    Health = "Health"
    Travel = "Travel"
    Media = "Media"
    Games = "Games"
    Food = "Food"
    Home = "Home"
    Services = "Services"
    Other = "Other"


class NetworkReview(StrEnum):
    """Where the review of a program stands. A Rejected one is not Networked any more: turning it on asks anew."""

    Pending = "Pending"
    Approved = "Approved"
    Rejected = "Rejected"


_NOTHING_DECIDED = {"network_decided_at": None, "network_decided_by": None, "network_reason": None}


def asked(before: Mapping[str, Any], changes: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    """Return the columns of the review that follow from changes of a program; none where it stands as it did.

    `before` are the program's columns, empty for a new one. Listing it asks for a review, and so do other words in what
    is advertised; white space and capitals are no other words. Whoever takes it back asks for none.
    """
    is_listed = _is_listed({**before, **changes})
    if not is_listed:
        withdrawn = {"network_review": None, "network_asked_at": None, **_NOTHING_DECIDED}
        return withdrawn if _is_listed(before) else {}
    if _is_listed(before) and not _says_otherwise(before, changes):
        return {}
    # In milliseconds, as it is shown: who decides names the request that they looked at.
    asked_at = now.replace(microsecond=now.microsecond // 1000 * 1000)
    return {"network_review": NetworkReview.Pending.value, "network_asked_at": asked_at, **_NOTHING_DECIDED}


def decided(
    program: Any, verdict: NetworkReview, *, by: str, why: str | None, asked_at: datetime | None, now: datetime
) -> dict[str, Any]:
    """Return the columns of a decision about a program: a row of `models.programs.programs`.

    `asked_at` is the request that was looked at (None: whichever there is); a newer one may say something else.
    Raises Refused 409: invalid_status_transition, network_request_changed.
    """
    if program.archived_at is not None or program.network_review != NetworkReview.Pending:
        stands = "archived" if program.archived_at is not None else (program.network_review or "not in the network")
        message = f"No review of this program waits: it is {stands}."
        raise Refused(409, "invalid_status_transition", message)
    if asked_at is not None and asked_at != program.network_asked_at:
        message = "The brand has changed what it advertises since you looked: look again, then decide."
        raise Refused(409, "network_request_changed", message)
    return _verdict(verdict, by=by, why=why, now=now)


def revoked(program: Any, *, by: str, why: str, now: datetime) -> dict[str, Any]:
    """Return the columns of a program that an operator takes out of the network after they had approved it.

    Raises Refused 409 invalid_status_transition.
    """
    if program.network_review != NetworkReview.Approved:
        message = f"This program is not listed in the network: its review is {program.network_review or 'none'}."
        raise Refused(409, "invalid_status_transition", message)
    return _verdict(NetworkReview.Rejected, by=by, why=why, now=now)


def _verdict(verdict: NetworkReview, *, by: str, why: str | None, now: datetime) -> dict[str, Any]:
    columns = {
        "network_review": verdict.value,
        "network_decided_at": now,
        "network_decided_by": by,
        "network_reason": why,
    }
    if verdict == NetworkReview.Rejected:
        columns["network_visibility"] = NetworkVisibility.Private.value
    return columns


def _is_listed(columns: Mapping[str, Any]) -> bool:
    return bool(columns.get("network_visibility") == NetworkVisibility.Networked)


def _says_otherwise(before: Mapping[str, Any], changes: Mapping[str, Any]) -> bool:
    return any(_words(before[column]) != _words(changes[column]) for column in ADVERTISED if column in changes)


def _words(text: str | None) -> list[str]:
    return (text or "").casefold().split()

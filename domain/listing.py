"""The creator network: an operator's review of a program before affiliates see it, and when it is due again.

Source: core spec, "Program fields accepted on create or update", rule 5. A reviewed program is listed only if its
brand's plan and funding allow it, which is checked each time and never stored: `models.conditions.LISTED_PROGRAM`.
"""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any

from domain.refusals import Refused
from domain.statuses import NetworkVisibility

#: The columns that an operator reviews; a change of them is reviewed again.
ADVERTISED = ("name", "description", "terms_url", "referral_destination_url")


class ProgramCategory(StrEnum):
    """The subject of a program, by which affiliates search the network."""

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
    """The state of a program's review. A Rejected one is no longer Networked: turning that on requests a new review."""

    Pending = "Pending"
    Approved = "Approved"
    Rejected = "Rejected"


_NO_DECISION = {"network_decided_at": None, "network_decided_by": None, "network_reason": None}


def request_review(before: Mapping[str, Any], changes: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    """Return the changed columns of the review after changes of a program; none if the review stays as it is.

    `before` are the program's columns, empty for a new one. Listing a program requests a review, and so does a change
    of its ADVERTISED columns, except in white space and case. Unlisting it withdraws the review.
    """
    is_listed = _is_listed({**before, **changes})
    if not is_listed:
        withdrawn = {"network_review": None, "network_asked_at": None, **_NO_DECISION}
        return withdrawn if _is_listed(before) else {}
    if _is_listed(before) and not _is_advertised_changed(before, changes):
        return {}
    # In milliseconds, as displayed: the operator's decision names the request that they reviewed.
    requested_at = now.replace(microsecond=now.microsecond // 1000 * 1000)
    return {"network_review": NetworkReview.Pending.value, "network_asked_at": requested_at, **_NO_DECISION}


def decide_review(
    program: Any, verdict: NetworkReview, *, by: str, why: str | None, asked_at: datetime | None, now: datetime
) -> dict[str, Any]:
    """Return the columns of a decision about a program, a row of `models.programs.programs`.

    `asked_at` is the time of the request that was reviewed (None: any); a newer request may have other contents.
    Raises Refused 409: invalid_status_transition, network_request_changed.
    """
    if program.archived_at is not None or program.network_review != NetworkReview.Pending:
        state = "archived" if program.archived_at is not None else (program.network_review or "not in the network")
        message = f"This program has no pending review: it is {state}."
        raise Refused(409, "invalid_status_transition", message)
    if asked_at is not None and asked_at != program.network_asked_at:
        message = "The brand has changed its listing since you loaded it. Load it again, then decide."
        raise Refused(409, "network_request_changed", message)
    return _verdict(verdict, by=by, why=why, now=now)


def revoke_review(program: Any, *, by: str, why: str, now: datetime) -> dict[str, Any]:
    """Return the columns of an approved program that an operator removes from the network.

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


def _is_advertised_changed(before: Mapping[str, Any], changes: Mapping[str, Any]) -> bool:
    return any(_words(before[column]) != _words(changes[column]) for column in ADVERTISED if column in changes)


def _words(text: str | None) -> list[str]:
    return (text or "").casefold().split()

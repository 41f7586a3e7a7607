"""The creator network for affiliates, in the API."""

from collections.abc import Iterable, Mapping
from typing import Any

from marshmallow import ValidationError, fields, post_load

from domain import statuses
from domain.listing import ProgramCategory
from domain.money import currencies
from domain.programs import application_form, terms
from schemas.base import Instant, Wire, one_of, text
from schemas.me.person import ProgramOfferRecord, terms_of
from schemas.paging import PageQuery
from schemas.storefront.application import ApplicantFields

_MAX_CODE_CHARS = 3


class NetworkQuery(PageQuery):
    """Which programs of the network. `currency` is the brand's home currency, in any case; Cps takes those models in
    that behave like it.
    """

    category = one_of(ProgramCategory, load_default=None)
    commission_model = one_of(terms.OFFERED_MODELS, load_default=None)
    currency = text(longest=_MAX_CODE_CHARS, load_default=None)

    @post_load
    def _settle(self, query: dict[str, Any], **_: object) -> dict[str, Any]:
        if query["currency"] is not None:
            query["currency"] = currencies.normalize(query["currency"])
            if query["currency"] is None:
                raise ValidationError({"currency": ["It is not a supported currency code."]})
        return query


class NetworkProgramRecord(ProgramOfferRecord):
    """A program of the network. `ownStatus` is the affiliate's status in it, null without an application."""

    program_id = fields.UUID(attribute="id")
    category = one_of(ProgramCategory, allow_none=True)
    currency = fields.String()
    logo_url = fields.String(allow_none=True)
    handle = fields.String(allow_none=True)
    slug = fields.String()
    own_status = one_of(statuses.AffiliateStatus, attribute="status", allow_none=True)
    listed_at = Instant()


class NetworkApplicationBody(ApplicantFields):
    """An application through the network, with the email of the signed-in affiliate.

    Loads like `ApplicationBody`, without `email`; there is no recruiter.
    """

    @post_load
    def _settle(self, body: dict[str, Any], **_: object) -> dict[str, Any]:
        return {**self.to_application(body), "recruiter": None}


class NetworkApplicationRecord(Wire):
    """The affiliate's current status in the program, the same however often they apply."""

    program_id = fields.UUID()
    own_status = one_of(statuses.AffiliateStatus)


_PROGRAM = NetworkProgramRecord(exclude=("terms", "logo_url", "application_form"))
_APPLICATION = NetworkApplicationRecord()


def network_records(programs: Iterable[Any], *, base_url: str) -> list[dict[str, Any]]:
    """Return programs of the network as the API shows them. `base_url` is the public URL of this service."""
    return [
        _PROGRAM.dump(program)
        | {
            "terms": terms_of(program),
            "applicationForm": application_form.first_step(program.application_form),
            "logoUrl": f"{base_url}/api/brand-files/{program.logo_file_id}" if program.logo_file_id else None,
        }
        for program in programs
    ]


def application_record(*, program_id: object, status: str) -> Mapping[str, Any]:
    """Return an affiliate's status in a program after they applied."""
    record: Mapping[str, Any] = _APPLICATION.dump({"program_id": program_id, "own_status": status})
    return record

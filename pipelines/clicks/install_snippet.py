"""Builds the HTML that a brand puts on its pages, from the current organization and program.

Source: tracking spec, "Install snippet".
"""

from collections.abc import Mapping
from uuid import UUID

from domain.clicks import install_snippet
from domain.clicks.attribution_params import Params
from domain.refusals import Refused
from models.organization import organizations
from models.programs import programs
from models.programs.programs import Program


def build(
    options: install_snippet.TagOptions, *, organization_id: UUID, program_id: UUID | None, base_url: str
) -> Mapping[str, object]:
    """Return the snippet with its parts, as `schemas.clicks.install_snippet.Snippet` serializes it.

    `base_url` is the service's own address. A program that is requested by its id need not be open yet.
    Raises Refused: 404 no_program_found, 409 pixel_not_provisioned. Budget: 2 statements.
    """
    program = _find_program(organization_id, program_id)
    organization = organizations.find(organization_id)
    if program is None or organization is None:
        raise Refused(404, "no_program_found", "The organization has no such program.", field="programId")
    if options.with_pixel and organization.pixel_public_key is None:
        raise Refused(409, "pixel_not_provisioned", "The organization has no pixel key.", field="withPixel")
    is_verified = organization.tracking_domain is not None and organization.tracking_domain_verified
    script_host = install_snippet.host(
        tracking_domain=organization.tracking_domain, is_verified=is_verified, base_url=base_url
    )
    custom = Params(organization.attribution_params).printable.custom
    attributes = install_snippet.build_attributes(
        options,
        script_host=script_host,
        program_id=str(program.id),
        custom_params=custom,
        pixel_key=organization.pixel_public_key,
    )
    return {
        "snippet": install_snippet.render(attributes, script_host=script_host),
        "attributes": attributes,
        "program_id": program.id,
        "program_slug": program.slug,
        "with_pixel": options.with_pixel,
        "has_custom_attribution_params": custom is not None,
        "custom_attribution_params": custom,
        "script_host": script_host,
        "using_tracking_domain": is_verified,
        "email_capture": options.captures_emails,
        "consent_required": options.requires_consent,
        "respect_gpc": options.respects_gpc,
    }


def _find_program(organization_id: UUID, program_id: UUID | None) -> Program | None:
    if program_id is None:
        return programs.find_newest_open(organization_id=organization_id)
    program = programs.find(organization_id=organization_id, program_id=program_id)
    return program if program is not None and program.archived_at is None else None

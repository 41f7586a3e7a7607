"""The organization's own profile, and its logo and favicon.

Source: core spec, "Settings, organization and billing" and "Other resources" (profile).
"""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from flask import Blueprint, Response, request

from adapters import clock
from api.access import callers, guards, login_age
from api.access.guards import KIB, Guard
from api.edge import audit, body, idempotency
from api.edge.operations import object_of, operation
from api.organization import brand_files
from domain.clicks import attribution_params
from domain.organization import images
from domain.organization.access import Role
from domain.refusals import Refused, not_found
from models import db
from models.organization import organizations
from models.organization.organizations import Organization
from pipelines.organization import brand_images, profile
from schemas.organization.organization import ImageBody, ImageQuery, OrganizationProfileRecord, ProfileChanges

blueprint = Blueprint("organization", __name__)

_READ = Guard(audience="brand")
_WRITE = Guard(audience="dashboard", scope="read_write", role=Role.Owner)
# An image that is base64 in JSON takes a third more than the image itself.
_UPLOAD = Guard(
    audience="dashboard",
    scope="read_write",
    role=Role.Owner,
    max_body_bytes=brand_images.MAX_BYTES * 4 // 3 + KIB,
)

_RECORD = OrganizationProfileRecord()
_Answer = tuple[int, Mapping[str, object]]


@blueprint.get("/api/organizations/me")
@operation(_READ, object_of(_RECORD), refuses=("404 not_found",))
def get_organization() -> Mapping[str, object]:
    """Show the profile."""
    with db.unit_of_work(guards.organization_id()):
        return _serialize(_require(organizations.find(guards.organization_id())))


@blueprint.patch("/api/organizations/me")
@operation(
    _WRITE,
    object_of(_RECORD),
    takes=ProfileChanges(),
    refuses=(
        "400 payout_grace_days_out_of_range",
        "400 slug_reserved",
        "403 interactive_session_required",
        "403 fresh_login_required",
        "404 not_found",
        "409 subdomain_already_taken",
        "409 subdomain_change_limit_reached",
    ),
)
def change_organization() -> Response:
    """Change the profile. 200 with it."""
    values = body.load()
    answer = idempotency.run_once(lambda: _change(values))
    # Pages show times in this time zone, and lead members without a second factor to set one up.
    if not {"timezone", "require_second_factor"}.isdisjoint(values):
        callers.clear_cache()
    return answer


def _change(values: Mapping[str, Any]) -> _Answer:
    before = _lock()
    _check_may_change_payouts(before, values)
    if values.get("require_second_factor") is False and before.require_second_factor:
        login_age.check_member(guards.caller(), within_s=guards.FRESH_S)
    return 200, _audit("org.profile_changed", before, profile.change(before, values, now=clock.now()))


def _check_may_change_payouts(organization: Organization, values: Mapping[str, Any]) -> None:
    """Raise Refused unless a person who has just logged in changes automatic payouts."""
    is_about_money = "automatic_payout_enabled" in values or (
        "automatic_payout_cadence" in values and organization.automatic_payout_enabled
    )
    if not is_about_money:
        return
    if not guards.caller().is_interactive:
        message = "Only a person who is logged in to the dashboard can change automatic payouts."
        raise Refused(403, "interactive_session_required", message, field="automaticPayoutEnabled")
    login_age.check_member(guards.caller(), within_s=guards.FRESH_S)


@blueprint.post("/api/organizations/me/logo")
@operation(
    _UPLOAD,
    object_of(_RECORD),
    takes=ImageBody(),
    asks=ImageQuery(),
    takes_as=("image/*",),
    refuses=("400 invalid_image", "404 not_found", "413 payload_too_large"),
)
def put_logo() -> Response:
    """Set the logo, or with `kind=favicon` the favicon. 200 with the profile.

    The body is the image itself (PNG, JPEG, WebP or GIF, named by Content-Type), or JSON with it in base64.
    """
    kind = body.query()["kind"]
    content, declared_type = _image_from_request()
    image = images.check(content, declared_type=declared_type, max_bytes=brand_images.MAX_BYTES)
    return idempotency.run_once(lambda: _store_image(kind, content, image.content_type))


def _image_from_request() -> tuple[bytes, str | None]:
    if request.mimetype != "application/json":
        return request.get_data(cache=True), request.mimetype
    upload = body.load()
    return upload["content"], upload["content_type"]


def _store_image(kind: str, content: bytes, content_type: str) -> _Answer:
    before = _lock()
    after = brand_images.store(before, kind, content=content, content_type=content_type, now=clock.now())
    return 200, _audit("org.logo_changed", before, after)


@blueprint.delete("/api/organizations/me/logo")
@operation(_WRITE, status=204, asks=ImageQuery(), refuses=("404 not_found",))
def delete_logo() -> Response:
    """Delete the logo, or with `kind=favicon` the favicon. 204."""
    kind = body.query()["kind"]
    with db.unit_of_work(guards.organization_id()):
        before = _lock()
        after = brand_images.remove(before, kind)
        if after is None:
            raise not_found(kind)
        _audit("org.logo_changed", before, after)
    return Response(status=204)


def _audit(action: str, before: Organization, after: Organization) -> Mapping[str, object]:
    """Audit the changed fields of the profile, and return the current profile."""
    old, new = _serialize(before), _serialize(after)
    changed = [name for name in new if new[name] != old[name]]
    if changed:
        audit.record(
            action,
            after.id,
            before={name: old[name] for name in changed},
            after={name: new[name] for name in changed},
            now=clock.now(),
        )
    return new


def _lock() -> Organization:
    return _require(organizations.lock(guards.organization_id()))


def _require(organization: Organization | None) -> Organization:
    if organization is None:
        raise not_found("organization", guards.organization_id())
    return organization


def _serialize(organization: Organization) -> Mapping[str, object]:
    params = attribution_params.Params(organization.attribution_params)
    record: Mapping[str, object] = _RECORD.dump(
        {
            **asdict(organization),
            "subdomain_changes_max": profile.SUBDOMAIN_CHANGES_MAX,
            "logo_url": brand_files.file_url(organization.logo_file_id),
            "favicon_url": brand_files.file_url(organization.favicon_file_id),
            "custom_attribution_params": params.custom,
            "default_attribution_params": attribution_params.DEFAULTS,
            "effective_attribution_params": params.effective_order,
            "max_custom_attribution_params": attribution_params.MAX_CUSTOM_ENTRIES,
            "max_attribution_params_chars": attribution_params.MAX_TOTAL_CHARS,
        }
    )
    return record

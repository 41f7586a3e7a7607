"""The organization's own profile, and its logo and favicon.

Source: core spec, "Settings, organization and billing" and "Other resources" (profile).
"""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from flask import Blueprint, Response, request

from adapters import clock
from api.access import callers, guards
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
from schemas.organization.organization import ImageBody, ImageQuery, ProfileChanges, ProfileRecord

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

_RECORD = ProfileRecord()
_Answer = tuple[int, Mapping[str, object]]


@blueprint.get("/api/organizations/me")
@operation(_READ, object_of(_RECORD), refuses=("404 not_found",))
def get_organization() -> Mapping[str, object]:
    """Show the profile."""
    with db.unit_of_work(guards.organization_id()):
        return _shown(_found(organizations.find(guards.organization_id())))


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
    wanted = body.load()
    answer = idempotency.run_once(lambda: _change(wanted))
    if "timezone" in wanted:  # pages show times in it
        callers.clear_cache()
    return answer


def _change(wanted: Mapping[str, Any]) -> _Answer:
    before = _locked()
    _check_is_a_person(before, wanted)
    return 200, _audited("org.profile_changed", before, profile.change(before, wanted, now=clock.now()))


def _check_is_a_person(organization: Organization, wanted: Mapping[str, Any]) -> None:
    """Let nobody but a person who has just logged in decide that money leaves by itself, or when."""
    is_about_money = "automatic_payout_enabled" in wanted or (
        "automatic_payout_cadence" in wanted and organization.automatic_payout_enabled
    )
    if not is_about_money:
        return
    if not guards.caller().is_interactive:
        message = "Only a person who logged in to the dashboard decides about automatic payouts."
        raise Refused(403, "interactive_session_required", message, field="automaticPayoutEnabled")
    guards.check_fresh_login(guards.caller().signed_in_at, within_s=guards.FRESH_S)


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
    content, declared_type = _sent_image()
    image = images.check(content, declared_type=declared_type, max_bytes=brand_images.MAX_BYTES)
    return idempotency.run_once(lambda: _keep_image(kind, content, image.content_type))


def _sent_image() -> tuple[bytes, str | None]:
    if request.mimetype != "application/json":
        return request.get_data(cache=True), request.mimetype
    sent = body.load()
    return sent["content"], sent["content_type"]


def _keep_image(kind: str, content: bytes, content_type: str) -> _Answer:
    before = _locked()
    after = brand_images.store(before, kind, content=content, content_type=content_type, now=clock.now())
    return 200, _audited("org.logo_changed", before, after)


@blueprint.delete("/api/organizations/me/logo")
@operation(_WRITE, status=204, asks=ImageQuery(), refuses=("404 not_found",))
def delete_logo() -> Response:
    """Take the logo, or with `kind=favicon` the favicon, away. 204."""
    kind = body.query()["kind"]
    with db.unit_of_work(guards.organization_id()):
        before = _locked()
        after = brand_images.remove(before, kind)
        if after is None:
            raise not_found(kind)
        _audited("org.logo_changed", before, after)
    return Response(status=204)


def _audited(action: str, before: Organization, after: Organization) -> Mapping[str, object]:
    """Record what of the profile changed, and return all of it as it is now."""
    was, is_now = _shown(before), _shown(after)
    changed = [name for name in is_now if is_now[name] != was[name]]
    if changed:
        audit.record(
            action,
            after.id,
            before={name: was[name] for name in changed},
            after={name: is_now[name] for name in changed},
            now=clock.now(),
        )
    return is_now


def _locked() -> Organization:
    return _found(organizations.lock(guards.organization_id()))


def _found(organization: Organization | None) -> Organization:
    if organization is None:
        raise not_found("organization", guards.organization_id())
    return organization


def _shown(organization: Organization) -> Mapping[str, object]:
    params = attribution_params.Params(organization.attribution_params)
    shown: Mapping[str, object] = _RECORD.dump(
        {
            **asdict(organization),
            "subdomain_changes_max": profile.SUBDOMAIN_CHANGES_MAX,
            "logo_url": brand_files.url(organization.logo_file_id),
            "favicon_url": brand_files.url(organization.favicon_file_id),
            "custom_attribution_params": params.custom,
            "default_attribution_params": attribution_params.DEFAULTS,
            "effective_attribution_params": params.effective_order,
            "max_custom_attribution_params": attribution_params.MAX_CUSTOM_ENTRIES,
            "max_attribution_params_chars": attribution_params.MAX_TOTAL_CHARS,
        }
    )
    return shown

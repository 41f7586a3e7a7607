"""Images for the landing pages of programs. An addition to the interface."""

from collections.abc import Mapping

from flask import Blueprint, Response, request

from adapters import clock
from api.access import guards
from api.access.guards import KIB, Guard
from api.edge import audit, body, idempotency
from api.edge.operations import object_of, operation
from api.organization import brand_files
from domain.landing_limits import MAX_PICTURE_BYTES
from domain.organization import plans
from domain.organization.images import Image
from pipelines.programs import landing_pictures
from schemas.programs.landing_page import HeroImageBody, HeroImageRecord

blueprint = Blueprint("hero_images", __name__)

# An image that is base64 in JSON takes a third more than the image itself.
_UPLOAD = Guard(
    audience="brand",
    scope="read_write",
    plan=plans.Tier.Starter,
    max_body_bytes=MAX_PICTURE_BYTES * 4 // 3 + KIB,
)
_RECORD = HeroImageRecord()


@blueprint.post("/api/v1/programs/hero-images")
@operation(
    _UPLOAD,
    object_of(_RECORD),
    status=201,
    takes=HeroImageBody(),
    takes_as=("image/*",),
    refuses=("400 invalid_image", "413 payload_too_large"),
)
def create_hero_image() -> Response:
    """Upload an image for the head of landing pages. 201 with its id, which goes into `landingPageConfig`.

    The body is the image itself (PNG, JPEG, WebP or GIF, named by Content-Type), or JSON with it in base64. Later
    uploads delete images that no program uses, except for the newest 20.
    """
    content, declared_type = _image_from_request()
    image = landing_pictures.check_image(content, declared_type=declared_type)
    return idempotency.run_once(lambda: _store(content, image))


def _image_from_request() -> tuple[bytes, str | None]:
    if request.mimetype != "application/json":
        return request.get_data(cache=True), request.mimetype
    upload = body.load()
    return upload["content"], upload["content_type"]


def _store(content: bytes, image: Image) -> tuple[int, Mapping[str, object]]:
    now = clock.now()
    file_id = landing_pictures.store(organization_id=guards.organization_id(), content=content, image=image, now=now)
    record: Mapping[str, object] = {
        "id": str(file_id),
        "url": brand_files.file_url(file_id),
        "contentType": image.content_type,
        "width": image.width,
        "height": image.height,
        "sizeBytes": len(content),
    }
    audit.record("hero_image.uploaded", file_id, after=record, now=now)
    return 201, record

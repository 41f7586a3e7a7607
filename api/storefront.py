"""The public storefront: what anybody may ask of a campaign.

Source: tracking spec, "Public storefront".
"""

from collections.abc import Mapping

from flask import Blueprint

from api import body, path
from api.guards import Guard, guarded
from api.wake import wake_relay
from models import db
from pipelines import clock, storefront
from schemas.application import ApplicationAnswer, ApplicationBody

blueprint = Blueprint("storefront", __name__)

_APPLY = Guard(audience="public", bucket="apply")
_BODY = ApplicationBody()
_ANSWER = ApplicationAnswer()


@blueprint.post("/api/p/id/<program_id>/apply")
@guarded(_APPLY)
def apply(program_id: str) -> Mapping[str, object]:
    """Apply to a campaign. 200 with the same answer whatever came of it."""
    campaign_id = path.uuid(program_id, "program")
    application = body.load(_BODY)
    with db.any_org_work():
        door = storefront.any_org_door(program_id=campaign_id, email=application["email"])
    with db.unit_of_work(door.organization_id):
        storefront.apply(
            organization_id=door.organization_id, program_id=campaign_id, application=application, now=clock.now()
        )
    wake_relay()
    answer: Mapping[str, object] = _ANSWER.dump({"account_exists": door.has_account, "email": application["email"]})
    return answer

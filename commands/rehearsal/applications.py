"""Makes what the second step of an application tells of, in a campaign that is made for it the first time."""

import secrets
from collections.abc import Callable, Mapping
from types import MappingProxyType
from uuid import UUID

from adapters import clock
from commands.rehearsal import scenes
from commands.rehearsal.scenes import Scene
from models import db
from models.organization import rehearsals
from pipelines.programs import lifecycle
from pipelines.storefront import applications, second_step
from schemas.programs.program import ProgramBody
from schemas.storefront.application import ApplicationBody

_ASKED = "reach"
_TERMS = {
    "name": "Applications to rehearse with",
    "defaultCommissionType": "Percentage",
    "defaultCommissionValue": 20,
    "isPubliclyDiscoverable": False,
    "applicationForm": {
        "steps": 2,
        "fields": [{"key": _ASKED, "step": 2, "label": "How many read you?", "type": "number", "required": True}],
    },
}


def _completed(scene: Scene) -> UUID:
    """Let somebody of our own apply and hand in what is asked in the second step; they are never let in."""
    scenes.only_in_the_sandbox(scene, "Whoever applies may be let in, and paid")
    with db.unit_of_work(scene.id):
        program_id = rehearsals.find_program_with_question(scene.id, key=_ASKED)
        if program_id is None:
            made = lifecycle.create(organization_id=scene.id, body=ProgramBody().load(_TERMS), now=clock.now())
            program_id = made.id
    sent = {
        "email": f"{rehearsals.EMAIL_PREFIX}{secrets.token_hex(6)}@example.com",
        "fullName": "Made by flask trigger",
    }
    with db.unit_of_work(scene.id):
        filed = applications.apply(
            organization_id=scene.id,
            program_id=program_id,
            application=ApplicationBody().load(sent),
            now=clock.now(),
        )
    with db.unit_of_work(scene.id):
        step = second_step.lock(organization_id=scene.id, affiliate_id=filed.affiliate_id)
        second_step.submit(step, {_ASKED: 4_000}, now=clock.now())
    return filed.affiliate_id


MAKERS: Mapping[str, Callable[[Scene], UUID]] = MappingProxyType({"affiliate.application_completed": _completed})

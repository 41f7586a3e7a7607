"""Use the client that openapi-python-client generates: typed calls against the running service."""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "build"))

from generated import AuthenticatedClient
from generated.api.conversions import list_conversions
from generated.api.programs import create_program, list_programs
from generated.api.webhooks import create_webhook_endpoint
from generated.models import (
    ConversionPage,
    EndpointBody,
    EndpointBodyEventsItem,
    Program,
    ProgramBody,
    ProgramBodyDefaultCommissionType,
    ProgramPage,
    Refusal,
)

client = AuthenticatedClient(base_url=os.environ["FINDERFEE_URL"], token=os.environ["FINDERFEE_KEY"])

body = ProgramBody(
    name="Winter",
    default_commission_type=ProgramBodyDefaultCommissionType.PERCENTAGE,
    default_commission_value=20,
)
program = create_program.sync(client=client, body=body)
assert isinstance(program, Program), program
assert program.default_commission_value == 20
assert program.archived_at is None

programs = list_programs.sync(client=client, take=10)
assert isinstance(programs, ProgramPage), programs
assert program.id in {item.id for item in programs.items}

conversions = list_conversions.sync(client=client, program_id=program.id)
assert isinstance(conversions, ConversionPage), conversions
assert conversions.items == []

endpoint = EndpointBody(url="ftp://shop.example", events=[EndpointBodyEventsItem("conversion.created")])
refusal = create_webhook_endpoint.sync(client=client, body=endpoint)
assert isinstance(refusal, Refusal), refusal
assert refusal.error == "https_required", refusal

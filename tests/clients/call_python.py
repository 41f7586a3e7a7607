"""Uses the client that openapi-python-client makes: each call with its types, against the running service."""

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
made = create_program.sync(client=client, body=body)
assert isinstance(made, Program), made
assert made.default_commission_value == 20
assert made.archived_at is None

programs = list_programs.sync(client=client, take=10)
assert isinstance(programs, ProgramPage), programs
assert made.id in {program.id for program in programs.items}

conversions = list_conversions.sync(client=client, program_id=made.id)
assert isinstance(conversions, ConversionPage), conversions
assert conversions.items == []

wanted = EndpointBody(url="ftp://shop.example", events=[EndpointBodyEventsItem("conversion.created")])
refused = create_webhook_endpoint.sync(client=client, body=wanted)
assert isinstance(refused, Refusal), refused
assert refused.error == "https_required", refused

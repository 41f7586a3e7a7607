"""What the meaning of a switch's rows depends on: options, campaigns that lead to a program, credentials, files."""

from collections.abc import Sequence

from adapters.switches.base import SwitchContext
from domain.switches.options import SwitchOptions
from models.switches import switches
from models.switches.switches import Switch, SwitchCampaign
from pipelines import credentials


def load_context(switch: Switch) -> SwitchContext:
    """Return the context of a switch, with its credentials unless they are erased. Budget: 1 round trip."""
    campaigns = switches.list_campaigns(**switch.key)
    return build_context(switch, campaigns)


def build_context(switch: Switch, campaigns: Sequence[SwitchCampaign]) -> SwitchContext:
    """Return the context of a switch with these campaigns, with its credentials unless they are erased."""
    sealed = switch.credentials_sealed
    return SwitchContext(
        options=SwitchOptions.from_json(switch.options),
        credentials={} if sealed is None else credentials.unseal(sealed, switch.id),
        campaigns=[campaign.source_id for campaign in campaigns if campaign.program_id is not None],
        all_campaigns=[campaign.source_id for campaign in campaigns],
        currencies={
            campaign.source_id: currency
            for campaign in campaigns
            if (currency := campaign.terms.get("commission_currency"))
        },
        columns=switch.columns,
        words=switch.words,
    )

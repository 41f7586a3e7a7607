"""Is a program's tag on a brand's page, and does it work? Decides, from what was read of the page and what came since.

Pure. Source of the tag: tracking spec, "Install snippet".
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from domain.clicks.tags import FoundTag


class TagFinding(StrEnum):
    """What a page was found to carry. Of several tags the worst counts, since whichever runs first is the one."""

    #: The program's tag, as it is handed out now.
    Newest = "Newest"
    #: The program's tag, from another address or with other parameters than it would be handed out with now.
    Older = "Older"
    #: A tag that names another program, or none.
    OtherProgram = "OtherProgram"
    NoTag = "NoTag"


@dataclass(frozen=True, slots=True)
class HandedOutTag:
    """What matters of the tag as a program's brand is given it now; `custom_params` empty: none."""

    script_host: str
    program_id: str
    custom_params: str


@dataclass(frozen=True, slots=True)
class SeenTraffic:
    """When the script ran last on a page of the program, and when its last click and conversion came."""

    script_seen_at: datetime | None
    last_click_at: datetime | None
    last_conversion_at: datetime | None


@dataclass(frozen=True, slots=True)
class Lights:
    """The four steps of an installation, each seen or waited for."""

    tag_is_there: bool
    tag_is_newest: bool
    was_visited: bool
    has_converted: bool


def judge(tags: Sequence[FoundTag], handed_out: HandedOutTag) -> TagFinding:
    """Say what a page carries, by the tags that were found in its HTML."""
    if not tags:
        return TagFinding.NoTag
    if any(tag.program_id != handed_out.program_id for tag in tags):
        return TagFinding.OtherProgram
    wanted = (handed_out.script_host.lower(), handed_out.custom_params)
    is_newest = all((tag.origin, tag.custom_params) == wanted for tag in tags)
    return TagFinding.Newest if is_newest else TagFinding.Older


def lights(finding: TagFinding | None, seen: SeenTraffic) -> Lights:
    """Return which lights are on; `finding` is that of the last check, None where no page was checked.

    A script that ran is a tag of this program, also one that no HTML shows since another script brought it; but where
    a page was found to carry a wrong tag, that has to be mended first.
    """
    has_run = seen.script_seen_at is not None
    has_wrong_tag = finding in (TagFinding.Older, TagFinding.OtherProgram)
    return Lights(
        tag_is_there=has_run or finding in (TagFinding.Newest, TagFinding.Older, TagFinding.OtherProgram),
        tag_is_newest=finding == TagFinding.Newest or (has_run and not has_wrong_tag),
        was_visited=has_run or seen.last_click_at is not None,
        has_converted=seen.last_conversion_at is not None,
    )

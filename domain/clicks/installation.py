"""Detection of a program's tag on a brand's page, by the page's HTML and the traffic since.

Pure. Source of the tag: tracking spec, "Install snippet".
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from domain.clicks.tags import LoaderTag


class TagFinding(StrEnum):
    """The result of a check of a page. If it has several tags the worst counts, since any may run first."""

    #: The program's tag in its current form.
    Newest = "Newest"
    #: The program's tag, from another address or with other parameters than in its current form.
    Older = "Older"
    #: A tag that names another program, or none.
    OtherProgram = "OtherProgram"
    NoTag = "NoTag"


@dataclass(frozen=True, slots=True)
class CurrentTag:
    """The parts that are compared of a program's tag in its current form; `custom_params` empty: none."""

    script_host: str
    program_id: str
    custom_params: str


@dataclass(frozen=True, slots=True)
class LastTraffic:
    """The times of the program's last script run on a page, last click and last conversion."""

    script_seen_at: datetime | None
    last_click_at: datetime | None
    last_conversion_at: datetime | None


@dataclass(frozen=True, slots=True)
class InstallationSteps:
    """The four steps of an installation, each done or awaited."""

    tag_is_there: bool
    tag_is_newest: bool
    was_visited: bool
    has_converted: bool


def check_tags(tags: Sequence[LoaderTag], current: CurrentTag) -> TagFinding:
    """Return the finding for a page by the tags in its HTML."""
    if not tags:
        return TagFinding.NoTag
    if any(tag.program_id != current.program_id for tag in tags):
        return TagFinding.OtherProgram
    expected = (current.script_host.lower(), current.custom_params)
    is_newest = all((tag.origin, tag.custom_params) == expected for tag in tags)
    return TagFinding.Newest if is_newest else TagFinding.Older


def find_steps(finding: TagFinding | None, seen: LastTraffic) -> InstallationSteps:
    """Return which steps are done; `finding` is that of the last check, None where no page was checked.

    A script that ran counts as a tag of this program even if no HTML shows it, since another script may load it; but a
    wrong tag on a checked page must be corrected first.
    """
    has_run = seen.script_seen_at is not None
    has_wrong_tag = finding in (TagFinding.Older, TagFinding.OtherProgram)
    return InstallationSteps(
        tag_is_there=has_run or finding in (TagFinding.Newest, TagFinding.Older, TagFinding.OtherProgram),
        tag_is_newest=finding == TagFinding.Newest or (has_run and not has_wrong_tag),
        was_visited=has_run or seen.last_click_at is not None,
        has_converted=seen.last_conversion_at is not None,
    )

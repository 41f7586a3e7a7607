"""The landing page of a program in the API: the brand's texts and its picture.

Texts are plain: markup is displayed as typed. An addition to the interface.
"""

from typing import Any

from marshmallow import RAISE, ValidationError, fields, post_load

from domain.landing_limits import MAX_HEADLINE_CHARS, MAX_INTRO_CHARS, MAX_SECTIONS, MAX_TEXT_CHARS, MAX_TITLE_CHARS
from domain.programs.application_form import is_printable
from domain.text import one_line
from schemas.base import Flag, Wire, color, not_blank, text
from schemas.collection_fields import Items
from schemas.organization.organization import ImageBody


def _check_characters(value: str) -> None:
    if not is_printable(_lines(value)):
        raise ValidationError("It contains a character that cannot be displayed.")


def _check_direction(value: str) -> None:
    if not one_line.is_valid(_line(value)):  # its line breaks become blanks
        raise ValidationError("It must not contain direction marks.")


class LandingSection(Wire):
    """A section of the page: a heading, and a text in which an empty line starts a new paragraph."""

    class Meta:
        unknown = RAISE

    title = text(longest=MAX_TITLE_CHARS, required=True, validate=[not_blank, _check_characters, _check_direction])
    words = text(
        longest=MAX_TEXT_CHARS,
        required=True,
        attribute="text",
        data_key="text",
        validate=[not_blank, _check_characters],
    )


class LandingPageBody(Wire):
    """The whole page: missing fields and nulls are empty. Loads to the stored form.

    Unlike elsewhere an unknown key is refused, so that a misspelt one is noticed.
    """

    class Meta:
        unknown = RAISE

    headline = text(longest=MAX_HEADLINE_CHARS, allow_none=True, validate=[_check_characters, _check_direction])
    intro = text(longest=MAX_INTRO_CHARS, allow_none=True, validate=[_check_characters])
    sections = Items(fields.Nested(LandingSection), most=MAX_SECTIONS, allow_none=True)
    hero_image_id = fields.UUID(allow_none=True)
    accent_color = color(allow_none=True)
    show_terms = Flag(allow_none=True)

    @post_load
    def _settle(self, body: dict[str, Any], **_: object) -> dict[str, Any]:
        hero, accent, shows = body.get("hero_image_id"), body.get("accent_color"), body.get("show_terms")
        sections = body.get("sections") or ()
        return {
            "headline": _line(body.get("headline") or "") or None,
            "intro": _lines(body.get("intro") or "").strip() or None,
            "sections": [
                {"title": _line(section["title"]), "text": _lines(section["text"]).strip()} for section in sections
            ],
            "heroImageId": None if hero is None else str(hero),
            "accentColor": accent and accent.lower(),
            "showTerms": True if shows is None else shows,
        }


def _lines(words: str) -> str:
    return words.replace("\r\n", "\n").replace("\r", "\n")


def _line(words: str) -> str:
    return " ".join(words.split())


class LandingPageRecord(Wire):
    """The landing page of a program."""

    headline = fields.String(allow_none=True)
    intro = fields.String(allow_none=True)
    sections = fields.List(fields.Nested(LandingSection))
    hero_image_id = fields.UUID(attribute="heroImageId", allow_none=True)
    accent_color = fields.String(attribute="accentColor", allow_none=True)
    show_terms = fields.Boolean(attribute="showTerms")


class HeroImageBody(ImageBody):
    """An image in standard base64; `contentType` is optional. Loads to `content` in bytes."""


class HeroImageRecord(Wire):
    """A picture for landing pages, with its URL and its size in pixels."""

    id = fields.UUID()
    url = fields.String()
    content_type = fields.String()
    width = fields.Integer()
    height = fields.Integer()
    size_bytes = fields.Integer()

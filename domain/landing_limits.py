"""The limits of a landing page's texts and picture."""

MAX_HEADLINE_CHARS, MAX_INTRO_CHARS = 120, 1000
MAX_SECTIONS, MAX_TITLE_CHARS, MAX_TEXT_CHARS = 20, 120, 2000

#: The same as for a logo: a small picture keeps the page small.
MAX_PICTURE_BYTES = 1024 * 1024

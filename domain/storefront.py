"""How much a landing page may say, and how heavy its picture may be."""

LONGEST_HEADLINE, LONGEST_INTRO = 120, 1000
MOST_SECTIONS, LONGEST_TITLE, LONGEST_TEXT = 20, 120, 2000

#: As of a logo. A page is light only where its picture is.
MOST_PICTURE_BYTES = 1024 * 1024

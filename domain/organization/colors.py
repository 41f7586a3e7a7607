"""The contrast of text on a brand's colours.

Luminance and contrast are those of the Web Content Accessibility Guidelines 2.2; black or white always reach 4.5 to 1.
"""

from collections.abc import Sequence

BLACK, WHITE = "#000000", "#ffffff"

#: The minimum contrast of text with its background.
MIN_CONTRAST = 4.5

_STEPS = 64
_WEIGHTS = (0.2126, 0.7152, 0.0722)


def text_on(color: str) -> str:
    """Return black or white, whichever contrasts more with a colour such as #1a2b3c."""
    return BLACK if contrast(color, BLACK) >= contrast(color, WHITE) else WHITE


def make_readable(color: str, *, on: Sequence[str]) -> str:
    """Return a colour that is readable `on` all of these backgrounds: itself, or mixed with black or white as needed.

    Units: `#rrggbb`; the backgrounds must be all light or all dark.
    """
    goal = text_on(on[0])
    for step in range(_STEPS + 1):
        mixed = _mix(color, goal, step)
        if all(contrast(mixed, background) >= MIN_CONTRAST for background in on):
            return mixed
    return goal


def _mix(color: str, goal: str, step: int) -> str:
    channels = [(int(color[at : at + 2], 16), int(goal[at : at + 2], 16)) for at in (1, 3, 5)]
    return "#" + "".join(f"{start + (end - start) * step // _STEPS:02x}" for start, end in channels)


def contrast(color: str, other: str) -> float:
    """Return the contrast of two colours, from 1 (none) to 21."""
    darker, lighter = sorted((_luminance(color), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(color: str) -> float:
    shares = (int(color[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return sum(weight * _linear(share) for weight, share in zip(_WEIGHTS, shares, strict=True))


def _linear(share: float) -> float:
    return share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4

"""Which text can be read on a brand's colour.

Luminance and contrast are those of the Web Content Accessibility Guidelines 2.2; black or white always reach 4.5 to 1.
"""

from collections.abc import Sequence

BLACK, WHITE = "#000000", "#ffffff"

#: What text has to reach on what it stands on.
LEAST = 4.5

_STEPS = 64
_WEIGHTS = (0.2126, 0.7152, 0.0722)


def text_on(color: str) -> str:
    """Return black or white, whichever stands out more against a colour such as #1a2b3c."""
    return BLACK if contrast(color, BLACK) >= contrast(color, WHITE) else WHITE


def readable(color: str, *, on: Sequence[str]) -> str:
    """Return a colour that can be read `on` all of these: itself, else as little nearer to black or white as needed.

    Units: `#rrggbb`; what it stands on is all light or all dark.
    """
    goal = text_on(on[0])
    for step in range(_STEPS + 1):
        nearer = _mixed(color, goal, step)
        if all(contrast(nearer, ground) >= LEAST for ground in on):
            return nearer
    return goal


def _mixed(color: str, goal: str, step: int) -> str:
    parts = [(int(color[at : at + 2], 16), int(goal[at : at + 2], 16)) for at in (1, 3, 5)]
    return "#" + "".join(f"{here + (there - here) * step // _STEPS:02x}" for here, there in parts)


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours, from 1 (none) to 21."""
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(color: str) -> float:
    shares = (int(color[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return sum(weight * _linear(share) for weight, share in zip(_WEIGHTS, shares, strict=True))


def _linear(share: float) -> float:
    return share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4

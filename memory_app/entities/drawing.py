"""Where the neighbours of an entity stand in its picture: plain numbers, the template writes the SVG. Pure.

Units are SVG user units; y grows downwards. The list beside the picture says the same.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

WIDTH, HEIGHT = 288, 310
RING_X, RING_Y = 106.0, 120.0
MIN_RADIUS, MAX_RADIUS = 5.0, 12.0
WORD_DROP = 14.0  # from the edge of a circle to the base line of the name below it
MAX_CHARS = 12


@dataclass(frozen=True, slots=True)
class Place:
    """A circle with its name; `weight` 1 to 3 is how thick the line to it is."""

    x: float
    y: float
    radius: float
    word_y: float
    weight: int


def place_neighbours(counts: Sequence[int]) -> list[Place]:
    """Return a place on the ring for each neighbour, from the top clockwise; its area follows its count."""
    most, places = max(counts, default=1), []
    for number, count in enumerate(counts):
        angle, share = 2 * math.pi * number / len(counts) - math.pi / 2, count / most
        x, y = WIDTH / 2 + RING_X * math.cos(angle), HEIGHT / 2 + RING_Y * math.sin(angle)
        radius = MIN_RADIUS + (MAX_RADIUS - MIN_RADIUS) * math.sqrt(share)
        places.append(
            Place(
                x,
                y,
                radius,
                y + radius + WORD_DROP,
                1 + min(2, int(share * 3)),
            )
        )
    return places


def short_name(name: str) -> str:
    """Return a name that fits below its circle: of a long one, both ends."""
    return name if len(name) <= MAX_CHARS else f"{name[:6]}…{name[-4:]}"

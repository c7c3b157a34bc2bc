"""The Wilson score interval of a binomial share. Source: S2 (confidence bumping), decisions (z = 1.96)."""

import math

Z = 1.96


def wilson_interval(correct: float, used: int, z: float = Z) -> tuple[float, float]:
    """Return the lower and upper bound of `correct` of `used`, each in [0, 1]; without uses 0 and 1."""
    if used == 0:
        return 0.0, 1.0
    share, squared = correct / used, z * z
    centre = share + squared / (2 * used)
    spread = z * math.sqrt(share * (1 - share) / used + squared / (4 * used * used))
    scale = 1 + squared / used
    return max(0.0, (centre - spread) / scale), min(1.0, (centre + spread) / scale)


def wilson_lower_bound(correct: int, used: int) -> float:
    """Return the lower bound, 0 without uses."""
    return wilson_interval(correct, used)[0]

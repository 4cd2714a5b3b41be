"""Loss curves as an SVG."""

import pathlib

WIDTH, HEIGHT, LEFT, TOP = 640, 240, 60, 24
COLOURS = ("#1f6feb", "#bf5700", "#2da44e", "#8250df")


def write(file: pathlib.Path, curves: dict[str, list[float]]) -> None:
    """One panel for each set: loss over epochs."""
    panels = "".join(panel(name, curve, i) for i, (name, curve) in enumerate(curves.items()))
    file.write_text(f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT * len(curves)}" font-family="sans-serif" font-size="12">{panels}</svg>\n')


def panel(name: str, curve: list[float], at: int) -> str:
    low, high = min(curve), max(curve)
    x = lambda i: LEFT + i * (WIDTH - LEFT - 20) / max(1, len(curve) - 1)
    y = lambda v: at * HEIGHT + TOP + (HEIGHT - 2 * TOP) * (high - v) / max(high - low, 1e-9)
    points = " ".join(f"{x(i):.1f},{y(v):.1f}" for i, v in enumerate(curve))
    marks = "".join(f'<text x="4" y="{y(v):.1f}">{v:.3f}</text>' for v in (low, high))
    return (
        f'<text x="{LEFT}" y="{at * HEIGHT + 16}">{name}: loss over {len(curve)} epochs</text>{marks}'
        f'<polyline fill="none" stroke="{COLOURS[at % len(COLOURS)]}" stroke-width="2" points="{points}"/>'
    )

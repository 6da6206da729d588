"""Pictures of pages, by Debian's Chromium: light and dark, on a desk and in a hand."""

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

FLAGS = """--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking
    --disable-component-update --disable-sync --hide-scrollbars --force-device-scale-factor=1""".split()
LIMIT = 300


@dataclass(frozen=True)
class View:
    """How a page is looked at."""

    name: str
    width: int
    height: int
    dark: bool = False


DESK = View("", 1000, 1200)
DARK = View("_dark", 1000, 1200, dark=True)
HAND = View("_narrow", 400, 1600)
HAND_DARK = View("_narrow_dark", 400, 1600, dark=True)


def why_not() -> str:
    """Why there can be no pictures here."""
    return "" if shutil.which("chromium") else "there is no chromium: apt-get install chromium"


def take_picture(page: Path, view: View, picture: Path) -> None:
    """Write the PNG of a page; a narrow one is a frame of that width, for a window has a least width."""
    with TemporaryDirectory() as folder:
        frame = Path(folder, "frame.html")
        style = f"border:0;display:block;width:{view.width}px;height:{view.height}px"
        frame.write_text(
            f'<body style="margin:0"><iframe src="{page.absolute().as_uri()}" style="{style}"></iframe>'
        )
        subprocess.run(
            [
                "chromium",
                *FLAGS,
                f"--user-data-dir={folder}/profile",
                f"--window-size={view.width},{view.height}",
                f"--blink-settings=preferredColorScheme={0 if view.dark else 1}",
                f"--screenshot={picture.absolute()}",
                frame.as_uri(),
            ],
            check=True, capture_output=True, timeout=LIMIT,
        )  # fmt: skip

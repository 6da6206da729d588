"""Make the pictures of our pages from a real run of the demonstration: `python -m tests.media [FOLDER]`.

It takes as long as `make demo`, whose model it takes from the cache or fetches. FOLDER gets what is not in
docs/media, too: the pages in a hand, and dark.
"""

import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from kfp_trainer.runtime_operator.settings import read_settings
from tests.terminal import Piece, Recording, record

from .animation import animate
from .browser import DARK, DESK, HAND, HAND_DARK, take_picture, why_not
from .playback import lines_of

MEDIA = Path(__file__).resolve().parents[2] / "docs/media"
REPORTS = {
    "evaluation_report": "evaluation",
    "training_report": "tuned",
    "dataset_report": "dataset-checked",
}
COLUMNS, ROWS = 112, 30
PLAYED = 30.0
"""seconds of the whole"""
LIMIT = 3600.0
SOMEBODY = "/home/you"


def main(folder: Path) -> None:
    """Record the demonstration, then take pictures of the reports it has left."""
    if reason := why_not():
        sys.exit(reason)
    with TemporaryDirectory() as home:
        recording = record_demo(Path(home))
        (MEDIA / "demo.svg").write_text(as_svg(recording, Path(home)), encoding="utf-8")
        (run,) = Path(home).glob(".local/share/kfp-trainer/runs/demo-*")
        take_pictures(run, folder)


def record_demo(home: Path) -> Recording:
    """The demonstration of a person with a home of their own, and the usual cache."""
    own = home / ".local/share/kfp-trainer"
    own.mkdir(parents=True)
    read_settings().cache.mkdir(parents=True, exist_ok=True)
    (own / "cache").symlink_to(read_settings().cache)
    environment = {name: value for name, value in os.environ.items() if name != "KFP_TRAINER_HOME"}
    program = Path(sys.executable).parent
    environment |= {"HOME": str(home), "PATH": f"{program}:{environment['PATH']}"}
    recording = record(["kfp-trainer", "demo"], environment, limit=LIMIT, columns=COLUMNS, rows=ROWS)
    if recording.code:
        sys.exit(f"the demonstration ended with {recording.code}:\n{recording.text}")
    return recording


def as_svg(recording: Recording, home: Path) -> str:
    """The recording as a picture that plays."""
    typed = Piece("$ make demo\r\n", 0.0, 0.0)
    pieces = [Piece(piece.text.replace(str(home), SOMEBODY), piece.second, 0.0) for piece in recording.pieces]
    speed = max(1, round(recording.seconds / PLAYED))
    minutes, seconds = divmod(round(recording.seconds), 60)
    title = f"make demo: {minutes} min {seconds} s on {os.cpu_count()} cores, shown {speed} times as fast"
    lines = list(lines_of([typed, *pieces], columns=COLUMNS))
    return animate(lines, title=title, columns=COLUMNS, rows=ROWS, speed=speed)


def take_pictures(run: Path, folder: Path) -> None:
    """Pictures of a run's reports: light and dark for our pages, all others to look at."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, where in REPORTS.items():
        page = run / "workspace" / where / f"{name}.html"
        for view in (DESK, DARK, HAND, HAND_DARK):
            into = MEDIA if view in (DESK, DARK) else folder
            take_picture(page, view, into / f"{name}{view.name}.png")


if __name__ == "__main__":
    with TemporaryDirectory() as nowhere:
        main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(nowhere))

"""Where the progress of a fetch is told: a line on a terminal, JSON lines elsewhere, the job's status.

JSON lines, on standard output, at the beginning, every ten seconds and at the end:

    {"event": "progress", "time": …, "bytes": …, "of": …, "files": …, "bytes_per_second": …,
     "remaining_seconds": …}

Where the operator gives this container an endpoint (KUBEFLOW_TRAINER_SERVER_URL, …_TOKEN, …_CA_CERT), the
same goes there as a TrainJob's trainerStatus. That it cannot be reached is said once and harms nothing.
"""

from __future__ import annotations

import json
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from .order import Fetched
from .progress import Progress, Report
from .space import in_words

_LINE_SECONDS = 10.0
_DRAW_SECONDS = 0.2
_POST_SECONDS = 5.0
_POST_LIMIT = 3.0


class Reports:
    """Several reports as one."""

    def __init__(self, reports: Sequence[Report]) -> None:
        self._reports = reports

    def waiting(self, holder: str) -> None:
        """Tell all."""
        for report in self._reports:
            report.waiting(holder)

    def begin(self, source: str, progress: Progress) -> None:
        """Tell all."""
        for report in self._reports:
            report.begin(source, progress)

    def tick(self, progress: Progress) -> None:
        """Tell all."""
        for report in self._reports:
            report.tick(progress)

    def end(self, result: Fetched) -> None:
        """Tell all."""
        for report in self._reports:
            report.end(result)


class Lines:
    """One JSON object a line."""

    def __init__(self, out: IO[str], clock: Callable[[], float] = time.time) -> None:
        self._out, self._clock = out, clock
        self._told = 0.0

    def waiting(self, holder: str) -> None:
        """Another process is at it."""
        self._say("waiting", holder=holder)

    def begin(self, source: str, progress: Progress) -> None:
        """Say what is to come."""
        self._say("begin", source=source, bytes=progress.done, of=progress.total, files=progress.files)
        self._told = self._clock()

    def tick(self, progress: Progress) -> None:
        """Say how far it is, now and then."""
        if self._clock() - self._told < _LINE_SECONDS:
            return
        self._told = self._clock()
        rate = progress.rate()
        left = progress.seconds_left(rate)
        self._say(
            "progress",
            bytes=progress.done,
            of=progress.total,
            files=progress.files_done,
            bytes_per_second=round(rate),
            remaining_seconds=None if left is None else round(left),
        )

    def end(self, result: Fetched) -> None:
        """Say what there is now."""
        made = result.manifest
        self._say(
            "end",
            folder=str(result.folder),
            source=made.source,
            revision=made.revision,
            digest=made.digest,
            files=len(made.files),
            bytes=made.bytes,
            fetched=result.fetched,
            seconds=round(result.seconds, 3),
        )

    def _say(self, event: str, **facts: Any) -> None:
        line = {"event": event, "time": round(self._clock(), 3), **facts}
        self._out.write(json.dumps(line) + "\n")
        self._out.flush()


class Terminal:
    """One line that is drawn over and over."""

    def __init__(self, out: IO[str], clock: Callable[[], float] = time.monotonic) -> None:
        self._out, self._clock = out, clock
        self._drawn = 0.0

    def waiting(self, holder: str) -> None:
        """Another process is at it."""
        self._out.write(f"{holder} fetches into this folder already; waiting for it\n")

    def begin(self, source: str, progress: Progress) -> None:
        """Say what is to come."""
        there = f", {in_words(progress.done)} of it are here" if progress.done else ""
        self._out.write(f"{source}: {progress.files} files, {in_words(progress.total)}{there}\n")

    def tick(self, progress: Progress) -> None:
        """Draw the line."""
        if self._clock() - self._drawn < _DRAW_SECONDS:
            return
        self._drawn = self._clock()
        self._out.write(f"\r\x1b[K{progress_line(progress)}")
        self._out.flush()

    def end(self, result: Fetched) -> None:
        """Say what there is now."""
        made = result.manifest
        done = (
            f"{in_words(result.fetched)} fetched in {result.seconds:.1f} s"
            if result.fetched
            else "nothing to fetch"
        )
        self._out.write(
            f"\r\x1b[K{result.folder}: {len(made.files)} files, {in_words(made.bytes)}, {done}\n"
            f"revision {made.revision}, digest {made.digest}\n"
        )
        self._out.flush()


class Endpoint:
    """The status of the job this container belongs to."""

    def __init__(self, url: str, token: Path, authority: str | None, *, warn: Callable[[str], None]) -> None:
        self._url, self._token, self._authority, self._warn = url, token, authority, warn
        self._posted = 0.0
        self._works = True

    def waiting(self, holder: str) -> None:
        """There is no number to post."""

    def begin(self, source: str, progress: Progress) -> None:
        """Post the first number."""
        self._post(progress)

    def tick(self, progress: Progress) -> None:
        """Post, now and then."""
        if time.monotonic() - self._posted >= _POST_SECONDS:
            self._post(progress)

    def end(self, result: Fetched) -> None:
        """Post that all is there."""
        self._send(100, 0, {"bytes": result.manifest.bytes, "fetched_bytes": result.fetched})

    def _post(self, progress: Progress) -> None:
        rate = progress.rate()
        left = progress.seconds_left(rate)
        metrics = {"bytes": progress.done, "bytes_per_second": round(rate)}
        self._send(progress.percent(), None if left is None else round(left), metrics)

    def _send(self, percent: int, left: int | None, metrics: Mapping[str, int]) -> None:
        if not self._works:
            return
        self._posted = time.monotonic()
        status: dict[str, Any] = {
            "progressPercentage": percent,
            "metrics": [{"name": name, "value": str(value)} for name, value in metrics.items()],
            "lastUpdatedTime": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        }
        if left is not None:
            status["estimatedRemainingSeconds"] = left
        try:
            self._request({"trainerStatus": status})
        except (OSError, ValueError, urllib.error.URLError) as error:
            self._works = False
            cause = getattr(error, "reason", error)
            why = getattr(cause, "strerror", None) or cause or type(error).__name__
            self._warn(f"the progress cannot be posted ({why}); the fetch goes on")

    def _request(self, document: Mapping[str, Any]) -> None:
        token = self._token.read_text(encoding="utf-8").strip()
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}
        request = urllib.request.Request(self._url, json.dumps(document).encode(), headers, method="POST")
        context = (
            ssl.create_default_context(cafile=self._authority) if self._url.startswith("https:") else None
        )
        with urllib.request.urlopen(request, timeout=_POST_LIMIT, context=context) as answer:
            answer.read()


def progress_line(progress: Progress) -> str:
    """How far it is, for people."""
    rate = progress.rate()
    left = progress.seconds_left(rate)
    wait = "" if left is None else f", {clock(left)} left"
    done = f"{in_words(progress.done)} of {in_words(progress.total)}"
    files = f"{progress.files_done} of {progress.files} files"
    return f"{progress.percent():3d} %  {done}  {files}  {in_words(rate)}/s{wait}"


def clock(seconds: float) -> str:
    """Seconds as people read them on a clock."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def reports_for(environ: Mapping[str, str], out: IO[str], errors: IO[str]) -> Reports:
    """The reports that suit where this process runs."""
    reports: list[Report] = [Terminal(errors) if errors.isatty() and out.isatty() else Lines(out)]
    url, token = environ.get("KUBEFLOW_TRAINER_SERVER_URL"), environ.get("KUBEFLOW_TRAINER_SERVER_TOKEN")
    if url and token:
        authority = environ.get("KUBEFLOW_TRAINER_SERVER_CA_CERT") or None

        def warn(text: str) -> None:
            errors.write(f"warning: {text}\n")

        reports.append(Endpoint(url, Path(token), authority, warn=warn))
    return Reports(reports)

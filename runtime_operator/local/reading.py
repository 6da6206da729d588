"""Reads the logs of a job's pods as they grow, from any process: all there is to know is on disk.

The pods of one place in the job (`JOB-node-0-0`) follow one another when the job restarts, and each container
has a log a run. They are read in the order in which they came.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from ..api.legacy.names import JOB_ROLE_LABEL, MASTER, ROLE_LABEL
from ..api.shapes import at
from ..errors import SpecError
from .folder import JobFolder
from .process.logs import parse

STEP = "trainer.kubeflow.org/trainjob-ancestor-step"
TRAINER, LAUNCHER = "trainer", "launcher"
_ENDING = 6
"""characters that a pod's name has behind the name of its place: a hyphen and five letters"""


class LogLine(NamedTuple):
    """A line that a container printed."""

    time: str
    pod: str
    container: str
    text: str


@dataclass(slots=True)
class Tail:
    """One log, and how far it has been read."""

    path: Path
    pod: str
    container: str
    _offset: int = 0
    _part: bytes = b""

    def more(self) -> Iterator[LogLine]:
        """The lines that have come since the last time."""
        with self.path.open("rb") as file:
            file.seek(self._offset)
            data = file.read()
        complete = data.rfind(b"\n") + 1
        self._offset += complete
        for raw in data[:complete].split(b"\n")[:-1]:
            line = parse(raw)
            self._part += line.text
            if line.full:
                text, self._part = self._part.decode(errors="replace"), b""
                yield LogLine(line.time, self.pod, self.container, text)


@dataclass(slots=True)
class Tails:
    """The logs of all pods of a job, or of those in some places."""

    folder: JobFolder
    places: Collection[str] = ()
    """names of pods without their ending; none for all"""
    container: str = ""
    _known: dict[Path, Tail] = field(default_factory=dict)

    def more(self) -> list[LogLine]:
        """The lines that have come since the last time, in the order of time."""
        for path in sorted((self.folder.path / "pods").glob("*/containers/*/*/log"), key=_age):
            if path not in self._known and self._is_wanted(path):
                container = path.parent.parent
                self._known[path] = Tail(path, container.parent.parent.name, container.name)
        lines: list[LogLine] = []
        for path in list(self._known):
            try:
                lines += self._known[path].more()
            except FileNotFoundError:
                del self._known[path]
        return sorted(lines, key=lambda line: line.time)

    def _is_wanted(self, path: Path) -> bool:
        container = path.parent.parent
        pod = container.parent.parent.name
        is_there = not self.places or pod in self.places or pod[:-_ENDING] in self.places
        return is_there and self.container in ("", container.name)


def _age(path: Path) -> tuple[int, str]:
    try:
        return path.stat().st_ctime_ns, path.name
    except FileNotFoundError:
        return 0, ""


def first_place(jobset: Mapping[str, Any]) -> str:
    """The place of the pod that speaks for the job: the one that leads, or the first node of the trainer."""
    jobs = jobset["spec"].get("replicatedJobs") or ()
    trainers = [each for each in jobs if _step(each) == TRAINER] or list(jobs)
    speaking = next((each for each in jobs if each["name"] == LAUNCHER or _leads(each)), trainers[-1])
    return f"{jobset['metadata']['name']}-{speaking['name']}-0-0"


def role_places(jobset: Mapping[str, Any], role: str) -> list[str]:
    """The places of all pods of a role: a role of an older kind, or else a replicated job."""
    jobs = jobset["spec"].get("replicatedJobs") or ()
    found = [each for each in jobs if _role(each) == role.lower()]
    if not found:
        known = ", ".join(dict.fromkeys(_role(each) for each in jobs))
        raise SpecError(f"--role: must be one of {known}, got {role!r}")
    return [place for each in found for place in _places(jobset["metadata"]["name"], each)]


def _places(jobset: str, replicated_job: Mapping[str, Any]) -> Iterator[str]:
    pods = at(replicated_job, "template", "spec").get("completions", 1)
    for index in range(replicated_job.get("replicas", 1)):
        yield from (f"{jobset}-{replicated_job['name']}-{index}-{pod}" for pod in range(pods))


def _role(replicated_job: Mapping[str, Any]) -> str:
    return str(_pod_labels(replicated_job).get(ROLE_LABEL, replicated_job["name"]))


def _leads(replicated_job: Mapping[str, Any]) -> bool:
    return _pod_labels(replicated_job).get(JOB_ROLE_LABEL) == MASTER


def _pod_labels(replicated_job: Mapping[str, Any]) -> Mapping[str, Any]:
    return at(replicated_job, "template", "spec", "template", "metadata", "labels")


def _step(replicated_job: Mapping[str, Any]) -> str:
    metadata = replicated_job["template"].get("metadata") or {}
    return str((metadata.get("labels") or {}).get(STEP, ""))

"""What an MPIJob of v2beta1 says beyond its roles, with the MPI Operator's defaults filled in."""

from __future__ import annotations

from dataclasses import dataclass

from .job import LegacyJob

KEYS_PATH = "/root/.ssh"
"""where the pair of keys is mounted unless the job says otherwise"""
WAITS = "WaitForWorkersReady"


@dataclass(frozen=True, slots=True)
class MPISpec:
    """How launcher and workers find each other."""

    slots: int
    """processes on each host"""
    implementation: str
    """OpenMPI, Intel or MPICH"""
    keys_path: str
    launcher_computes: bool
    """whether the launcher is a host itself"""
    launcher_waits: bool
    """whether it is made only when all workers are ready"""


def read_mpi(job: LegacyJob) -> MPISpec:
    """Return the settings of a job."""
    spec, slots = job.spec, job.spec.get("slotsPerWorker")
    return MPISpec(
        1 if slots is None else int(slots),
        str(spec.get("mpiImplementation") or "OpenMPI"),
        str(spec.get("sshAuthMountPath") or KEYS_PATH),
        bool(spec.get("runLauncherAsWorker")),
        spec.get("launcherCreationPolicy") == WAITS,
    )

"""Jobs of every sort that are to outlive a change of operators, and what is remembered of them."""

from dataclasses import dataclass
from itertools import cycle

from kfp_trainer.runtime_operator.api.names import CANCEL_ANNOTATION

from .control_plane.client import ApiError, Client, Json, collection, eventually, exists
from .control_plane.nodes import pods_of
from .manifests import JOBSET, SCRIPT, condition, pod_template
from .operator import TRAINER, ended, path_of, runtime, step, train_job

POD_GROUP = "scheduling.x-k8s.io/v1alpha1"
CHILDREN = (
    ("v1", "Pod"), ("v1", "ConfigMap"), ("v1", "Secret"), ("v1", "Service"),
    ("batch/v1", "Job"), (JOBSET, "JobSet"), (POD_GROUP, "PodGroup"),
)  # fmt: skip
NODES = {"gang": 2, "mpi": 2, "torch": 2}
"""of jobs that have more than one"""


@dataclass(frozen=True)
class Seen:
    """A namespace at one time."""

    objects: dict[str, tuple[str, str]]
    """uid and version of everything that jobs own, by kind and name"""
    generations: dict[str, int]
    """of the JobSets: how often their specs were changed"""
    statuses: dict[str, Json]


class Jobs:
    """The jobs of one namespace, on simulated nodes."""

    def __init__(self, client: Client, namespace: str, pool: str) -> None:
        self.client, self.namespace, self.pool = client, namespace, pool

    def make_runtimes(self) -> None:
        """One of each sort; those that run do so until they are told to end."""
        template = pod_template(self.pool, run="forever")
        node = step("node", "trainer", template)
        mpi = {"numProcPerNode": 1, "mpiImplementation": "OpenMPI", "runLauncherAsNode": True}
        launcher = step("launcher", "trainer", template, container="node")
        made = {
            "plain": runtime(node),
            "torch": runtime(node),
            "gang": runtime(node, policy={"coscheduling": {"scheduleTimeoutSeconds": 30}}),
            "mpi": runtime(launcher, step("node", "", template)),
            "flux": runtime(node),
            "ends": runtime(step("node", "trainer", pod_template(self.pool))),
            "dies": runtime(step("node", "trainer", pod_template(self.pool, exit="all=1"))),
        }
        policies: dict[str, Json] = {"torch": {"torch": {}}, "mpi": {"mpi": mpi}, "flux": {"flux": {}}}
        for name, each in made.items():
            each["metadata"] = {"name": name}
            each["spec"]["mlPolicy"] = {"numNodes": 1, **policies.get(name, {})}
            self.client.create(each, self.namespace)

    def make(self, name: str, sort: str, *, suspend: bool = False) -> None:
        """Create a job; an operator may not know yet of a runtime that was made just before."""
        resting: Json = {"suspend": True} if suspend else {}
        manifest = train_job(name, runtime=sort, nodes=NODES.get(sort, 1), **resting)

        def accepted() -> bool:
            try:
                self.client.create(manifest, self.namespace)
            except ApiError as refused:
                assert "must be created" in refused.message or "failed calling webhook" in refused.message
                return False
            return True

        eventually(f"{name} is accepted", accepted)

    def make_many(self, names: list[str]) -> None:
        """Jobs that run until they are told to end, of all sorts."""
        for name, sort in zip(names, cycle(("plain", "gang", "mpi", "flux", "torch")), strict=False):
            self.make(name, sort)

    def rest(self, name: str, *, suspend: bool) -> None:
        """Suspend a job, or let it run."""
        self.client.patch(path_of(self.namespace, name), {"spec": {"suspend": suspend}})

    def cancel(self, name: str) -> None:
        """End a job as a person does, and wait until it has."""
        told = {"metadata": {"annotations": {CANCEL_ANNOTATION: "true"}}}
        self.client.patch(path_of(self.namespace, name), told)
        assert ended(self.client, self.namespace, name)[0] == "Failed"
        jobset = f"{collection(JOBSET, 'JobSet', self.namespace)}/{name}"
        eventually("its JobSet is gone", lambda: not exists(self.client, jobset))

    def run(self, names: list[str]) -> None:
        """Wait until all pods of these jobs run, and their jobs say so."""

        def say() -> str:
            return str({name: status for name, status in self.seen().statuses.items() if name in names})

        eventually("they run", lambda: not self._waiting(names), say=say)

    def rests(self, name: str) -> None:
        """Wait until a job rests and has no pods."""

        def is_at_rest() -> bool:
            found = self.client.get(path_of(self.namespace, name))
            return bool(condition(found, "Suspended")) and not self._pods(name)

        eventually(f"{name} rests", is_at_rest)

    def let_end(self, names: list[str]) -> dict[str, str]:
        """Tell the pods of these jobs to end, and wait; how each job has ended."""
        told = {"metadata": {"annotations": {f"{SCRIPT}run": "0s"}}}
        for name in names:
            for pod in self._pods(name):
                path = f"{collection('v1', 'Pod', self.namespace)}/{pod['metadata']['name']}"
                self.client.patch(path, told)
        return {name: ended(self.client, self.namespace, name)[0] for name in names}

    def seen(self) -> Seen:
        """All there is now."""
        objects, generations = {}, {}
        for version, kind in CHILDREN:
            for each in self.client.items(collection(version, kind, self.namespace)):
                metadata = each["metadata"]
                objects[f"{kind}/{metadata['name']}"] = (metadata["uid"], metadata["resourceVersion"])
                if kind == "JobSet":
                    generations[metadata["name"]] = metadata["generation"]
        return Seen(objects, generations, {name: job.get("status", {}) for name, job in self._all().items()})

    def _all(self) -> dict[str, Json]:
        found = self.client.items(collection(TRAINER, "TrainJob", self.namespace))
        return {each["metadata"]["name"]: each for each in found}

    def _pods(self, job: str) -> list[Json]:
        return pods_of(self.client, self.namespace, f"jobset.sigs.k8s.io/jobset-name={job}")

    def _waiting(self, names: list[str]) -> list[str]:
        jobs = self._all()
        return [name for name in names if not _runs(jobs[name])]


def _runs(job: Json) -> bool:
    told = job.get("status", {}).get("jobsStatus") or []
    return bool(told) and all(each["ready"] == 1 for each in told)

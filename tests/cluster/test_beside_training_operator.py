"""Our operator and the Training Operator 1.9.3 in one cluster: no two of them ever act on one job.

The other one is what its own manifests install; what an administrator does stands on the page and is run from
there. The whole way is gone once, and each test looks at one thing that was seen on it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from tests.cluster.control_plane.client import ApiError, Client, Json, collection, eventually
from tests.cluster.control_plane.nodes import add_nodes, pods_of
from tests.cluster.control_plane.plane import Plane
from tests.cluster.control_plane.site import ROOT
from tests.cluster.manifests import JOBSET, SCRIPT, condition, pod_template
from tests.cluster.operator_install import Installed, manifests_of
from tests.cluster.own_plane import own_plane
from tests.cluster.page_steps import run_steps, steps_under
from tests.cluster.training_operator_install import TrainingOperator, training_operator
from tests.legacy_jobs import legacy_document

STARTED = ("scheduler", "kwok", "process-node", "jobset")
OURS = "manifests/overlays/older-kinds"
STEPS = steps_under(ROOT / "docs" / "older_kinds.md", "Coming from the Training Operator")
REMOVES_IT = 3
"""so many commands at the end of the section remove the Training Operator"""
PLACE = "team"
"""the namespace of the jobs, and the pool of their nodes"""
V1 = "kubeflow.org/v1"
ROLES = {
    "TFJob": ("Chief", "Worker"),
    "PyTorchJob": ("Master", "Worker"),
    "MPIJob": ("Launcher", "Worker"),
    "XGBoostJob": ("Master", "Worker"),
    "PaddleJob": ("Master", "Worker"),
}
"""of the kinds that a Training Operator leaves to others if it is told so"""
JAX = "JAXJob"
THEIRS = [f"old-{kind.lower()}" for kind in ROLES]
OF_US = [f"new-{kind.lower()}" for kind in (*ROLES, JAX)]
RESTS = "rests"
JOB_LABEL = "training.kubeflow.org/job-name"
READS = {"get", "list", "watch"}


@dataclass
class Story:
    """What was seen on the way."""

    owners: dict[str, set[str]]
    """by whom the pods of each job are owned while both operators are there: kinds"""
    ends: dict[str, str]
    resumed_by: set[str]
    """owners of the pods of the job that rested under the Training Operator"""
    written_by_us: list[Json]
    written_by_it: list[Json]
    """requests while both were there"""
    left: list[str]
    """what is left of the Training Operator when it is removed"""
    afterwards: str
    """how a job ends that is made when it is gone"""
    specs: tuple[dict[str, Json], dict[str, Json]] = field(default_factory=lambda: ({}, {}))
    """of the jobs that were there, under its CRDs and under ours"""
    refusal: str = ""
    """what a person is told who creates a job when somebody has installed it again"""


class Jobs:
    """The jobs of the story."""

    def __init__(self, client: Client) -> None:
        self.client = client

    def make(self, kind: str, name: str, *, suspend: bool = False) -> None:
        template = pod_template(PLACE, run="forever")
        pod, metadata = {"nodeSelector": {"pool": PLACE}}, template["metadata"]
        roles = {role: {"pod": pod, "metadata": metadata} for role in ROLES.get(kind, ("Worker",))}
        document = legacy_document(kind, roles, name=name, runPolicy={"suspend": suspend})
        document["metadata"] = {"name": name}
        self.client.create(document, PLACE)

    def path(self, kind: str, name: str) -> str:
        return f"{collection(V1, kind, PLACE)}/{name}"

    def is_true(self, kind: str, name: str, type_: str) -> bool:
        return bool(condition(self.client.get(self.path(kind, name)), type_))

    def state(self, kind: str, name: str, *types: str) -> str:
        """Wait until one of these conditions is true, and return which."""

        def now() -> str:
            return next((each for each in types if self.is_true(kind, name, each)), "")

        return eventually(
            f"{name} is {' or '.join(types)}", now, say=lambda: str(self.client.get(self.path(kind, name)))
        )

    def specs(self) -> dict[str, Json]:
        """What is stored of the specs of all jobs."""
        return {
            each["metadata"]["name"]: each["spec"]
            for kind in ROLES
            for each in self.client.items(collection(V1, kind, PLACE))
        }

    def pods(self, name: str) -> list[Json]:
        return pods_of(self.client, PLACE, f"{JOB_LABEL}={name}")

    def owners(self, name: str) -> set[str]:
        return {each["metadata"]["ownerReferences"][0]["kind"] for each in self.pods(name)}

    def let_end(self, kind: str, name: str) -> str:
        """Tell its pods to end; how the job has ended."""
        told = {"metadata": {"annotations": {f"{SCRIPT}run": "0s"}}}
        for pod in self.pods(name):
            self.client.patch(f"{collection('v1', 'Pod', PLACE)}/{pod['metadata']['name']}", told)
        return self.state(kind, name, "Succeeded", "Failed")


@pytest.fixture(scope="module")
def plane() -> Iterator[Plane]:
    with own_plane("beside", started=STARTED, built=["training-operator"]) as made:
        yield made


@pytest.fixture(scope="module")
def story(plane: Plane) -> Story:
    client = plane.client
    add_nodes(client, 2, pool=PLACE)
    client.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": PLACE}})
    jobs = Jobs(client)
    with training_operator(plane) as it, manifests_of(plane, "older-kinds") as ours:
        it.apply()
        it.is_ready()
        for kind, name in zip(ROLES, THEIRS, strict=True):
            jobs.make(kind, name)
        jobs.make("TFJob", RESTS, suspend=True)
        for kind, name in zip(ROLES, THEIRS, strict=True):
            jobs.state(kind, name, "Running")
        jobs.state("TFJob", RESTS, "Suspended")
        before = jobs.specs()
        run_steps(plane, STEPS[:-REMOVES_IT], {OURS: ours.folder})
        after = jobs.specs()
        told = side_by_side(jobs, it, ours)
        told.specs = before, after
        run_steps(plane, STEPS[-REMOVES_IT:], {})
        told.left = left_of(client)
        jobs.make("TFJob", "afterwards")
        jobs.state("TFJob", "afterwards", "Running")
        told.afterwards = jobs.let_end("TFJob", "afterwards")
        it.apply()
        it.is_ready()
        with pytest.raises(ApiError) as refused:
            jobs.make("TFJob", "refused")
        told.refusal = refused.value.message
    return told


def side_by_side(jobs: Jobs, it: TrainingOperator, ours: Installed) -> Story:
    """New jobs while those of before run, and all of them to their end."""
    kinds = {name: kind for kind, name in zip((*ROLES, *ROLES, JAX), (*THEIRS, *OF_US), strict=True)}
    for name in OF_US:
        jobs.make(kinds[name], name)
    for name in OF_US:
        jobs.state(kinds[name], name, "Running")
    (pod,) = it.pods()
    jobs.client.delete(f"{collection('v1', 'Pod', it.namespace)}/{pod['metadata']['name']}")
    eventually(
        "it is another", lambda: pod["metadata"]["uid"] not in {each["metadata"]["uid"] for each in it.pods()}
    )
    it.is_ready()
    jobs.client.patch(jobs.path("TFJob", RESTS), {"spec": {"runPolicy": {"suspend": False}}})
    jobs.state("TFJob", RESTS, "Running")
    owners = {name: jobs.owners(name) for name in kinds}
    resumed_by = jobs.owners(RESTS)
    ends = {name: jobs.let_end(kind, name) for name, kind in kinds.items()}
    ends[RESTS] = jobs.let_end("TFJob", RESTS)
    return Story(owners, ends, resumed_by, ours.audited(), it.audited(), [], "")


def left_of(client: Client) -> list[str]:
    """Objects of the Training Operator that are still there, but its namespace and the kinds."""
    hooks = "admissionregistration.k8s.io/v1"
    rights = "rbac.authorization.k8s.io/v1"
    places = [
        (("apps/v1", "Deployment", "kubeflow"), "training-operator"),
        (("v1", "Service", "kubeflow"), "training-operator"),
        (("v1", "ServiceAccount", "kubeflow"), "training-operator"),
        (("v1", "Secret", "kubeflow"), "training-operator-webhook-cert"),
        ((rights, "ClusterRole"), "training-operator"),
        ((rights, "ClusterRoleBinding"), "training-operator"),
        ((hooks, "ValidatingWebhookConfiguration"), "validator.training-operator.kubeflow.org"),
    ]
    return [
        f"{place[1]} {name}"
        for place, name in places
        if name in {each["metadata"]["name"] for each in client.items(collection(*place))}
    ]


def test_what_it_has_begun_stays_its_own(story: Story) -> None:
    kinds = dict(zip(THEIRS, ROLES, strict=True))
    assert {name: story.owners[name] for name in THEIRS} == {name: {kind} for name, kind in kinds.items()}
    assert story.resumed_by == {"TFJob"}


def test_our_kinds_take_the_place_of_its_kinds_and_what_is_stored_stays(story: Story) -> None:
    before, after = story.specs
    assert before.keys() == {*THEIRS, RESTS}
    assert after == before


def test_new_jobs_are_ours(story: Story) -> None:
    assert {name: story.owners[name] for name in OF_US} == {name: {"Job"} for name in OF_US}


def test_every_job_succeeds_whoever_runs_it(story: Story) -> None:
    assert story.ends.keys() == {*THEIRS, *OF_US, RESTS}
    assert set(story.ends.values()) == {"Succeeded"}


def test_we_write_nothing_of_its_jobs(story: Story) -> None:
    touched = written(story.written_by_us)
    assert {name for name in touched if name.startswith("new-")}
    assert not {name for name in touched if name.startswith(("old-", RESTS))}


def test_it_writes_nothing_of_ours(story: Story) -> None:
    touched = written(story.written_by_it)
    assert {name for name in touched if name.startswith("old-")}
    assert not {name for name in touched if name.startswith("new-")}


def written(requests: list[Json]) -> set[str]:
    """The names of what was written, events left out."""
    return {
        about.get("name", "")
        for each in requests
        if each["verb"] not in READS and (about := each.get("objectRef", {})).get("resource") != "events"
    }


def test_nothing_of_it_is_left_and_jobs_run_on(story: Story, plane: Plane) -> None:
    assert story.left == []
    assert story.afterwards == "Succeeded"
    kept = {each["metadata"]["name"] for each in plane.client.items(collection(V1, "TFJob", PLACE))}
    assert kept == {"old-tfjob", "new-tfjob", RESTS, "afterwards"}


def test_a_training_operator_that_comes_later_lets_nobody_make_a_job_for_two(story: Story) -> None:
    assert 'spec.runPolicy.managedBy: Unsupported value: "kfp-trainer/operator"' in story.refusal


def test_our_jobs_have_jobsets_and_its_jobs_have_none(story: Story, plane: Plane) -> None:
    names = {each["metadata"]["name"] for each in plane.client.items(collection(JOBSET, "JobSet", PLACE))}
    assert names == {*OF_US, "afterwards"}

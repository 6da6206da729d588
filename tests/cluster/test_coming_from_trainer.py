"""Running jobs live through a change of operators: from Kubeflow Trainer 2.3 to ours, and back.

Trainer is what its own manifests install; what an administrator does stands on the page and is run from
there. The whole way is gone once, and each test looks at one thing that was seen on it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.cluster.control_plane.client import Client, Json, collection, eventually, exists
from tests.cluster.control_plane.nodes import add_nodes
from tests.cluster.control_plane.plane import Plane
from tests.cluster.control_plane.site import ROOT
from tests.cluster.manifests import JOBSET, pod_template, read
from tests.cluster.moved_jobs import Jobs, Seen
from tests.cluster.operator import TRAINER, runtime, step
from tests.cluster.operator_install import manifests_of
from tests.cluster.own_plane import own_plane
from tests.cluster.page_steps import run_steps, steps_under
from tests.cluster.trainer_install import trainer_manifests
from tests.counts import count

STARTED = ("scheduler", "kwok", "process-node", "jobset")
PAGE = ROOT / "docs" / "coming_from_kubeflow_trainer.md"
OURS = "manifests/overlays/standalone"
TRAINERS = "https://github.com/kubeflow/trainer.git/manifests/overlays/manager?ref=v2.3.0"
RUNNING = [f"runs-{number}" for number in range(count(100, sampled=20))]
STAY = RUNNING[:5]
"""those of them that still run when Trainer is on again, one of each sort"""
LATER = [f"later-{number}" for number in range(5)]
"""begun by our operator"""
ENDED = {"ended": "ends", "died": "dies"}
RESTING = ["born-at-rest", "put-to-rest"]
PLACE = "moving"
"""the namespace of the jobs, and the pool of their nodes"""
READS = {"get", "list", "watch"}
OLD = "trainer.kubeflow.org/resource-in-use"


@dataclass
class Story:
    """What was seen on the way."""

    under_trainer: Seen
    adopted: Seen
    """by our operator, which has looked at all of them"""
    old_runtimes: list[str]
    """paths of runtimes that were left behind with a finalizer, and deleted"""
    ends: dict[str, str] = field(default_factory=dict)
    written: list[Json] = field(default_factory=list)
    """requests of our operator"""
    ours: Seen | None = None
    """when all jobs but those that stay have ended"""
    back: Seen | None = None


@pytest.fixture(scope="module")
def plane() -> Iterator[Plane]:
    with own_plane("moving", started=STARTED, built=["trainer"], kinds_of=["coscheduling"]) as made:
        yield made


@pytest.fixture(scope="module")
def story(plane: Plane) -> Story:
    client = plane.client
    add_nodes(client, 2, pool=PLACE)
    client.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": PLACE}})
    jobs = Jobs(client, PLACE, PLACE)
    with trainer_manifests(plane) as trainer, manifests_of(plane, "standalone") as ours:
        places = {OURS: ours.folder, TRAINERS: trainer.folder}
        trainer.apply()
        trainer.is_ready()
        begin(jobs)
        under_trainer = jobs.seen()
        first, *others = steps_under(PAGE, "Steps")
        run_steps(plane, [first], places)
        old_runtimes = leave_old_runtimes(client)
        run_steps(plane, others, places)
        eventually("all are looked at", lambda: are_looked_at(jobs.seen()), say=ours.words)
        told = Story(under_trainer, jobs.seen(), old_runtimes)
        live_on(jobs, told)
        told.written = [each for each in ours.audited() if each["userAgent"] == "kfp-trainer"]
        run_steps(plane, steps_under(PAGE, "Way back"), places)
        jobs.make("again", "ends")
        told.ends |= jobs.let_end([*STAY, *LATER, "again"])
        told.back = jobs.seen()
    return told


def begin(jobs: Jobs) -> None:
    """Let Trainer run what there may be in a cluster."""
    jobs.make_runtimes()
    jobs.make("put-to-rest", "plain")
    jobs.make("born-at-rest", "gang", suspend=True)
    for name, sort in ENDED.items():
        jobs.make(name, sort)
    jobs.make_many(RUNNING)
    jobs.run([*RUNNING, "put-to-rest"])
    jobs.rest("put-to-rest", suspend=True)
    for name in RESTING:
        jobs.rests(name)
    jobs.let_end([*ENDED])


def leave_old_runtimes(client: Client) -> list[str]:
    """Runtimes as Trainer 2.0 left them, while nobody is there to mend them; deleted, they stay."""
    paths = []
    for kind, place in (("TrainingRuntime", PLACE), ("ClusterTrainingRuntime", "")):
        made = runtime(step("node", "trainer", pod_template(PLACE))) | {"kind": kind}
        labels = {"trainer.kubeflow.org/webhook-validation": "disabled"}
        made["metadata"] = {"name": "old", "labels": labels, "finalizers": [OLD]}
        client.create(made, place)
        paths.append(f"{collection(TRAINER, kind, place)}/old")
        client.delete(paths[-1])
    return paths


def are_looked_at(seen: Seen) -> bool:
    """Whether what our operator does about a job that it finds is done for all."""
    rests = f"PodGroup/{RESTING[0]}" not in seen.objects
    ended = all("completionTime" in seen.statuses[name] for name in ENDED)
    return rests and ended and all("startTime" in seen.statuses[name] for name in RUNNING)


def live_on(jobs: Jobs, told: Story) -> None:
    """Let jobs of before and new ones run under our operator."""
    for name in RESTING:
        jobs.rest(name, suspend=False)
    jobs.make_many(LATER)
    jobs.make("cancelled", "plain")
    jobs.run([*RESTING, *LATER, "cancelled"])
    jobs.cancel("cancelled")
    told.ends = jobs.let_end([*RESTING, *(name for name in RUNNING if name not in STAY)])
    told.ours = jobs.seen()


def test_nothing_of_a_job_changes_when_the_operator_does(story: Story) -> None:
    before, after = story.under_trainer.objects, story.adopted.objects
    assert {place for place in before if place.startswith("Pod/runs-")}
    assert before.keys() - after.keys() == {"PodGroup/born-at-rest"}
    changed = {place.partition("/")[2] for place, each in after.items() if before.get(place) != each}
    assert {name for name in changed if not any(owns(job, name) for job in RESTING)} == set()
    assert story.adopted.generations == story.under_trainer.generations


def test_the_operator_writes_nothing_of_a_running_job_but_its_status(story: Story) -> None:
    written = {
        (each["verb"], about["resource"], about.get("name", ""))
        for each in story.written
        if (about := each.get("objectRef")) and about["resource"] != "events"
    }
    of_jobs = {each for each in written if each[2].startswith("runs-") and each[0] not in READS}
    assert {name for _, _, name in of_jobs} == {*RUNNING}
    status, gang = ("patch", "trainjobs"), ("delete", "podgroups")
    assert {each[:2] for each in of_jobs} == {status, gang}
    assert {each[:2] for each in of_jobs if each[2] in STAY} == {status}


@pytest.mark.parametrize("kind", ["Pod", "Job", "JobSet", "ConfigMap", "Secret", "PodGroup"])
def test_what_a_job_has_is_its_own_from_its_first_day_to_its_last(story: Story, kind: str) -> None:
    before = kept(story.under_trainer, kind)
    assert before
    assert story.ours is not None
    assert before.items() <= kept(story.ours, kind).items()
    assert story.back is not None
    assert before.items() <= kept(story.back, kind).items()


def kept(seen: Seen, kind: str) -> dict[str, str]:
    """The uids of what belongs to the jobs that run all the time, PodGroups of ended jobs left out."""
    names = STAY if kind == "PodGroup" else RUNNING
    return {
        place: uid
        for place, (uid, _) in seen.objects.items()
        if place.startswith(f"{kind}/") and any(owns(name, place.partition("/")[2]) for name in names)
    }


def owns(job: str, name: str) -> bool:
    return name == job or name.startswith(f"{job}-")


def test_what_trainer_told_of_a_job_stays_told(story: Story) -> None:
    for name, before in story.under_trainer.statuses.items():
        now = story.adopted.statuses[name]
        assert {key: in_any_order(now.get(key)) for key in before} == {
            key: in_any_order(value) for key, value in before.items()
        }, name
        assert now.keys() - before.keys() <= {"startTime", "completionTime"}


def in_any_order(value: Any) -> Any:
    """Counts as JobSet tells them: in another order each time; we keep to that of the steps."""
    return sorted(value, key=str) if isinstance(value, list) else value


def test_all_jobs_complete_whoever_began_them_and_whoever_sees_the_end(story: Story) -> None:
    assert set(story.ends.values()) == {"Complete"}
    assert story.ends.keys() == {*RUNNING, *RESTING, *LATER, "again"}


def test_a_job_that_had_ended_stays_as_it_was(story: Story) -> None:
    assert story.back is not None
    for name, type_ in {"ended": "Complete", "died": "Failed"}.items():
        conditions = story.under_trainer.statuses[name]["conditions"]
        assert [each["type"] for each in conditions if each["status"] == "True"] == [type_]
        assert story.back.statuses[name]["conditions"] == conditions
        place = f"JobSet/{name}"
        assert story.back.objects[place] == story.under_trainer.objects[place]


def test_no_jobset_was_restarted(story: Story, plane: Plane) -> None:
    for name in (*RUNNING, *LATER):
        assert read(plane.client, JOBSET, "JobSet", PLACE, name)["status"].get("restarts", 0) == 0


def test_runtimes_that_an_older_trainer_held_back_are_gone(story: Story, plane: Plane) -> None:
    for path in story.old_runtimes:
        assert not exists(plane.client, path)


def test_trainer_starts_a_job_again_that_we_have_cancelled(story: Story, plane: Plane) -> None:
    assert story.ours is not None
    assert "JobSet/cancelled" not in story.ours.objects
    jobset = f"{collection(JOBSET, 'JobSet', PLACE)}/cancelled"
    eventually("it runs again", lambda: exists(plane.client, jobset))


def test_trainer_serves_its_own_api_again(story: Story, plane: Plane) -> None:
    known = plane.client.get("/openapi/v3/apis/trainer.kubeflow.org/v1alpha1")
    spec = known["components"]["schemas"]["org.kubeflow.trainer.v1alpha1.TrainJob"]["properties"]["spec"]
    assert "startDeadlineSeconds" not in spec["properties"]

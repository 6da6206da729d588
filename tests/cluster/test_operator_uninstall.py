"""Who removes the operator as its page says is left with what people made, and with nothing of ours."""

from collections.abc import Iterator

import pytest

from kfp_trainer.runtime_operator.api.legacy import LEGACY_KINDS
from tests.cluster.all_objects import all_objects
from tests.cluster.control_plane.client import Client, collection, eventually
from tests.cluster.control_plane.nodes import add_nodes, pods_of
from tests.cluster.control_plane.plane import Plane
from tests.cluster.control_plane.site import ROOT
from tests.cluster.manifests import JOBSET, condition, pod_template
from tests.cluster.operator import path_of, runtime, step, train_job
from tests.cluster.operator_install import NAMESPACE, manifests_of
from tests.cluster.own_plane import own_plane
from tests.cluster.page_steps import run_steps, steps_under
from tests.counts import SOAK
from tests.legacy_jobs import legacy_document

STARTED = ("scheduler", "kwok", "process-node", "jobset")
WHOLE, KEEP_JOBS = steps_under(ROOT / "docs" / "operator.md", "Uninstall")
FOLDER = "manifests/overlays/standalone"
TEAM = "team"
EVERY_NAMESPACE_HAS = {"configmaps/{}/kube-root-ca.crt", "serviceaccounts/{}/default"}
PRIORITIES = {
    "priorityclasses.scheduling.k8s.io//training-high",
    "priorityclasses.scheduling.k8s.io//training-low",
}
STAYS_FOR_JOBS = PRIORITIES | {"queues.scheduling.volcano.sh//training"}
"""what pods of the overlay `volcano` may still need"""
KINDS = "customresourcedefinitions.apiextensions.k8s.io//"
OLDER_KINDS = {f"{KINDS}{kind.plural}.kubeflow.org" for kind in LEGACY_KINDS.values()} | {
    f"apiservices.apiregistration.k8s.io//{version}.kubeflow.org" for version in ("v1", "v2beta1")
}
OVERLAYS: dict[str, tuple[str, set[str]]] = {
    # the namespace of the operator, and what stays beside what was there
    "kubeflow": ("kubeflow", set()),
    "coscheduling": (
        NAMESPACE,
        PRIORITIES | {f"configmaps/{NAMESPACE}/coscheduling-scheduler-config"},
    ),
    "namespaced": ("team", set()),
}


@pytest.fixture(scope="module")
def plane() -> Iterator[Plane]:
    with own_plane("leaving", started=STARTED, kinds_of=["trainer", "volcano"]) as made:
        add_nodes(made.client, 1, pool=TEAM)
        yield made


@pytest.fixture
def team(plane: Plane) -> Iterator[str]:
    """The namespace of people, with what they made by themselves."""
    make_namespace(plane.client, TEAM)
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "of-the-team"}}
    plane.client.create(secret, TEAM)
    yield TEAM
    plane.client.delete(f"{collection('v1', 'Namespace')}/{TEAM}")
    eventually("the team is gone", lambda: not of(TEAM, all_objects(plane.client)))


def make_namespace(client: Client, name: str) -> None:
    client.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    wanted = {each.format(name) for each in EVERY_NAMESPACE_HAS}
    eventually("the namespace is furnished", lambda: wanted <= all_objects(client))


def of(namespace: str, objects: set[str]) -> set[str]:
    """What lies in a namespace."""
    return {each for each in objects if each.split("/")[1] == namespace}


def run_a_job(client: Client) -> None:
    """A job that runs on."""
    client.create(runtime(step("node", "trainer", pod_template(TEAM, run="forever"))), TEAM)
    client.create(train_job("goes-on"), TEAM)
    eventually("it runs", lambda: "startTime" in client.get(path_of(TEAM, "goes-on")).get("status", {}))


def test_without_the_operator_jobs_run_on_to_their_end(plane: Plane, team: str) -> None:
    client = plane.client
    make_namespace(client, NAMESPACE)
    before = all_objects(client) - STAYS_FOR_JOBS
    with manifests_of(plane, "volcano") as ours:
        ours.apply()
        ours.is_ready()
        run_a_job(client)
        with_jobs = of(team, all_objects(client))
        run_steps(plane, [KEEP_JOBS], {FOLDER: ours.folder})
        eventually("the operator's pod is gone", lambda: not ours.pods())
    left = all_objects(client)
    assert of(team, left) == with_jobs
    assert left - with_jobs - before == STAYS_FOR_JOBS
    (pod,) = pods_of(client, team)
    told = {"metadata": {"annotations": {"kfp-trainer.test/run": "0s"}}}
    client.patch(f"{collection('v1', 'Pod', team)}/{pod['metadata']['name']}", told)
    jobset = f"{collection(JOBSET, 'JobSet', team)}/goes-on"
    eventually("its JobSet completes", lambda: condition(client.get(jobset), "Completed"))


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_of_each_overlay_only_that_stays_which_jobs_need(overlay: str, plane: Plane, team: str) -> None:
    client = plane.client
    namespace, stays = OVERLAYS[overlay]
    make_namespace(client, namespace)
    before = all_objects(client) - stays
    with manifests_of(plane, overlay, namespace=namespace) as ours:
        ours.apply()
        ours.is_ready()
        run_steps(plane, [KEEP_JOBS], {FOLDER: ours.folder})
        eventually("the operator's pod is gone", lambda: not ours.pods())

    def others() -> set[str]:
        return all_objects(client) ^ (before | stays)

    eventually("only that stays", lambda: not others(), say=lambda: str(others()))


def test_a_job_of_an_older_kind_runs_on_and_the_next_operator_tells_its_end(plane: Plane, team: str) -> None:
    client = plane.client
    template = pod_template(team, run="forever")
    role = {"pod": {"nodeSelector": {"pool": team}}, "metadata": template["metadata"]}
    document = {**legacy_document("TFJob", {"Worker": role}), "metadata": {"name": "older"}}
    path = f"{collection('kubeflow.org/v1', 'TFJob', team)}/older"
    make_namespace(client, NAMESPACE)
    before = all_objects(client) - OLDER_KINDS
    with manifests_of(plane, "older-kinds") as ours:
        ours.apply()
        ours.is_ready()
        client.create(document, team)
        eventually("it runs", lambda: condition(client.get(path), "Running"), say=ours.words)
        (pod,) = pods_of(client, team)
        run_steps(plane, [KEEP_JOBS], {FOLDER: ours.folder})
        eventually("the operator's pod is gone", lambda: not ours.pods())
        left = all_objects(client) - before
        assert left - of(team, left) == OLDER_KINDS
        place = f"{collection('v1', 'Pod', team)}/{pod['metadata']['name']}"
        client.patch(place, {"metadata": {"annotations": {"kfp-trainer.test/run": "0s"}}})
        eventually("its pod ends", lambda: client.get(place)["status"]["phase"] == "Succeeded")
        ours.apply()
        ours.is_ready()
        eventually("its end is told", lambda: condition(client.get(path), "Succeeded"), say=ours.words)
        ours.remove()


@pytest.mark.parametrize("overlay", ["older-kinds", "standalone"] if SOAK else ["standalone"])
def test_with_the_kinds_go_the_jobs_and_what_people_made_beside_them_stays(
    overlay: str, plane: Plane, team: str
) -> None:
    client = plane.client
    before = all_objects(client)
    kinds = {
        each
        for each in before
        if each.endswith(".trainer.kubeflow.org")
        or each.split("/")[1] == NAMESPACE
        or (overlay == "older-kinds" and each in OLDER_KINDS)
    }
    with manifests_of(plane, overlay) as ours:
        ours.apply()
        ours.is_ready()
        run_a_job(client)
        run_steps(plane, [WHOLE], {FOLDER: ours.folder})
    wanted = before - kinds - {f"namespaces//{NAMESPACE}"}

    def others() -> set[str]:
        """What is there and should not be, or the other way round."""
        return all_objects(client) ^ wanted

    eventually("only people's objects are left", lambda: not others(), say=lambda: str(others()))

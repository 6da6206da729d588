"""What the overlays become when the real kustomize builds them: names, rights, probes, and what ties them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from kfp_trainer.runtime_operator.api.legacy import LEGACY_KINDS
from kfp_trainer.runtime_operator.api.legacy.versions import versions_of
from kfp_trainer.runtime_operator.api.names import KINDS, TRAIN_JOB
from kfp_trainer.runtime_operator.cli.operator import operator
from kfp_trainer.runtime_operator.images import VERSION, image
from kfp_trainer.runtime_operator.render.facts import NO_FACTS
from kfp_trainer.runtime_operator.service.settings import LEASE, ServiceSettings, read_older_kinds
from kfp_trainer.runtime_operator.webhook.server import path_of, path_of_older_kinds
from kfp_trainer.runtime_operator.webhook.trust import CONFIGURATIONS, OLDER_KINDS, Configurations

ROOT = Path(__file__).resolve().parents[3]
OVERLAYS = sorted(path.parent.name for path in ROOT.glob("manifests/overlays/*/kustomization.yaml"))
CLUSTER_WIDE = [name for name in OVERLAYS if name != "namespaced"]
OLDER = "older-kinds"
Json = dict[str, Any]

pytestmark = pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl: not on the PATH")


@cache
def objects(overlay: str) -> tuple[Json, ...]:
    """What an overlay becomes."""
    command = ["kubectl", "kustomize", str(ROOT / "manifests/overlays" / overlay)]
    built = subprocess.run(command, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    return tuple(yaml.load_all(built.stdout, Loader=yaml.CSafeLoader))


def of_kind(overlay: str, kind: str) -> list[Json]:
    return [each for each in objects(overlay) if each["kind"] == kind]


def manager(overlay: str) -> Json:
    (deployment,) = of_kind(overlay, "Deployment")
    return deployment


def rules(overlay: str) -> list[Json]:
    """The rules that the operator's account gets."""
    account = manager(overlay)["spec"]["template"]["spec"]["serviceAccountName"]
    found = []
    for kind in ("Role", "ClusterRole"):
        bound = {
            each["roleRef"]["name"]
            for each in of_kind(overlay, f"{kind}Binding")
            if any(
                subject["kind"] == "ServiceAccount" and subject["name"] == account
                for subject in each["subjects"]
            )
        }
        found += [
            rule
            for role in of_kind(overlay, kind)
            if role["metadata"]["name"] in bound
            for rule in role["rules"]
        ]
    assert found
    return found


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_everything_lies_in_the_namespace_of_the_operator(overlay: str) -> None:
    namespace = manager(overlay)["metadata"]["namespace"]
    for each in objects(overlay):
        assert each["metadata"].get("namespace", namespace) == namespace
        for subject in each.get("subjects", ()):
            assert subject.get("namespace", namespace) == namespace
        for hook in each.get("webhooks", ()):
            assert hook["clientConfig"]["service"]["namespace"] == namespace


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_the_operator_is_this_version_and_its_options_exist(overlay: str) -> None:
    (container,) = manager(overlay)["spec"]["template"]["spec"]["containers"]
    assert container["image"] == image("operator")
    assert container["command"] == ["kfp-trainer", "operator"]
    context = click.Context(operator)
    operator.parse_args(context, list(container.get("args", ())))


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_ports_are_those_the_operator_listens_on(overlay: str) -> None:
    (container,) = manager(overlay)["spec"]["template"]["spec"]["containers"]
    ports = {each["name"]: each["containerPort"] for each in container["ports"]}
    listens = ServiceSettings()
    known = {
        "webhook": listens.webhook_port,
        "metrics": listens.metrics_port,
        "status-server": listens.progress_port,
        "health": listens.health_port,
    }
    assert ports.items() <= known.items()
    for probe, path in (("livenessProbe", "/healthz"), ("readinessProbe", "/readyz")):
        assert container[probe]["httpGet"] == {"path": path, "port": "health"}
    for service in of_kind(overlay, "Service"):
        assert {each["targetPort"] for each in service["spec"]["ports"]} <= set(ports)


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_the_service_leads_to_the_operator(overlay: str) -> None:
    labels = manager(overlay)["spec"]["template"]["metadata"]["labels"]
    for service in of_kind(overlay, "Service"):
        assert service["spec"]["selector"].items() <= labels.items()


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_the_pod_is_restricted(overlay: str) -> None:
    pod = manager(overlay)["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert pod["securityContext"] == {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "readOnlyRootFilesystem": True,
    }
    assert container["resources"].keys() == {"requests", "limits"}
    assert {next(iter(volume.keys() - {"name"})) for volume in pod["volumes"]} == {"emptyDir"}


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_no_secret_can_be_listed_and_only_our_own_read(overlay: str) -> None:
    for rule in rules(overlay):
        assert "*" not in (*rule["verbs"], *rule["resources"], *rule["apiGroups"])
        if "secrets" in rule["resources"] and set(rule["verbs"]) & {"get", "list", "watch"}:
            assert rule["resourceNames"] == [NO_FACTS.certificate]
            assert set(rule["verbs"]) <= {"get", "patch"}


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_only_one_account_gets_a_token_by_itself(overlay: str) -> None:
    for account in of_kind(overlay, "ServiceAccount"):
        assert account["automountServiceAccountToken"] is False
    assert manager(overlay)["spec"]["template"]["spec"]["automountServiceAccountToken"] is True


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_names_that_the_code_knows(overlay: str) -> None:
    named = {name for rule in rules(overlay) for name in rule.get("resourceNames", ())}
    assert LEASE in named
    if overlay in CLUSTER_WIDE:
        assert NO_FACTS.certificate in {each["metadata"]["name"] for each in of_kind(overlay, "Secret")}
        assert NO_FACTS.operator_service in {each["metadata"]["name"] for each in of_kind(overlay, "Service")}
        assert {name for _, name in CONFIGURATIONS} <= named


def hooks_of(overlay: str, configurations: Configurations) -> list[Json]:
    """The hooks of those configurations, all of which are there."""
    found = {(each["kind"], each["metadata"]["name"]): each for each in objects(overlay)}
    return [hook for resource, name in configurations for hook in found[resource.kind, name]["webhooks"]]


@pytest.mark.parametrize("overlay", CLUSTER_WIDE)
def test_webhooks_ask_only_what_is_ours(overlay: str) -> None:
    hooks = hooks_of(overlay, CONFIGURATIONS)
    paths = {hook["clientConfig"]["service"]["path"] for hook in hooks}
    assert paths == {path_of("mutate", TRAIN_JOB), *(path_of("validate", kind) for kind in KINDS)}
    ask_as_is_right(hooks, "trainer.kubeflow.org")


def ask_as_is_right(hooks: list[Json], group: str) -> None:
    for hook in hooks:
        assert (hook["failurePolicy"], hook["sideEffects"], hook["timeoutSeconds"]) == ("Fail", "None", 5)
        assert hook["matchConditions"]
        for rule in hook["rules"]:
            assert rule["apiGroups"] == [group]
            assert rule["operations"] == ["CREATE", "UPDATE"]
            assert not any("/" in each or "*" in each for each in rule["resources"])


def test_the_older_kinds_are_judged_in_every_version() -> None:
    hooks = hooks_of(OLDER, OLDER_KINDS)
    paths = {hook["clientConfig"]["service"]["path"] for hook in hooks}
    assert paths == {path_of_older_kinds("mutate"), path_of_older_kinds("validate")}
    ask_as_is_right(hooks, "kubeflow.org")
    want = {(each, kind.plural) for kind in LEGACY_KINDS.values() for each in versions_of(kind.name)}
    for hook in hooks:
        asked = {
            (f"kubeflow.org/{version}", plural)
            for rule in hook["rules"]
            for version in rule["apiVersions"]
            for plural in rule["resources"]
        }
        assert asked == want


def test_the_older_kinds_are_added_to_the_rest_and_all_but_one_are_served() -> None:
    (container,) = manager(OLDER)["spec"]["template"]["spec"]["containers"]
    (plain,) = manager("standalone")["spec"]["template"]["spec"]["containers"]
    (option,) = set(container["args"]) - set(plain["args"])
    served = read_older_kinds(option.removeprefix("--older-kinds="))
    assert served == LEGACY_KINDS.keys() - {"MXJob"}
    crds = {each["spec"]["names"]["kind"] for each in of_kind(OLDER, "CustomResourceDefinition")}
    assert crds == {*KINDS, *LEGACY_KINDS}
    there = {(each["kind"], each["metadata"]["name"]) for each in objects(OLDER)}
    assert {(each["kind"], each["metadata"]["name"]) for each in objects("standalone")} < there
    named = {name for rule in rules(OLDER) for name in rule.get("resourceNames", ())}
    assert {name for _, name in OLDER_KINDS} <= named


@pytest.mark.parametrize("overlay", ["kubeflow", "coscheduling"])
def test_the_older_kinds_can_be_added_to_another_overlay(overlay: str, tmp_path: Path) -> None:
    resources, components = (
        [os.path.relpath(ROOT / "manifests" / each, tmp_path.resolve())]
        for each in (f"overlays/{overlay}", "older_kinds")
    )
    namespace = manager(overlay)["metadata"]["namespace"]
    kustomization = {"namespace": namespace, "resources": resources, "components": components}
    (tmp_path / "kustomization.yaml").write_text(json.dumps(kustomization))
    built = subprocess.run(["kubectl", "kustomize", str(tmp_path)], capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    found = {
        (each["kind"], each["metadata"]["name"]): each
        for each in yaml.load_all(built.stdout, Loader=yaml.CSafeLoader)
    }
    assert found.keys() >= {(each["kind"], each["metadata"]["name"]) for each in objects(OLDER)} - {
        ("Namespace", "kubeflow-system")
    }
    for resource, name in OLDER_KINDS:
        (hook,) = found[resource.kind, name]["webhooks"]
        assert hook["clientConfig"]["service"]["namespace"] == namespace


def test_every_right_on_the_older_kinds_is_on_all_of_them() -> None:
    plurals = {kind.plural for kind in LEGACY_KINDS.values()}
    roles = [each for each in of_kind(OLDER, "ClusterRole") if "older-kinds" in each["metadata"]["name"]]
    assert len(roles) == 4
    for rule in (rule for role in roles for rule in role["rules"]):
        whole, _, sub = rule["resources"][0].partition("/")
        if rule["apiGroups"] == ["kubeflow.org"]:
            want = (
                {kind.plural for kind in LEGACY_KINDS.values() if kind.scales} if sub == "scale" else plurals
            )
            assert set(rule["resources"]) == {f"{each}/{sub}" if sub else each for each in want}, whole


@pytest.mark.parametrize("overlay", CLUSTER_WIDE)
def test_the_sdk_finds_the_version(overlay: str) -> None:
    names = {each["metadata"]["name"]: each for each in of_kind(overlay, "ConfigMap")}
    public = names["kubeflow-trainer-public"]
    assert public["data"] == {"kubeflow_trainer_version": "v2.3.0", "kfp_trainer_version": VERSION}


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_the_network_policy_opens_the_ports_of_the_operator(overlay: str) -> None:
    (policy,) = of_kind(overlay, "NetworkPolicy")
    labels = manager(overlay)["spec"]["template"]["metadata"]["labels"]
    assert policy["spec"]["podSelector"]["matchLabels"].items() <= labels.items()
    ports = {each["port"] for rule in policy["spec"]["ingress"] for each in rule["ports"]}
    (container,) = manager(overlay)["spec"]["template"]["spec"]["containers"]
    assert {each["name"] for each in container["ports"]} <= ports


def test_volcano_gets_a_queue_and_priorities() -> None:
    added = [each for each in objects("volcano") if each not in objects("standalone")]
    assert {(each["kind"], each["metadata"]["name"]) for each in added} == {
        ("Queue", "training"),
        ("PriorityClass", "training-high"),
        ("PriorityClass", "training-low"),
    }


def test_coscheduling_gets_the_configuration_of_its_scheduler() -> None:
    (config,) = (
        each for each in of_kind("coscheduling", "ConfigMap") if "scheduler-config.yaml" in each["data"]
    )
    document = yaml.safe_load(config["data"]["scheduler-config.yaml"])
    (profile,) = document["profiles"]
    assert profile["schedulerName"] == "scheduler-plugins-scheduler"  # as its own chart calls it
    gang = [{"name": "Coscheduling"}]
    assert profile["plugins"]["multiPoint"]["enabled"] == gang
    assert profile["plugins"]["queueSort"] == {"enabled": gang, "disabled": [{"name": "*"}]}


def test_one_namespace_needs_nothing_of_the_cluster() -> None:
    wide = {"ClusterRole", "ClusterRoleBinding", "Namespace", "CustomResourceDefinition"}
    wide |= {resource.kind for resource, _ in CONFIGURATIONS}
    assert not wide & {each["kind"] for each in objects("namespaced")}


JOBS_NEED = {
    "CustomResourceDefinition",
    "Namespace",
    "Queue",
    "PriorityClass",
    "ConfigMap coscheduling-scheduler-config",
}
"""what stays when the operator goes and the jobs are to stay"""


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_what_is_the_operators_own_can_be_told_from_what_jobs_need(overlay: str) -> None:
    for each in objects(overlay):
        name = each["metadata"]["name"]
        needed = bool(JOBS_NEED & {each["kind"], f"{each['kind']} {name}"})
        own = (each["metadata"].get("labels") or {}).get("app.kubernetes.io/name") == "kfp-trainer"
        assert own is not needed, f"{each['kind']} {name}"


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_the_lease_goes_with_the_operator(overlay: str) -> None:
    assert [each["metadata"]["name"] for each in of_kind(overlay, "Lease")] == [LEASE]


SERVED = {
    "by itself": ([], ["v1alpha1"]),
    "with the component of the older version": (["crds/older-version"], ["v1alpha1", "v2alpha1"]),
}


@pytest.mark.parametrize("sentence", SERVED)
def test_which_versions_an_installation_serves(sentence: str, tmp_path: Path) -> None:
    components, expected = SERVED[sentence]

    def seen(part: str) -> str:
        return os.path.relpath(ROOT / "manifests" / part, tmp_path.resolve())

    kustomization = {"resources": [seen("overlays/standalone")], "components": [*map(seen, components)]}
    (tmp_path / "kustomization.yaml").write_text(json.dumps(kustomization))
    built = subprocess.run(["kubectl", "kustomize", str(tmp_path)], capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    crds = [
        each
        for each in yaml.load_all(built.stdout, Loader=yaml.CSafeLoader)
        if each["kind"] == "CustomResourceDefinition"
    ]
    assert len(crds) == len(KINDS)
    for crd in crds:
        assert [each["name"] for each in crd["spec"]["versions"] if each["served"]] == expected

"""Objects of an API server without what it filled in itself: as somebody might have written them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Json = Mapping[str, Any]

OF_A_POD: Json = {
    "dnsPolicy": "ClusterFirst",
    "enableServiceLinks": True,
    "preemptionPolicy": "PreemptLowerPriority",
    "priority": 0,
    "schedulerName": "default-scheduler",
    "securityContext": {},
    "serviceAccountName": "default",
    "terminationGracePeriodSeconds": 30,
}
OF_A_CONTAINER: Json = {
    "resources": {},
    "terminationMessagePath": "/dev/termination-log",
    "terminationMessagePolicy": "File",
}
OF_A_SERVICE: Json = {"sessionAffinity": "None", "type": "ClusterIP", "internalTrafficPolicy": "Cluster"}
BY_THE_SERVER = {
    "pod": ("nodeName", "serviceAccount"),
    "service": ("clusterIPs", "ipFamilies", "ipFamilyPolicy"),
}
LOST_NODES = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
TOKEN = "kube-api-access-"
MODE = 0o644


def pod_as_written(pod: Json) -> dict[str, Any]:
    """A pod."""
    spec = _without(pod["spec"], OF_A_POD, BY_THE_SERVER["pod"])
    tolerations = [each for each in spec.pop("tolerations", ()) if each.get("key") not in LOST_NODES]
    volumes = [_volume(each) for each in spec.pop("volumes", ()) if not each["name"].startswith(TOKEN)]
    parts = {
        part: [_container(each) for each in spec[part]]
        for part in ("initContainers", "containers")
        if part in spec
    }
    spec |= {**parts, "tolerations": tolerations, "volumes": volumes}
    return {**pod, "spec": spec}


def service_as_written(service: Json) -> dict[str, Any]:
    """A Service."""
    spec = _without(service["spec"], OF_A_SERVICE, BY_THE_SERVER["service"])
    ports = [_without(each, {"protocol": "TCP"}) for each in spec.get("ports") or ()]
    return {**service, "spec": {"publishNotReadyAddresses": False, **spec, "ports": ports}}


def _container(container: Json) -> Json:
    written = _without(container, OF_A_CONTAINER)
    if written.get("imagePullPolicy") == _pull_policy(container["image"]):
        del written["imagePullPolicy"]
    mounts = [each for each in written.pop("volumeMounts", ()) if "serviceaccount" not in each["mountPath"]]
    env = [_variable(each) for each in written.pop("env", ())]
    return {**written, "volumeMounts": mounts, "env": env}


def _pull_policy(image: str) -> str:
    tag = image.rpartition("/")[2].partition(":")[2] or "latest"
    return "Always" if tag == "latest" else "IfNotPresent"


def _variable(variable: Json) -> Json:
    field = variable.get("valueFrom", {}).get("fieldRef")
    if field is None:
        return variable
    return {**variable, "valueFrom": {"fieldRef": {"fieldPath": field["fieldPath"]}}}


def _volume(volume: Json) -> Json:
    return {
        key: _without(value, {"defaultMode": MODE}) if isinstance(value, Mapping) else value
        for key, value in volume.items()
    }


def _without(value: Json, defaults: Json, names: tuple[str, ...] = ()) -> dict[str, Any]:
    return {
        key: each
        for key, each in value.items()
        if key not in names and not (key in defaults and each == defaults[key])
    }

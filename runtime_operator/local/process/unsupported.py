"""What a pod asks for and does not get on this machine: refused by name, or left out and said.

Refused is what would change what the containers do. Left out is what only concerns a cluster: where a pod is
placed, how an image is pulled, who it runs as. A field that is in none of the lists is refused, for nobody
has thought about it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...errors import FieldError
from .fields import is_known_field
from .pod import Container, Object, containers

_DONE = frozenset(
    "containers initContainers volumes restartPolicy terminationGracePeriodSeconds activeDeadlineSeconds "
    "hostname subdomain hostAliases nodeName serviceAccountName serviceAccount "
    "automountServiceAccountToken".split()
)
_LEFT_OUT = frozenset(
    "nodeSelector affinity tolerations schedulerName priorityClassName priority preemptionPolicy "
    "topologySpreadConstraints runtimeClassName overhead enableServiceLinks dnsPolicy dnsConfig hostNetwork "
    "hostIPC securityContext imagePullSecrets schedulingGates os resources hostUsers setHostnameAsFQDN "
    "workloadRef".split()
)
_CONTAINER_DONE = frozenset(
    "name image command args workingDir ports envFrom env resources volumeMounts livenessProbe "
    "readinessProbe startupProbe lifecycle terminationMessagePath terminationMessagePolicy "
    "restartPolicy".split()
)
_CONTAINER_LEFT_OUT = frozenset(("imagePullPolicy", "securityContext", "resizePolicy"))
_VOLUMES = frozenset("emptyDir hostPath persistentVolumeClaim configMap secret downwardAPI projected".split())
_PROJECTED = frozenset("serviceAccountToken configMap secret downwardAPI".split())
_ENV_SOURCES = frozenset("fieldRef resourceFieldRef configMapKeyRef secretKeyRef".split())
_ACTIONS = frozenset(("exec", "httpGet", "tcpSocket"))
_PROBE = _ACTIONS | frozenset(
    "initialDelaySeconds periodSeconds timeoutSeconds successThreshold failureThreshold "
    "terminationGracePeriodSeconds".split()
)
_UNSUPPORTED = "FieldValueNotSupported"


def refuse_unsupported(pod: Object) -> tuple[FieldError, ...]:
    """List what a pod asks for that is not done on this machine; empty when it can start."""
    return tuple(_refused(pod))


def left_out(pod: Object) -> tuple[str, ...]:
    """List the paths of what a pod asks for that has no effect on this machine."""
    spec = pod["spec"]
    paths = [f"spec.{name}" for name in spec if name in _LEFT_OUT and spec[name]]
    for container in containers(pod):
        paths += [f"{container.path}.{name}" for name in container.spec if name in _CONTAINER_LEFT_OUT]
        limits = (container.spec.get("resources") or {}).get("limits") or {}
        paths += [f"{container.path}.resources.limits.{name}" for name in limits if name in ("cpu", "memory")]
    for number, volume in enumerate(spec.get("volumes") or ()):
        if (volume.get("emptyDir") or {}).get("sizeLimit"):
            paths.append(f"spec.volumes[{number}].emptyDir.sizeLimit")
    return tuple(paths)


def _refused(pod: Object) -> Iterator[FieldError]:
    spec = pod["spec"]
    yield from _unknown(spec, _DONE | _LEFT_OUT, "spec")
    if not spec.get("containers"):
        yield FieldError("spec.containers", "a pod needs a container; give one", "FieldValueRequired")
        return
    for number, volume in enumerate(spec.get("volumes") or ()):
        yield from _volume(volume, f"spec.volumes[{number}]")
    seen: set[str] = set()
    for container in containers(pod):
        if container.name in seen:
            yield FieldError(
                f"{container.path}.name", f"{container.name} is taken; give another", "FieldValueDuplicate"
            )
        seen.add(container.name)
        yield from _container(container)


def _unknown(part: Object, known: frozenset[str], path: str) -> Iterator[FieldError]:
    for name, value in part.items():
        if name not in known and value not in (None, False, "", [], {}):
            yield FieldError(
                f"{path}.{name}", "not done on this machine; remove it or run on a cluster", _UNSUPPORTED
            )


def _volume(volume: Object, path: str) -> Iterator[FieldError]:
    yield from _unknown(volume, _VOLUMES | {"name"}, path)
    for number, source in enumerate((volume.get("projected") or {}).get("sources") or ()):
        where = f"{path}.projected.sources[{number}]"
        yield from _unknown(source, _PROJECTED, where)
        yield from _items((source.get("downwardAPI") or {}).get("items"), f"{where}.downwardAPI")
    yield from _items((volume.get("downwardAPI") or {}).get("items"), f"{path}.downwardAPI")


def _items(items: object, path: str) -> Iterator[FieldError]:
    for number, item in enumerate(items if isinstance(items, list) else ()):
        yield from _field(item, f"{path}.items[{number}]")


def _field(source: Object, path: str) -> Iterator[FieldError]:
    name = (source.get("fieldRef") or {}).get("fieldPath")
    if name is not None and not is_known_field(name):
        yield FieldError(
            f"{path}.fieldRef.fieldPath", f"{name} has no value here; use another field", _UNSUPPORTED
        )


def _container(container: Container) -> Iterator[FieldError]:
    spec, path = container.spec, container.path
    yield from _unknown(spec, _CONTAINER_DONE | _CONTAINER_LEFT_OUT, path)
    if container.kind != "sidecar" and spec.get("restartPolicy"):
        yield FieldError(
            f"{path}.restartPolicy",
            "a container's own policy is done for sidecars (Always) only",
            _UNSUPPORTED,
        )
    if container.kind == "init":
        for name in ("livenessProbe", "readinessProbe", "startupProbe", "lifecycle"):
            if spec.get(name):
                yield FieldError(
                    f"{path}.{name}", "an init container has none; remove it", "FieldValueForbidden"
                )
    for name in ("livenessProbe", "readinessProbe", "startupProbe"):
        yield from _probe(spec.get(name), f"{path}.{name}")
    for name, hook in (spec.get("lifecycle") or {}).items():
        yield from _hook(name, hook, f"{path}.lifecycle.{name}")
    for number, variable in enumerate(spec.get("env") or ()):
        source = variable.get("valueFrom") or {}
        yield from _unknown(source, _ENV_SOURCES, f"{path}.env[{number}].valueFrom")
        yield from _field(source, f"{path}.env[{number}].valueFrom")
    for number, mount in enumerate(spec.get("volumeMounts") or ()):
        if mount.get("mountPropagation") not in (None, "None"):
            yield FieldError(
                f"{path}.volumeMounts[{number}].mountPropagation", "not done on this machine", _UNSUPPORTED
            )


def _probe(probe: Object | None, path: str) -> Iterator[FieldError]:
    if probe is None:
        return
    refused = list(_unknown(probe, _PROBE, path))
    yield from refused
    if not refused and not _ACTIONS & probe.keys():
        yield FieldError(
            path, f"a probe needs one of {', '.join(sorted(_ACTIONS))}; give one", "FieldValueRequired"
        )


def _hook(name: str, hook: Mapping[str, object], path: str) -> Iterator[FieldError]:
    if name not in ("postStart", "preStop"):
        yield FieldError(path, "not done on this machine; remove it or run on a cluster", _UNSUPPORTED)
        return
    yield from _unknown(hook, _ACTIONS | {"sleep"}, path)

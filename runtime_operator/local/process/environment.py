"""The environment that a container states, as a kubelet makes it: envFrom, then env in its order.

A value may refer to what stands before it, and to nothing else. Of the caller's own environment a container
gets what every process of this machine needs and no more, so that a job does not depend on the shell it was
started from.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping

from .expansion import expand
from .failures import ConfigError
from .fields import Machine, field_value, resource_value
from .place import Place
from .pod import Container, Object, namespace_of
from .references import Found

INDEX = "batch.kubernetes.io/job-completion-index"

_INHERITED = ("HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "PATH", "SHELL", "TMPDIR", "TZ", "USER")
_INHERITED_SETTINGS = (
    "LD_LIBRARY_PATH",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
)
_PROXIES = ("http_proxy", "https_proxy", "no_proxy", "all_proxy")


def inherited(environ: Mapping[str, str]) -> dict[str, str]:
    """Pick what a container takes over from the machine: paths, language, certificates, proxies."""
    names = (*_INHERITED, *_INHERITED_SETTINGS, *_PROXIES, *(name.upper() for name in _PROXIES))
    return {name: environ[name] for name in names if name in environ}


def stated_env(
    container: Container, pod: Object, *, place: Place, found: Found, machine: Machine
) -> dict[str, str]:
    """Build the environment; ConfigError when it names what does not exist."""
    stated: dict[str, str] = {}
    for number, source in enumerate(container.spec.get("envFrom") or ()):
        stated |= _all_keys(source, found, where=f"{container.path}.envFrom[{number}]")
    index = (pod["metadata"].get("annotations") or {}).get(INDEX)
    variables = list(container.spec.get("env") or ())
    if index is not None and all(one["name"] != "JOB_COMPLETION_INDEX" for one in variables):
        stated["JOB_COMPLETION_INDEX"] = str(index)
    for number, variable in enumerate(variables):
        if variable.get("value") or not variable.get("valueFrom"):
            stated[variable["name"]] = expand(str(variable.get("value") or ""), stated)
            continue
        where = f"{container.path}.env[{number}].valueFrom"
        value = _value_from(
            variable["valueFrom"], container, pod, where=where, place=place, found=found, machine=machine
        )
        if value is not None:
            stated[variable["name"]] = value
    return stated


def _value_from(
    source: Object,
    container: Container,
    pod: Object,
    *,
    where: str,
    place: Place,
    found: Found,
    machine: Machine,
) -> str | None:
    """Return what a valueFrom stands for; None when it is optional and not there."""
    if "fieldRef" in source:
        return field_value(source["fieldRef"]["fieldPath"], pod, place)
    if "resourceFieldRef" in source:
        return resource_value(source["resourceFieldRef"], container.spec, pod, machine)
    word = "configMap" if "configMapKeyRef" in source else "secret"
    ref = source[f"{word}KeyRef"]
    objects = found.config_maps if word == "configMap" else found.secrets
    values = _texts(objects.get(ref["name"]))
    if values is not None and ref["key"] in values:
        return values[ref["key"]]
    if ref.get("optional"):
        return None
    kind = "ConfigMap" if word == "configMap" else "Secret"
    if values is None:
        raise ConfigError(f'{where}: {kind.lower()} "{ref["name"]}" not found; create it or set optional')
    of = f"{namespace_of(pod)}/{ref['name']}"
    raise ConfigError(
        f"{where}: couldn't find key {ref['key']} in {kind} {of}; there are {', '.join(values) or 'none'}"
    )


def _all_keys(source: Object, found: Found, *, where: str) -> dict[str, str]:
    """Return every key of the object that an envFrom names, with its prefix."""
    word = "configMap" if "configMapRef" in source else "secret"
    ref = source[f"{word}Ref"]
    values = _texts((found.config_maps if word == "configMap" else found.secrets).get(ref["name"]))
    if values is None:
        if ref.get("optional"):
            return {}
        raise ConfigError(f'{where}: {word.lower()} "{ref["name"]}" not found; create it or set optional')
    prefix = source.get("prefix") or ""
    return {f"{prefix}{key}": value for key, value in values.items() if "=" not in key}


def _texts(found: Object | None) -> dict[str, str] | None:
    """Return the data of an object as text; a ConfigMap's binary data is for volumes only."""
    if found is None:
        return None
    if found.get("kind") == "Secret":
        return {key: data.decode("utf-8", "surrogateescape") for key, data in contents(found)}
    return {key: str(value) for key, value in (found.get("data") or {}).items()}


def contents(found: Object) -> Iterator[tuple[str, bytes]]:
    """Go through the data of a ConfigMap or Secret as bytes."""
    if found.get("kind") == "Secret":
        yield from ((key, base64.b64decode(value)) for key, value in (found.get("data") or {}).items())
        yield from ((key, str(value).encode()) for key, value in (found.get("stringData") or {}).items())
        return
    yield from ((key, str(value).encode()) for key, value in (found.get("data") or {}).items())
    yield from ((key, base64.b64decode(value)) for key, value in (found.get("binaryData") or {}).items())

"""What roles grant, and what an audit log says of it that was used."""

from collections.abc import Iterator
from typing import NamedTuple

from tests.cluster.control_plane.client import Client, Json, collection

RBAC = "rbac.authorization.k8s.io/v1"


class Right(NamedTuple):
    """One verb on one resource, perhaps on one object, perhaps in one namespace."""

    group: str
    resource: str
    verb: str
    name: str = ""
    namespace: str = ""


def rights(client: Client, *roles: tuple[str, str, str]) -> set[Right]:
    """What is granted by roles, each by its kind, namespace and name."""
    found: set[Right] = set()
    for kind, namespace, role in roles:
        for rule in client.get(f"{collection(RBAC, kind, namespace)}/{role}")["rules"]:
            found |= {
                Right(group, resource, verb, name, namespace)
                for group in rule["apiGroups"]
                for resource in rule["resources"]
                for verb in rule["verbs"]
                for name in rule.get("resourceNames", [""])
            }
    return found


def uses(event: Json) -> Iterator[Right]:
    """The rights that a request has used: by account, by name, by namespace."""
    about = event.get("objectRef")
    if about is None:
        return
    resource = "/".join(filter(None, (about["resource"], about.get("subresource"))))
    created = event["verb"] == "patch" and event["responseStatus"]["code"] == 201
    for verb in {event["verb"], *(("create",) if created else ())}:
        for name in {"", about.get("name", "")}:
            for namespace in {"", about.get("namespace", "")}:
                yield Right(about.get("apiGroup", ""), resource, verb, name, namespace)


def refused(event: Json) -> bool:
    """Whether the API server forbade a request."""
    return bool(event.get("annotations", {}).get("authorization.k8s.io/decision") == "forbid")

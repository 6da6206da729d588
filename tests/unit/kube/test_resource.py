"""Where objects lie."""

import pytest

from kfp_trainer.runtime_operator.kube.resource import CONFIG_MAPS, LEASES, PRIORITY_CLASSES, Resource

CASES = {
    "all of a core kind": (CONFIG_MAPS.path(), "/api/v1/configmaps"),
    "those of one namespace": (CONFIG_MAPS.path("team"), "/api/v1/namespaces/team/configmaps"),
    "one object of a group": (
        LEASES.path("team", "lead"),
        "/apis/coordination.k8s.io/v1/namespaces/team/leases/lead",
    ),
    "a subresource": (
        Resource("trainer.test", "v1", "jobs", "Job").path("a", "b", sub="status"),
        "/apis/trainer.test/v1/namespaces/a/jobs/b/status",
    ),
    "a cluster-wide object, whatever the namespace": (
        PRIORITY_CLASSES.path("team", "high"),
        "/apis/scheduling.k8s.io/v1/priorityclasses/high",
    ),
}


@pytest.mark.parametrize("sentence", CASES)
def test_path(sentence: str) -> None:
    path, expected = CASES[sentence]
    assert path == expected


def test_the_api_version_has_no_slash_for_the_core_group() -> None:
    assert (CONFIG_MAPS.api_version, LEASES.api_version) == ("v1", "coordination.k8s.io/v1")
    assert (str(CONFIG_MAPS), str(LEASES)) == ("configmaps", "leases.coordination.k8s.io")

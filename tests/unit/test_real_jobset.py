"""The judge of JobSets can say no."""

import pytest

from tests.real_jobset import refusals


def jobset(job=None, pod=None, **spec):
    containers = {"containers": [{"name": "node", "image": "i"}], **(pod or {})}
    rjob = {"name": "node", "template": {"spec": {"template": {"spec": containers}}}, **(job or {})}
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "spec": {"replicatedJobs": [rjob], **spec},
    }


REFUSED = {
    "a misspelt field deep in a container": (
        jobset(pod={"containers": [{"name": "a", "imgae": "i"}]}),
        "Additional properties are not allowed ('imgae' was unexpected)",
    ),
    "a container without a name": (
        jobset(pod={"containers": [{"image": "i"}]}),
        '"name" is a required property',
    ),
    "a number that is text": (jobset(job={"replicas": "one"}), '"one" is not of type "integer"'),
    "a number that no int32 holds": (
        jobset(job={"replicas": 1 << 31}),
        "2147483648 is greater than the maximum",
    ),
    "a quantity that is none": (
        jobset(pod={"containers": [{"name": "a", "resources": {"limits": {"cpu": "two"}}}]}),
        "does not match",
    ),
    "a name that stands twice": (
        jobset(pod={"containers": [{"name": "a", "env": [{"name": "A"}, {"name": "A"}]}]}),
        "('A',) stands twice",
    ),
    "both ways to order jobs": (
        jobset(
            job={"dependsOn": [{"name": "a", "status": "Ready"}]},
            startupPolicy={"startupPolicyOrder": "InOrder"},
        ),
        "spec: StartupPolicy and DependsOn APIs are mutually exclusive",
    ),
    "a claim of another namespace": (
        jobset(
            volumeClaimPolicies=[{"templates": [{"metadata": {"name": "a", "namespace": "b"}, "spec": {}}]}]
        ),
        "spec.volumeClaimPolicies[0]: namespace cannot be set",
    ),
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_it_refuses(sentence):
    given, want = REFUSED[sentence]
    assert [text for text in refusals(given) if want in text], refusals(given)


def test_it_accepts():
    assert refusals(jobset(network={"enableDNSHostnames": True}, suspend=True)) == []


def test_it_knows_its_own_version():
    assert refusals({**jobset(), "apiVersion": "jobset.x-k8s.io/v1"}) == ["apiVersion"]

"""Who a container is, from its security context, its pod's and its image's user."""

import pytest

from kfp_trainer.runtime_operator.local.process.failures import ConfigError
from kfp_trainer.runtime_operator.local.process.identity import Identity, identity_of
from kfp_trainer.runtime_operator.local.process.pod import containers

STRICT = {
    "runAsNonRoot": True,
    "allowPrivilegeEscalation": False,
    "readOnlyRootFilesystem": True,
    "capabilities": {"drop": ["ALL"]},
    "seccompProfile": {"type": "RuntimeDefault"},
}

CASES = {
    "nothing is said: the user of the image": ({}, {}, 0, Identity()),
    "an image that is not root": ({}, {}, 65532, Identity(65532, 65532)),
    "the pod's user": ({"runAsUser": 7}, {}, 0, Identity(7, 7)),
    "the container's user wins": ({"runAsUser": 7, "runAsGroup": 8}, {"runAsUser": 9}, 0, Identity(9, 8)),
    "all that restricted pods must say": ({}, STRICT, 65532, Identity(65532, 65532, True, True)),
    "not root by the pod, a user by the container": (
        {"runAsNonRoot": True},
        {"runAsUser": 1},
        0,
        Identity(1, 1),
    ),
}


def of(whole, own, user):
    pod = {
        "spec": {
            "securityContext": whole,
            "containers": [{"name": "x", "image": "i", "securityContext": own}],
        }
    }
    return identity_of(containers(pod)[0], pod, user=user)


@pytest.mark.parametrize("sentence", CASES)
def test_identity(sentence):
    *given, want = CASES[sentence]
    assert of(*given) == want


def test_root_is_refused_where_it_must_not_be():
    with pytest.raises(ConfigError, match="runAsNonRoot, and image i runs as root; set runAsUser"):
        of({"runAsNonRoot": True}, {}, 0)

"""What somebody may have meant."""

import pytest

from kfp_trainer.runtime_operator.render.spelling import UNKNOWN, unknown_field

POD = "spec.template.spec.replicatedJobs[0].template.spec.template.spec"
PATCH = f"spec.runtimePatches[0].trainingRuntimeSpec.template.{POD.removeprefix('spec.template.')}"

MEANT = {
    "a letter that is wrong": ("TrainJob", "spec.trainer.imgae", "unknown field: did you mean 'image'?"),
    "half of the name": ("TrainJob", "spec.trainer.nodes", "unknown field: did you mean 'numNodes'?"),
    "deep in a container": (
        "ClusterTrainingRuntime",
        f"{POD}.containers[1].resorces",
        "unknown field: did you mean 'resources'?",
    ),
    "a level too high": (
        "TrainJob",
        "spec.numNodes",
        "unknown field here: 'numNodes' belongs to spec.trainer",
    ),
    "at the root": ("TrainJob", "numNodes", "unknown field here: 'numNodes' belongs to spec.trainer"),
    "in a patch, where it cannot be": (
        "TrainJob",
        f"{PATCH}.containers[0].command",
        "unknown field here: 'command' belongs to spec.trainer",
    ),
    "one of several places": (
        "ClusterTrainingRuntime",
        "spec.numProcPerNode",
        "unknown field here: 'numProcPerNode' belongs to "
        "spec.mlPolicy.flux or spec.mlPolicy.mpi or spec.mlPolicy.torch",
    ),
    "near nothing": ("TrainJob", "spec.banana", UNKNOWN),
    "below what is unknown": ("TrainJob", "spec.banana.split", UNKNOWN),
    "far below what is unknown": ("TrainJob", "spec.banana.split.ice", UNKNOWN),
    "what many objects have": ("TrainJob", "spec.runtimeRef.annotations", UNKNOWN),
    "a name that is empty": ("TrainJob", "spec.", UNKNOWN),
    "nothing at all": ("TrainJob", "", UNKNOWN),
}


@pytest.mark.parametrize("sentence", MEANT)
def test_unknown_field(sentence):
    kind, path, want = MEANT[sentence]
    assert unknown_field(kind, path) == want

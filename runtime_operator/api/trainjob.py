"""TrainJob: one training run, written by a person or an SDK."""

from __future__ import annotations

from typing import Annotated, ClassVar

from .base import Dict, Kind, Part
from .names import CLUSTER_TRAINING_RUNTIME, GROUP, OUR_CONTROLLER
from .older import PodSpecOverride, PodTemplateOverride
from .patches import RuntimeSpecPatch
from .rules import FIXED, MANAGED_BY, NAME_FORMAT, NAME_LENGTH, PROCESSES, STATUS_TIME, URI_FORMAT
from .wire import ATOMIC, IMMUTABLE, keyed, wire


class RuntimeRef(Part):
    """Which runtime a job starts from."""

    name: Annotated[str, wire("Name of the runtime.", minLength=1, maxLength=253)]
    apiGroup: Annotated[str, wire("Its API group.", default=GROUP, maxLength=253)] = GROUP
    kind: Annotated[
        str,
        wire("TrainingRuntime or ClusterTrainingRuntime.", default=CLUSTER_TRAINING_RUNTIME, maxLength=253),
    ] = CLUSTER_TRAINING_RUNTIME


class InitializerSource(Part):
    """Where a dataset or a model comes from."""

    storageUri: Annotated[
        str | None, wire("Where it lies, as hf://org/name.", maxLength=2048, rules=(URI_FORMAT,))
    ] = None
    env: Annotated[
        list[Dict] | None,
        wire("Env of the initializer.", kube="EnvVar", maxItems=128, **keyed("name")),
    ] = None
    secretRef: Annotated[
        Dict | None, wire("Secret with credentials; becomes env.", kube="LocalObjectReference")
    ] = None


class Initializer(Part):
    """What is fetched before the training starts."""

    dataset: Annotated[InitializerSource | None, wire("The dataset.")] = None
    model: Annotated[InitializerSource | None, wire("The model to start from.")] = None


class Trainer(Part):
    """What the person wants of the nodes that train."""

    image: Annotated[str | None, wire("Image of the trainer.", maxLength=500)] = None
    command: Annotated[
        list[str] | None,
        wire("Command, one word an item.", items={"maxLength": 1048576}, maxItems=128, **ATOMIC),
    ] = None
    args: Annotated[
        list[str] | None,
        wire("Arguments after the command.", items={"maxLength": 1048576}, maxItems=128, **ATOMIC),
    ] = None
    env: Annotated[
        list[Dict] | None, wire("Env of the trainer.", kube="EnvVar", maxItems=128, **keyed("name"))
    ] = None
    numNodes: Annotated[int | None, wire("How many nodes train.", our={"minimum": 1})] = None
    resourcesPerNode: Annotated[
        Dict | None,
        wire("Resources of one node, merged onto the runtime's.", kube="ResourceRequirements"),
    ] = None
    numProcPerNode: Annotated[int | None, wire("Processes on one node.", our_rules=(PROCESSES,))] = None


class RuntimePatch(Part):
    """What one manager changes in the JobSet of this job."""

    manager: Annotated[
        str, wire("Who patches, as acme.io/foo.", minLength=1, maxLength=253, rules=(IMMUTABLE,))
    ]
    time: Annotated[str | None, wire("When it last changed; we set it.", format="date-time")] = None
    trainingRuntimeSpec: Annotated[
        Dict | None, wire("The patch, merged strategically.", shape=RuntimeSpecPatch)
    ] = None


class TrainJobSpec(Part):
    """What the person wants."""

    runtimeRef: Annotated[RuntimeRef, wire("The runtime to start from.", rules=(IMMUTABLE,))]
    initializer: Annotated[Initializer | None, wire("What to fetch first.", rules=(IMMUTABLE,))] = None
    trainer: Annotated[Trainer | None, wire("How to train.", rules=(IMMUTABLE,))] = None
    runtimePatches: Annotated[
        tuple[RuntimePatch, ...],
        wire("Changes to the runtime for this job.", maxItems=16, **keyed("manager")),
    ] = ()
    suspend: Annotated[bool, wire("Hold the job back, or stop its pods.", default=False)] = False
    activeDeadlineSeconds: Annotated[
        int | None,
        wire("Fail after this time of running.", format="int64", minimum=1, rules=(IMMUTABLE,)),
    ] = None
    managedBy: Annotated[
        str,
        wire(
            "Which controller acts on this job.",
            default=OUR_CONTROLLER,
            maxLength=253,
            rules=(MANAGED_BY, IMMUTABLE),
        ),
    ] = OUR_CONTROLLER
    ttlSecondsAfterFinished: Annotated[
        int | None, wire("Delete the job this long after its end.", ours=True, minimum=0)
    ] = None
    startDeadlineSeconds: Annotated[
        int | None,
        wire(
            "Fail if the pods have not all run together within this time.",
            ours=True,
            format="int64",
            minimum=1,
            rules=(IMMUTABLE,),
        ),
    ] = None
    labels: Annotated[
        dict[str, str] | None,
        wire("Older spelling: labels of the JobSet; use runtimePatches.", ours=True, maxProperties=64),
    ] = None
    annotations: Annotated[
        dict[str, str] | None,
        wire("Older spelling: annotations of the JobSet; use runtimePatches.", ours=True, maxProperties=64),
    ] = None
    podSpecOverrides: Annotated[
        list[Dict] | None,
        wire(
            "Older spelling of 2.0; use runtimePatches.",
            shape=PodSpecOverride,
            ours=True,
            maxItems=16,
            **ATOMIC,
        ),
    ] = None
    podTemplateOverrides: Annotated[
        list[Dict] | None,
        wire(
            "Older spelling of 2.1; use runtimePatches.",
            shape=PodTemplateOverride,
            ours=True,
            maxItems=16,
            **ATOMIC,
        ),
    ] = None


class JobStatus(Part):
    """How many Jobs of one replicated job are where, as JobSet counts them."""

    name: Annotated[str, wire("The replicated job.", minLength=1, maxLength=253)]
    ready: Annotated[int, wire("Jobs whose pods are all ready.", minimum=0)]
    succeeded: Annotated[int, wire("Jobs that are complete.", minimum=0)]
    failed: Annotated[int, wire("Jobs that failed.", minimum=0)]
    active: Annotated[int, wire("Jobs with pods.", minimum=0)]
    suspended: Annotated[int, wire("Jobs that are held back.", minimum=0)]


class Metric(Part):
    """A number the trainer reported."""

    name: Annotated[str, wire("Its name.", minLength=1, maxLength=64)]
    value: Annotated[str, wire("Its value.", minLength=1, maxLength=64)]


class TrainerStatus(Part):
    """What the trainer last said of its progress."""

    progressPercentage: Annotated[int | None, wire("How much is done.", minimum=0, maximum=100)] = None
    estimatedRemainingSeconds: Annotated[int | None, wire("How long it will take.", minimum=0)] = None
    metrics: Annotated[list[Metric] | None, wire("Loss and the like.", maxItems=256, **ATOMIC)] = None
    lastUpdatedTime: Annotated[str | None, wire("When it was said.", format="date-time")] = None


class TrainJobStatus(Part):
    """What became of the job so far."""

    conditions: Annotated[
        tuple[Dict, ...],
        wire("Suspended, Complete, Failed and no other.", kube="Condition", maxItems=8, **keyed("type")),
    ] = ()
    jobsStatus: Annotated[tuple[JobStatus, ...], wire("Jobs by place.", maxItems=100, **keyed("name"))] = ()
    trainerStatus: Annotated[
        TrainerStatus | None, wire("Progress as the trainer reports it.", rules=(STATUS_TIME,))
    ] = None
    startTime: Annotated[str | None, wire("When all pods first ran.", ours=True, format="date-time")] = None
    completionTime: Annotated[
        str | None, wire("When the job reached its end.", ours=True, format="date-time")
    ] = None
    why: Annotated[
        str | None, wire("Why the job is where it is, for a person.", ours=True, maxLength=4096)
    ] = None


class TrainJob(Kind):
    """One training run."""

    RULES: ClassVar = (NAME_FORMAT, NAME_LENGTH)

    spec: Annotated[
        TrainJobSpec,
        wire(
            "What the person wants.",
            our_rules=FIXED,
        ),
    ]
    status: Annotated[TrainJobStatus | None, wire("What became of it.", minProperties=1)] = None

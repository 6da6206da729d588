"""Names that users, schedulers and other controllers rely on, one sentence of reason each.

Nothing here may change without breaking somebody: the Kubeflow SDK finds pods by these job and container
names, Kueue and the schedulers read these labels, people write these words in their files.
"""

from __future__ import annotations

from typing import Final

GROUP: Final = "trainer.kubeflow.org"
"""The API group of Kubeflow Trainer: clients look for TrainJobs nowhere else."""
VERSION: Final = "v1alpha1"
"""The only version Trainer 2.3 serves, and the one that is stored."""
OLD_VERSION: Final = "v2alpha1"
"""A version of early texts that was never released; files still carry it."""
API_VERSION: Final = f"{GROUP}/{VERSION}"
"""What clients send and what we print."""
OLD_API_VERSION: Final = f"{GROUP}/{OLD_VERSION}"
"""Accepted with a deprecation warning, stored as `API_VERSION`."""

TRAIN_JOB: Final = "TrainJob"
"""The kind a person writes."""
TRAINING_RUNTIME: Final = "TrainingRuntime"
"""A blueprint of one namespace."""
CLUSTER_TRAINING_RUNTIME: Final = "ClusterTrainingRuntime"
"""A blueprint for all namespaces; the default of a runtimeRef."""
KINDS: Final = (TRAIN_JOB, TRAINING_RUNTIME, CLUSTER_TRAINING_RUNTIME)
"""Everything we serve."""

OUR_CONTROLLER: Final = "trainer.kubeflow.org/trainjob-controller"
"""Default of spec.managedBy: we act on these jobs only."""
MULTIKUEUE: Final = "kueue.x-k8s.io/multikueue"
"""With this in spec.managedBy another cluster runs the job and we do nothing at all."""
KUEUE_MANAGER: Final = "kueue.x-k8s.io/manager"
"""Kueue writes its patch under this manager."""
KUEUE_QUEUE_LABEL: Final = "kueue.x-k8s.io/queue-name"
"""A job with this label belongs to Kueue, which computes its pod sets with upstream's own code."""
OLDER_SPELLINGS_MANAGER: Final = "trainer.kubeflow.org/older-spellings"
"""Fields of Trainer 2.0 and 2.1 become runtime patches under this manager; nobody else writes it."""

JOBSET_LABEL: Final = "jobset.sigs.k8s.io/jobset-name"
"""JobSet writes its name on each of its pods; a TrainJob and its JobSet have the same."""
ANCESTOR_LABEL: Final = "trainer.kubeflow.org/trainjob-ancestor-step"
"""On a Job template of a runtime: which step of a TrainJob this job is."""
SUPPORT_LABEL: Final = "trainer.kubeflow.org/support"
"""`deprecated` here makes admission warn."""
DEPRECATED: Final = "deprecated"
"""The one value of `SUPPORT_LABEL` that means something."""
SKIP_VALIDATION_LABEL: Final = "trainer.kubeflow.org/webhook-validation"
"""`disabled` here keeps a runtime from the validating webhook."""
DISABLED: Final = "disabled"
"""The one value of `SKIP_VALIDATION_LABEL` that means something."""
DEPRECATION_URL: Final = (
    "https://trainer.kubeflow.org/en/latest/operator-guides/runtime.html#runtime-deprecation-policy"
)
"""Where upstream's warning about deprecated runtimes sends people."""

TRAINER_STEP: Final = "trainer"
"""The step that trains: spec.trainer goes to its job."""
DATASET_STEP: Final = "dataset-initializer"
"""The step, the job and the container that fetch the dataset."""
MODEL_STEP: Final = "model-initializer"
"""The step, the job and the container that fetch the model."""
STEPS: Final = (DATASET_STEP, MODEL_STEP, TRAINER_STEP)
"""The known values of `ANCESTOR_LABEL`; others are as good as none."""
NODE: Final = "node"
"""The job of the trainer and its main container; the SDK follows their logs by this name."""
LAUNCHER: Final = "launcher"
"""The job that runs mpirun."""
OLD_TRAINER_CONTAINER: Final = "trainer"
"""What the main container was called before the first release."""
OLD_TRAINER_JOB: Final = "trainer-node"
"""What the trainer's job was called before the first release."""
OLD_LAUNCHER_CONTAINERS: Final = (LAUNCHER, "mpi-launcher")
"""What a launcher's container is called where it is not `node`."""
QUEUE_ANNOTATION: Final = "scheduling.volcano.sh/queue-name"
"""Volcano's queue of a JobSet; the SDK's users put it on the TrainJob as well."""
RESERVED_PREFIXES: Final = ("jobset.sigs.k8s.io/", "batch.kubernetes.io/")
"""Labels and annotations that only the controllers themselves may set."""
INITIALIZER_VOLUME: Final = "initializer"
"""The volume on which initializers and trainer meet."""

TRAINER_PORT: Final = 29500
"""Where node 0 waits for the others, whatever the framework."""
TRAINER_PORT_TEXT: Final = str(TRAINER_PORT)
"""The same as an env value."""
INDEX_FIELD_PATH: Final = "metadata.annotations['batch.kubernetes.io/job-completion-index']"
"""Where an Indexed Job tells a pod its number."""

SUSPENDED: Final = "Suspended"
"""Condition of a job that is held back. These three are all: any other breaks the SDK's Running."""
COMPLETE: Final = "Complete"
"""Condition of a job that reached its end."""
FAILED: Final = "Failed"
"""Condition of a job that will not run again."""

REASON_SUSPENDED: Final = "Suspended"
"""Reason of Suspended=True."""
REASON_RESUMED: Final = "Resumed"
"""Reason of Suspended=False."""
REASON_DEADLINE: Final = "DeadlineExceeded"
"""Reason of Failed when activeDeadlineSeconds ran out."""
REASON_START_DEADLINE: Final = "StartDeadlineExceeded"
"""Reason of Failed when the pods never ran all together within startDeadlineSeconds."""
REASON_CANCELLED: Final = "Cancelled"
"""Reason of Failed when a person ended the job, with `CANCEL_ANNOTATION` in a cluster."""
REASON_RUNTIME_INVALID: Final = "RuntimeInvalid"
"""Reason of Failed when the runtime cannot become a JobSet, as without template and image."""
CANCEL_ANNOTATION: Final = "kfp-trainer/cancel"
"""With the value `true` on a TrainJob it ends the job: its pods go, its status stays."""
EVENT_CREATION_FAILED: Final = "TrainJobResourcesCreationFailed"
"""Reason of the event upstream writes when it cannot build or apply."""

PET_ENVS: Final = (
    "PET_NNODES",
    "PET_NPROC_PER_NODE",
    "PET_NODE_RANK",
    "PET_MASTER_ADDR",
    "PET_MASTER_PORT",
)
"""What torchrun reads; reserved in a TrainJob whose runtime has a torch policy."""

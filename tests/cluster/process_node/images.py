"""What stands for images on a process node: this environment, for ours as for any other."""

import os

from kfp_trainer.runtime_operator.images import IMAGES
from kfp_trainer.runtime_operator.local.process import Backoff, Image, Images, Settings, detect
from kfp_trainer.runtime_operator.local.process.environment import inherited
from kfp_trainer.runtime_operator.local.process.images import repository
from kfp_trainer.runtime_operator.render.legacy import Installation

NOT_ROOT = 65532
"""the user of our own images"""
ENTRYPOINTS = {"operator": ("kfp-trainer",)}
DELIVERS = ("sh", "-c", 'ln -s "$(command -v kubectl)" "$TARGET_DIR/kubectl"')
"""what the image does that brings kubectl to MPI launchers"""
RETRY_SECONDS = 1.0
REFRESH_SECONDS = 5.0
"""after which a changed Secret or ConfigMap is seen in a pod's volumes; a kubelet takes a minute"""


def settings() -> Settings:
    """How a process node runs its pods."""
    lines = {"PYTHONUNBUFFERED": "1"}
    table = {
        repository(image): Image(entrypoint=ENTRYPOINTS.get(name, ()), env=lines, user=NOT_ROOT)
        for name, image in IMAGES.items()
    }
    table[repository(Installation().kubectl_image)] = Image(entrypoint=DELIVERS)
    here = {
        name: value for name, value in inherited(os.environ).items() if not name.lower().endswith("_proxy")
    }
    return Settings(
        detect(),
        images=Images(table),
        backoff=Backoff(),
        retry=RETRY_SECONDS,
        refresh=REFRESH_SECONDS,
        environ=here,
        identities=True,
    )

"""A stage for the controller in virtual time: an API server in memory, the operator, and others who act.

async with Stage() as stage:          the operator watches and leads
    stage.create_job("bert")          as a user
    await stage.until_jobset("bert")
    stage.report("bert", ready=1)     as JobSet's controller
    await stage.settle()
"""

from .cast import GANG, job, pod, runtime
from .stage import Stage

__all__ = ["GANG", "Stage", "job", "pod", "runtime"]

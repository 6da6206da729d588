"""What is torchrun's own is not the job's to set."""

from __future__ import annotations

import pytest

from kfp_trainer.runtime_operator.api import read
from kfp_trainer.runtime_operator.render.admission import admit

ENV = [{"name": "PET_NODE_RANK"}, {"name": "A"}, {"name": "PET_MASTER_ADDR"}]
INJECTION = {
    "targets": [
        {"jobName": "node", "containerNames": ["side", "ghost"]},
        {"jobName": "x", "containerNames": ["y"]},
    ]
}
RULES = {
    "variables of torchrun": (
        {},
        {"env": ENV},
        ["must not have reserved envs, invalid envs configured: [PET_MASTER_ADDR PET_NODE_RANK]"],
    ),
    "others": ({}, {"env": [{"name": "PET_OTHER"}]}, []),
    "targets that are not there": (
        {"envInjection": INJECTION},
        None,
        [
            'envInjection target podSet "node" container "ghost" not found in runtime template',
            'envInjection target podSet "x" container "y" not found in runtime template',
        ],
    ),
    "no targets": ({"envInjection": {}}, {}, []),
}


@pytest.mark.parametrize("compat", [None, "upstream"])
@pytest.mark.parametrize("sentence", RULES)
def test_rules(sentence, compat, world):
    policy, trainer, want = RULES[sentence]
    node = world.replicated_job(sidecars=[{"name": "side", "image": "s"}])
    runtime = world.runtime_of({"torch": policy}, node)
    job = world.train_job(**({} if trainer is None else {"trainer": trainer}))
    errors = admit(read(job), read(runtime), compat=compat).errors
    assert [each.detail for each in errors] == want

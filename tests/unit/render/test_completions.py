"""How many times the pods of a job have to end well."""

import pytest

from kfp_trainer.runtime_operator.render.pods import Pods, draft


def built(count, *, step="", **spec):
    pods = {"spec": {"containers": [{"name": "node"}]}}
    job = {"name": "node", "template": {"spec": {**spec, "template": pods}}}
    made = Pods(draft(job, step=step, size=spec.get("parallelism", 1), wave=0, labelled=False, main="node"))
    made.count = count
    spec = made.built_job(upstream=False)["template"]["spec"]
    return spec["parallelism"], spec["completions"]


# pods, the template's own numbers, the step: parallelism and completions
CASES = {
    "a side job that has more to do than hands": (2, {"parallelism": 2, "completions": 9}, "", (2, 9)),
    "a side job without numbers": (1, {}, "", (1, 1)),
    "nodes of MPI, which are counted anew": (8, {"parallelism": 1, "completions": 1}, "", (8, 8)),
    "a trainer": (4, {"parallelism": 4, "completions": 1}, "trainer", (4, 4)),
}


@pytest.mark.parametrize("sentence", CASES)
def test_completions(sentence):
    count, spec, step, want = CASES[sentence]
    assert built(count, step=step, **spec) == want

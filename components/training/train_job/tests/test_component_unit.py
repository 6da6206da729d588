"""The component calls its step and asks for what a person sets on the task."""

from unittest import mock

from ..component import train_job


def test_the_body_hands_its_arguments_to_the_step():
    with mock.patch("kfp_trainer.runtime_operator.steps.train_job.train_job") as step:
        train_job.python_func("summary", "metrics", "name", command=["torchrun", "train.py"])
    step.assert_called_once_with(
        "summary", "metrics", "name", "torch-distributed", "", ["torchrun", "train.py"], [], "", {}, None
    )


def test_what_is_set_on_the_task_goes_to_the_train_job():
    passed = {
        each.field.name: bool(each.apply_to_task)
        for each in train_job.component_spec.task_config_passthroughs
    }
    assert len(passed) == 6
    assert [name for name, applied in passed.items() if applied] == ["KUBERNETES_VOLUMES"]

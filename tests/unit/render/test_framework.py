"""Plug-ins are asked in a fixed order, and only where they have something to say."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from types import SimpleNamespace

import pytest

from kfp_trainer.runtime_operator.errors import SetupError
from kfp_trainer.runtime_operator.render import registry
from kfp_trainer.runtime_operator.render.framework import (
    Plugin,
    PluginOrderError,
    Terminal,
    Watch,
    ordered,
    overriding,
)
from kfp_trainer.runtime_operator.render.plugins import BUILTIN


def plugin(name, *after):
    return type(name, (Plugin,), {"name": name, "after": after})()


ORDERS = {
    "as they are listed": ([("a",), ("b",)], "ab"),
    "behind what they need": ([("a", "b"), ("b",)], "ba"),
    "behind what those need": ([("a", "b"), ("b", "c"), ("c",)], "cba"),
    "a need that two share": ([("a", "c"), ("b", "c"), ("c",)], "cab"),
}


@pytest.mark.parametrize("sentence", ORDERS)
def test_ordered(sentence):
    given, want = ORDERS[sentence]
    assert "".join(each.name for each in ordered([plugin(*one) for one in given])) == want


IMPOSSIBLE = {
    "a circle": [("a", "b"), ("b", "a")],
    "a need that nobody meets": [("a", "x")],
    "one name twice": [("a",), ("a",)],
}


@pytest.mark.parametrize("sentence", IMPOSSIBLE)
def test_impossible_orders(sentence):
    with pytest.raises(PluginOrderError):
        ordered([plugin(*one) for one in IMPOSSIBLE[sentence]])


def test_a_plugin_says_nothing_by_itself():
    each = plugin("quiet")
    assert each.serves(None)
    assert each.complete_template(None, {"a": 1}) == {"a": 1}
    assert (each.watch_extension(), each.custom_validation(None), each.build_components(None)) == ((), (), ())
    assert each.enforce_ml_policy(None) is None
    assert each.enforce_pod_group_policy(None) is None
    assert each.slice_data(None) is None
    assert each.terminal_condition(None, {}) is None


def test_only_those_with_something_to_say_are_asked():
    class Slicer(Plugin):
        name = "slicer"

        def slice_data(self, info):
            return "cut"

    (hook,) = overriding([plugin("quiet"), Slicer()], "slice_data")
    assert hook(None) == "cut"


def test_the_jobset_is_built_last_and_torch_knows_the_jobs_own_env():
    names = [each.name for each in registry.installed()]
    assert names == [each.name for each in BUILTIN]
    assert names[-1] == "jobset"
    assert names.index("jax") < names.index("trainer") < names.index("torch") < names.index("torchtune")


def test_a_controller_is_told_every_kind_to_watch_once():
    assert sorted(registry.watches(), key=lambda each: (each.kind, each.api_version)) == [
        Watch("v1", "ConfigMap"),
        Watch("jobset.x-k8s.io/v1alpha2", "JobSet"),
        Watch("v1", "LimitRange", owned=False),
        Watch("scheduling.volcano.sh/v1beta1", "PodGroup"),
        Watch("scheduling.x-k8s.io/v1alpha1", "PodGroup"),
        Watch("node.k8s.io/v1", "RuntimeClass", owned=False),
        Watch("v1", "Secret"),
    ]


class Foreign(Plugin):
    name = "slices"
    after = ("torch",)

    def slice_data(self, info):
        info.trainer.main.add_env([{"name": "SHARD", "value": "cut"}])

    def watch_extension(self):
        return (Watch("slices.example/v1", "Cut"), Watch("v1", "ConfigMap"))

    def terminal_condition(self, job, child):
        return Terminal("Failed", "NoData", job["metadata"]["name"]) if child["kind"] == "Cut" else None


@pytest.fixture
def foreign(monkeypatch):
    point = SimpleNamespace(name="slices", load=lambda: Foreign)
    monkeypatch.setattr(registry, "entry_points", lambda group: [point] if group == registry.GROUP else [])
    registry.installed.cache_clear()
    yield
    registry.installed.cache_clear()


def test_a_plugin_of_another_package_slices_data(foreign, world):
    plan = world.plan_of(world.runtime_of({"torch": {}}), world.train_job())
    assert world.env_of(plan)["SHARD"] == "cut"


def test_a_plugin_of_another_package_is_watched_for(foreign):
    assert Watch("slices.example/v1", "Cut") in registry.watches()
    assert [each.kind for each in registry.watches()].count("ConfigMap") == 1


CUT = {"kind": "Cut"}
DONE = {"kind": "JobSet", "status": {"conditions": [{"type": "Completed", "status": "True"}]}}
ENDS = {
    "nothing is there": ([], None),
    "nothing has ended": ([{"kind": "JobSet"}], None),
    "the JobSet has": ([DONE], "Complete"),
    "an object of another package tells it": ([{"kind": "JobSet"}, CUT], "Failed"),
    "the first that tells it counts": ([DONE, CUT], "Complete"),
}


@pytest.mark.parametrize("sentence", ENDS)
def test_the_end_of_a_job_is_what_a_plugin_reads_off_its_objects(sentence, foreign):
    children, want = ENDS[sentence]
    end = registry.end_of({"metadata": {"name": "bert"}}, children)
    assert (end and end.type) == want


def test_a_plugin_that_cannot_be_imported_is_named(monkeypatch):
    point = EntryPoint("lost", "no_such_module:Lost", registry.GROUP)
    monkeypatch.setattr(registry, "entry_points", lambda group: [point])
    registry.installed.cache_clear()
    with pytest.raises(
        SetupError, match=r"'lost' cannot be loaded from no_such_module:Lost: .* remove its package"
    ):
        registry.installed()


def test_upstream_has_no_plugins_of_others(foreign, world):
    plan = world.plan_of(world.runtime_of({"torch": {}}), world.train_job(), compat="upstream")
    assert "SHARD" not in world.env_of(plan)

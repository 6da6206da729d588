"""The images that steps and jobs run in: built without an engine, used as a cluster would, under soak alone.

Some gigabytes are downloaded, and deleted again. The `workload` that is tried here has no torch: the wheel
for CPUs is on no index that everybody has, and one without content stands for it. Training and evaluation
run in `workload-cuda`, which holds the same packages, on this machine's CPU.
"""

import hashlib
import io
import json
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from kfp_trainer.components.data_processing.fetch_dataset import fetch_dataset
from kfp_trainer.components.evaluation.evaluate_llm import evaluate_llm
from kfp_trainer.runtime_operator.images import image
from tests.counts import SOAK
from tests.images.building import Built, build, forget, run
from tests.images.inputs import make_context
from tests.images.layers import why_not
from tests.images.page import told_megabytes
from tests.servers.site import Site
from tests.tiny_base import untrained_model

ROOT = Path(__file__).resolve().parents[2]
NAMES = ("workload", "workload-cuda", "workload-torchtune")
FINETUNE = "kfp_trainer.runtime_operator.workloads.finetune"
UNKNOWN = "1000740000:0"
WHEEL = "torch-2.15.0+cpu-py3-none-any.whl"
pytestmark = [
    pytest.mark.soak,
    pytest.mark.skipif(not SOAK, reason="workload images: gigabytes to download; `make soak` builds them"),
    pytest.mark.skipif(bool(why_not()), reason=f"images: {why_not()}"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    yield make_context(tmp_path_factory.mktemp("images"))
    for name in NAMES:
        forget(name)


def nameplate() -> bytes:
    """A wheel that says it is torch for CPUs and holds nothing: where it is installed there is no torch."""
    folder, bytes_ = "torch-2.15.0+cpu.dist-info", io.BytesIO()
    with zipfile.ZipFile(bytes_, "w") as made:
        made.writestr(f"{folder}/METADATA", "Metadata-Version: 2.1\nName: torch\nVersion: 2.15.0+cpu\n")
        made.writestr(f"{folder}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        made.writestr(f"{folder}/RECORD", "")
    return bytes_.getvalue()


def workload(context: Path, digest: str) -> Built:
    """The image `workload` with that wheel, if its digest is this one."""
    with Site({WHEEL: nameplate()}) as site:
        return build("workload", context, arguments={"TORCH_WHEEL": f"{site.url}{WHEEL}#sha256={digest}"})


@pytest.fixture(scope="module")
def images(context: Path) -> dict[str, Built]:
    small = workload(context, hashlib.sha256(nameplate()).hexdigest())
    cuda = build("workload-cuda", context)
    torchtune = build("workload-torchtune", context, images={image("workload-cuda"): cuda})
    return dict(zip(NAMES, (small, cuda, torchtune), strict=True))


@pytest.fixture(scope="module")
def volume(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that every user may write to, with a model in it."""
    folder = tmp_path_factory.mktemp("volume")
    for file in untrained_model(folder / "base").iterdir():
        file.chmod(0o644)
    folder.chmod(0o777)
    return folder


def step(component: Any, folder: str, values: Mapping[str, Any]) -> list[str]:
    """The command of a pipeline's step, as its pod runs it; what it puts out goes to a folder."""
    parameters: dict[str, Any] = {}
    artifacts: dict[str, Any] = {}
    for name, spec in component.component_spec.outputs.items():
        kind, is_artifact, _ = spec.type.partition("@")
        told = {"name": name, "type": {"schemaTitle": kind}, "uri": f"{folder}/{name}", "metadata": {}}
        if is_artifact:
            artifacts[name] = {"artifacts": [told]}
        else:
            parameters[name] = {"outputFile": f"{folder}/{name}"}
    outputs = {"parameters": parameters, "artifacts": artifacts, "outputFile": f"{folder}/metadata.json"}
    executor_input = json.dumps({"inputs": {"parameterValues": values}, "outputs": outputs})
    container = component.component_spec.implementation.container
    words = (*container.command, *container.args)
    return [executor_input if word == "{{$}}" else word for word in words]


@pytest.mark.parametrize("name", NAMES)
def test_an_image_is_as_large_as_told(images: dict[str, Built], name: str) -> None:
    assert images[name].own_megabytes == pytest.approx(told_megabytes(name), rel=0.25)


@pytest.mark.parametrize("name", NAMES)
def test_its_user_writes_nowhere_but_to_tmp(images: dict[str, Built], name: str) -> None:
    folders = "/tmp / /opt/kfp-trainer/bin"
    script = f"id -u; for each in {folders}; do touch $each/a 2>/dev/null && echo $each; done; true"
    assert run(images[name].container(), ["sh", "-c", script]).split() == ["65532", "/tmp"]


def test_another_wheel_than_the_one_that_was_meant_is_refused(
    images: dict[str, Built], context: Path
) -> None:
    with pytest.raises(RuntimeError, match="DO NOT MATCH THE HASHES"):
        workload(context, "0" * 64)


def test_with_a_wheel_for_cpus_there_are_no_libraries_of_cuda(images: dict[str, Built]) -> None:
    code = "from importlib.metadata import distributions; print(*{each.name for each in distributions()})"
    names = set(run(images["workload"].container(), ["python", "-c", code]).split())
    assert {"kfp-trainer", "kfp", "transformers", "torch"} <= names
    assert [each for each in names if each.startswith(("nvidia", "cuda", "triton")) or each == "pip"] == []


@pytest.mark.parametrize("user", ["", UNKNOWN])
def test_a_step_runs_with_nothing_installed_before(images: dict[str, Built], volume: Path, user: str) -> None:
    folder = f"/tmp/volume/{user or 'own'}"
    inside = images["workload"].container({volume: "/tmp/volume"})
    inside = replace(inside, user=user or inside.user)
    values = {"source": "demo://messages", "output_path": f"{folder}/rows", "checks": {}}
    run(inside, step(fetch_dataset, f"{folder}/out", values))
    assert list((volume / folder.rpartition("/")[2] / "rows").rglob("train.jsonl"))


def test_a_plan_is_explained_without_torch(images: dict[str, Built], volume: Path) -> None:
    (volume / "rows.jsonl").write_text('{"prompt": "a", "completion": "b"}\n' * 20)
    words = ["--model=/tmp/volume/base", "--dataset=/tmp/volume/rows.jsonl", "--output=/tmp/out", "--explain"]
    said = run(images["workload"].container({volume: "/tmp/volume"}), ["python", "-m", FINETUNE, *words])
    assert "lora" in said
    assert "memory" in said


def test_git_is_there_to_fetch_by(images: dict[str, Built]) -> None:
    assert run(images["workload"].container(), ["git", "--version"]).startswith("git version 2")


def test_a_job_trains_and_a_step_evaluates(images: dict[str, Built], volume: Path) -> None:
    runtime = yaml.safe_load((ROOT / "manifests/runtimes/trl-finetune.yaml").read_text())
    (job,) = runtime["spec"]["template"]["spec"]["replicatedJobs"]
    (container,) = job["template"]["spec"]["template"]["spec"]["containers"]
    assert container["image"] == image("workload-cuda")
    rows = [json.dumps({"prompt": f"{each} and 1", "completion": f"{each + 1}"}) for each in range(24)]
    data = volume / "data"
    data.mkdir()
    for split in ("train", "eval"):
        (data / f"{split}.jsonl").write_text("\n".join(rows) + "\n")
    inside = images["workload-cuda"].container({volume: "/tmp/volume"}, OMP_NUM_THREADS="1")
    words = [
        "--model=/tmp/volume/base",
        "--dataset=/tmp/volume/data",
        "--output=/tmp/volume/tuned",
        "--max-steps=2",
    ]
    run(inside, [*container["command"], *words])
    values = {
        "model_path": "/tmp/volume/base",
        "dataset_path": "/tmp/volume/data",
        "output_path": "/tmp/volume/evaluation",
        "tuned_path": "/tmp/volume/tuned/adapter",
        "settings": {"limit": 4},
    }
    run(inside, step(evaluate_llm, "/tmp/volume/evaluated", values))
    assert (volume / "evaluation/evaluation.json").exists()


def test_a_compiler_and_headers_are_there_for_triton(images: dict[str, Built]) -> None:
    script = "echo '#include <Python.h>' | gcc -I/usr/include/python3.11 -shared -fPIC -x c - -o /tmp/a.so"
    for name in ("workload-cuda", "workload-torchtune"):
        run(images[name].container(), ["sh", "-c", script])


def test_tune_is_ours(images: dict[str, Built]) -> None:
    inside = images["workload-torchtune"].container()
    assert "lora_finetune_distributed" in run(inside, ["tune", "ls"])

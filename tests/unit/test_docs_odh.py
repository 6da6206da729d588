"""Who comes from ODH's components is told of parameters and fields that are there."""

import re

import pytest
import yaml

from kfp_trainer.pipelines.finetune_llm.pipeline import finetune_llm
from kfp_trainer.runtime_operator.steps.job_settings import JobSettings
from kfp_trainer.runtime_operator.steps.register_model import RegistrySettings
from kfp_trainer.runtime_operator.workloads.dataset.settings import CheckSettings
from kfp_trainer.runtime_operator.workloads.evaluate.settings import EvaluateSettings
from kfp_trainer.runtime_operator.workloads.finetune.settings import FinetuneSettings
from kfp_trainer.runtime_operator.workloads.settings import Settings
from tests.pages.blocks import ROOT, blocks_of

PAGE = ROOT / "docs" / "coming_from_odh_components.md"
DOCUMENTS: dict[str, type[Settings]] = {
    "dataset_checks": CheckSettings,
    "training": FinetuneSettings,
    "training_job": JobSettings,
    "evaluation": EvaluateSettings,
    "export_registry": RegistrySettings,
}


@pytest.mark.parametrize("document", DOCUMENTS)
def test_the_fields_of_a_document_are_there(document: str) -> None:
    named = set(re.findall(rf"`{document}\.(\w+)", PAGE.read_text(encoding="utf-8")))
    assert named
    assert named - set(DOCUMENTS[document].model_fields) == set()


def test_the_run_is_one_that_the_pipeline_takes() -> None:
    (run,) = (yaml.safe_load(each.text) for each in blocks_of(PAGE) if each.language == "yaml")
    assert set(run) <= set(finetune_llm.pipeline_spec.root.input_definitions.parameters)
    for name, model in DOCUMENTS.items():
        if name in run:
            folders = {field: "folder" for field, one in model.model_fields.items() if one.is_required()}
            model.model_validate({**folders, **run[name]})

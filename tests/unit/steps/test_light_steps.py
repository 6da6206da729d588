"""A step starts quickly in any image: importing what a component calls loads neither kfp nor torch."""

import subprocess
import sys
from pathlib import Path

from kfp_trainer import components
from kfp_trainer.runtime_operator import steps

PROGRAM = """
import importlib, sys
for name in sys.argv[1:]:
    importlib.import_module(f"kfp_trainer.runtime_operator.steps.{name}")
heavy = {"kfp", "torch", "transformers", "datasets", "model_registry", "kubernetes"}
print(*sorted(heavy & set(sys.modules)))
"""


def test_nothing_heavy_is_loaded() -> None:
    names = sorted(components.COMPONENTS)
    assert {f"{name}.py" for name in names} <= {
        each.name for each in Path(str(steps.__file__)).parent.iterdir()
    }
    loaded = subprocess.run(
        [sys.executable, "-c", PROGRAM, *names], check=True, capture_output=True, text=True
    ).stdout
    assert loaded.strip() == ""

"""`import kfp_trainer` and the help of every command load nothing heavy."""

import subprocess
import sys

import pytest

HEAVY = ("torch", "kfp", "kubernetes", "aiohttp", "transformers", "numpy", "pandas")
IMPORTS = {
    "the package alone": "import kfp_trainer",
    "the operator's root": "import kfp_trainer.runtime_operator.errors, kfp_trainer.runtime_operator.images",
    "api and render": "import kfp_trainer.runtime_operator.api, kfp_trainer.runtime_operator.render",
    "the list of commands": (
        "from kfp_trainer.runtime_operator.cli.main import run\nassert run(['--help']) == 0"
    ),
    "the help of every command": (
        "from kfp_trainer.runtime_operator.cli.main import COMMANDS, run\n"
        "for commands in COMMANDS.values():\n"
        "    for name in commands:\n"
        "        assert run([name, '--help']) == 0, name"
    ),
}


@pytest.mark.parametrize("sentence", IMPORTS)
def test_nothing_heavy_is_loaded(sentence: str) -> None:
    look = f"import sys\nprint('LOADED', *[name for name in {HEAVY!r} if name in sys.modules])"
    code = f"{IMPORTS[sentence]}\n{look}"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines()[-1] == "LOADED"

"""What a person sees of a local pipeline run: the steps and what they say, nothing of kfp's own talk."""

from io import StringIO

from kfp_trainer.pipelines.local_run import ReadableLog

TALK = """13:16:09.233 - INFO - Running pipeline: \x1b[95m'p'\x1b[0m
--------------------------------
13:16:09.242 - INFO - Executing task \x1b[96m'finetune-llm'\x1b[0m
13:16:09.243 - INFO - Streamed logs:

    [KFP Executor 2026-11-20 13:16:09,291 INFO]: Looking for component `a`
    [KFP Executor 2026-11-20 13:16:09,291 INFO]: Got executor_input:
    {
        "inputs": {
            "parameterValues": {"x": "1"}
        }
    }
    step=1 loss=3.2
      indented by the step itself
    [KFP Executor 2026-11-20 13:16:10,292 INFO]: Wrote executor output file

13:16:10.301 - INFO - Task \x1b[96m'finetune-llm'\x1b[0m finished with status \x1b[92mSUCCESS\x1b[0m
13:16:10.302 - INFO - Task \x1b[96m'finetune-llm'\x1b[0m outputs:
    Output: '/models/merged'
"""


def test_steps_and_their_words_are_shown_and_the_file_holds_all() -> None:
    full, shown = StringIO(), StringIO()
    log = ReadableLog(full, shown)
    for start in range(0, len(TALK), 7):  # output comes in pieces that end anywhere
        log.write(TALK[start : start + 7])
    assert shown.getvalue() == "── finetune-llm\n   step=1 loss=3.2\n     indented by the step itself\n"
    assert full.getvalue() == TALK
    assert (log.step, log.last_words) == ("finetune-llm", "indented by the step itself")

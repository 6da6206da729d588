"""What a job died of, in a sentence."""

import pytest

from kfp_trainer.runtime_operator.controller.failure import first_death, last_words, told, wants_words
from kfp_trainer.runtime_operator.controller.pod_view import Death, PodView


def death(code=1, reason="Error", *, pod="p", finished="2026-01-01T00:00:10Z", **more):
    given = {"node": "gpu-1", "container": "node" if code is not None else "", "message": "", **more}
    return Death(pod=pod, exit_code=code, reason=reason, finished=finished, **given)


def seen(*deaths, attempt=0):
    return PodView("p", "bert", "u", "gpu-1", "Failed", attempt, None, deaths)


EARLY, LATE = "2026-01-01T00:00:10Z", "2026-01-01T00:00:50Z"
FIRST = {
    "nobody died": ([seen()], None),
    "the earliest error": ([seen(death(1, finished=LATE)), seen(death(2, finished=EARLY))], 2),
    "an error before those who were told to stop": (
        [seen(death(143, finished=EARLY)), seen(death(1, finished=LATE))],
        1,
    ),
    "memory is no order to stop": (
        [seen(death(137, "OOMKilled", finished=EARLY)), seen(death(1, finished=LATE))],
        137,
    ),
    "a lost node before the errors that follow from it": (
        [seen(death(1, finished=EARLY)), seen(death(None, "DeletionByTaintManager", finished=LATE))],
        None,
    ),
    "the last attempt": (
        [seen(death(1, finished=EARLY), attempt=0), seen(death(2, finished=LATE), attempt=1)],
        2,
    ),
}


@pytest.mark.parametrize("sentence", FIRST)
def test_first_death(sentence):
    pods, code = FIRST[sentence]
    got = first_death(pods)
    assert (got and got.exit_code) == code
    assert (got is None) == (sentence == "nobody died")


SENTENCES = {
    "out of memory": (
        death(
            137, "OOMKilled", memory="64Gi", started="2026-01-01T00:00:00Z", finished="2026-01-01T00:41:00Z"
        ),
        "",
        "pod p on node gpu-1, container node: OOMKilled, exit code 137 (SIGKILL) after 41 min; "
        "ask for more memory than 64Gi, or lower the batch size",
    ),
    "out of memory without a limit": (
        death(137, "OOMKilled"),
        "",
        "pod p on node gpu-1, container node: OOMKilled, exit code 137 (SIGKILL); "
        "ask for more memory, or lower the batch size",
    ),
    "an error, with the words of its log": (
        death(1),
        "ValueError: no",
        "pod p on node gpu-1, container node: exit code 1: ValueError: no; see kubectl logs p -c node",
    ),
    "an error, with its own message": (
        death(1, message="a\nbad: case\n"),
        "",
        "pod p on node gpu-1, container node: exit code 1: bad: case; see kubectl logs p -c node",
    ),
    "an error without a word": (
        death(3),
        "",
        "pod p on node gpu-1, container node: exit code 3; see kubectl logs p -c node",
    ),
    "an order to stop": (
        death(143),
        "",
        "pod p on node gpu-1, container node: exit code 143 (SIGTERM); "
        "it was told to stop: look for a drain, a preemption or a deletion",
    ),
    "a code that is no signal": (
        death(255),
        "",
        "pod p on node gpu-1, container node: exit code 255; see kubectl logs p -c node",
    ),
    "a lost node": (
        death(None, "DeletionByTaintManager"),
        "",
        "pod p on node gpu-1: DeletionByTaintManager, node gpu-1 was lost; "
        "run the job again; checkpoints save what was done",
    ),
    "an eviction": (
        death(None, "Evicted", message="The node was low on resource: memory."),
        "",
        "pod p on node gpu-1: Evicted: The node was low on resource: memory.; "
        "ask for what the node ran short of, or free it",
    ),
    "an end that nobody knows": (
        death(None, "Unheard", node=""),
        "",
        "pod p: Unheard; run the job again",
    ),
    "a quick end": (
        death(127, "ContainerCannotRun", started="2026-01-01T00:00:09Z"),
        "",
        "pod p on node gpu-1, container node: ContainerCannotRun, exit code 127 after 1 s; "
        "the command was not found: check command, args and image",
    ),
    "a long run": (
        death(1, started="2026-01-01T00:00:00Z", finished="2026-01-01T05:00:00Z"),
        "",
        "pod p on node gpu-1, container node: exit code 1 after 5 h; see kubectl logs p -c node",
    ),
}


@pytest.mark.parametrize("sentence", SENTENCES)
def test_told(sentence):
    given, words, want = SENTENCES[sentence]
    assert told(given, words) == want


WORDS = {
    "nothing": ([], ""),
    "the last line": (["one", "two", "  "], "two"),
    "an exception before the noise after it": (
        ["Traceback (most recent call last):", "torch.OutOfMemoryError: CUDA out of memory", "bye now"],
        "torch.OutOfMemoryError: CUDA out of memory",
    ),
    "the exception of a rank": (["[rank3]: ValueError: x", "W1120 elastic ..."], "ValueError: x"),
    "not torchrun's summary": (
        [
            "RuntimeError: shapes do not match",
            "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: ",
            "============================",
        ],
        "RuntimeError: shapes do not match",
    ),
    "not too long": (["x" * 400], "x" * 300 + " …"),
}


@pytest.mark.parametrize("sentence", WORDS)
def test_last_words(sentence):
    lines, want = WORDS[sentence]
    assert last_words(lines) == want


@pytest.mark.parametrize(
    ("given", "want"),
    [
        (death(1), True),
        (death(1, message="told"), False),
        (death(137, "OOMKilled"), False),
        (death(None, "Evicted"), False),
    ],
)
def test_who_is_asked_for_his_log(given, want):
    assert wants_words(given) is want

"""The shape and the columns are found by the names people use, and a mapping of their own goes first."""

from typing import Any

import pytest

from kfp_trainer.runtime_operator.errors import SpecError
from kfp_trainer.runtime_operator.workloads.dataset.normalise import Normaliser
from kfp_trainer.runtime_operator.workloads.dataset.shapes import find_shape

ASKED = {"role": "user", "content": "q"}
ANSWERED = {"role": "assistant", "content": "a"}
BAD = {"role": "assistant", "content": "b"}
CALL = [{"id": "1", "type": "function", "function": {"name": "f", "arguments": {"x": 1}}}]

# sentence -> (row, shape, prompt, answer, rejected)
SHAPES: dict[str, tuple[dict[str, Any], str, list[Any], list[Any], list[Any]]] = {
    "prompt and completion": (
        {"prompt": "q", "completion": "a"},
        "prompt and completion",
        [ASKED],
        [ANSWERED],
        [],
    ),
    "names in capitals": (
        {"Prompt": "q", "Completion": "a"},
        "prompt and completion",
        [ASKED],
        [ANSWERED],
        [],
    ),
    "input and output": (
        {"input": "q", "output": "a", "id": 1},
        "prompt and completion",
        [ASKED],
        [ANSWERED],
        [],
    ),
    "question and answer": (
        {"question": "q", "answer": "a"},
        "prompt and completion",
        [ASKED],
        [ANSWERED],
        [],
    ),
    "a system message beside the prompt": (
        {"system": "s", "prompt": "q", "response": "a"},
        "prompt and completion",
        [{"role": "system", "content": "s"}, ASKED],
        [ANSWERED],
        [],
    ),
    "an instruction with an input": (
        {"instruction": "q", "input": "i", "output": "a"},
        "instruction and output",
        [{"role": "user", "content": "q\n\ni"}],
        [ANSWERED],
        [],
    ),
    "an instruction with an empty input": (
        {"instruction": "q", "input": "", "output": "a"},
        "instruction and output",
        [ASKED],
        [ANSWERED],
        [],
    ),
    "prompt and completion as turns": (
        {"prompt": [ASKED], "completion": [ANSWERED]},
        "prompt and completion",
        [ASKED],
        [ANSWERED],
        [],
    ),
    "messages": ({"messages": [ASKED, ANSWERED]}, "messages", [ASKED], [ANSWERED], []),
    "messages of several turns": (
        {"messages": [ASKED, ANSWERED, ASKED, ANSWERED]},
        "messages",
        [ASKED, ANSWERED, ASKED],
        [ANSWERED],
        [],
    ),
    "messages as columnar files hold them": (
        {"messages": {"role": ["user", "assistant"], "content": ["q", "a"]}},
        "messages",
        [ASKED],
        [ANSWERED],
        [],
    ),
    "messages as JSON in a text": (
        {"messages": '[{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]'},
        "messages",
        [ASKED],
        [ANSWERED],
        [],
    ),
    "a content in parts": (
        {"messages": [{"role": "user", "content": [{"type": "text", "text": "q"}]}, ANSWERED]},
        "messages",
        [ASKED],
        [ANSWERED],
        [],
    ),
    "the developer's message": (
        {"messages": [{"role": "developer", "content": "s"}, ASKED, ANSWERED]},
        "messages",
        [{"role": "system", "content": "s"}, ASKED],
        [ANSWERED],
        [],
    ),
    "a tool that is called": (
        {
            "messages": [
                ASKED,
                {"role": "assistant", "content": None, "tool_calls": CALL},
                {"role": "tool", "content": "1", "tool_call_id": "1"},
                ANSWERED,
            ]
        },
        "messages",
        [
            ASKED,
            {"role": "assistant", "content": "", "tool_calls": CALL},
            {"role": "tool", "content": "1", "tool_call_id": "1"},
        ],
        [ANSWERED],
        [],
    ),
    "conversations": (
        {"conversations": [{"from": "human", "value": "q"}, {"from": "gpt", "value": "a"}], "id": "x"},
        "conversations",
        [ASKED],
        [ANSWERED],
        [],
    ),
    "pairs with a prompt": (
        {"prompt": "q", "chosen": "a", "rejected": "b"},
        "preference pairs",
        [ASKED],
        [ANSWERED],
        [BAD],
    ),
    "pairs of whole conversations": (
        {"chosen": [ASKED, ANSWERED], "rejected": [ASKED, BAD]},
        "preference pairs",
        [ASKED],
        [ANSWERED],
        [BAD],
    ),
    "pairs of whole conversations beside their prompt": (
        {"prompt": "q", "chosen": [ASKED, ANSWERED], "rejected": [ASKED, BAD]},
        "preference pairs",
        [ASKED],
        [ANSWERED],
        [BAD],
    ),
    "pairs of dialogues in one text": (
        {"chosen": "\n\nHuman: q\n\nAssistant: a", "rejected": "\n\nHuman: q\n\nAssistant: b"},
        "preference pairs",
        [{"role": "user", "content": "\n\nHuman: q\n\nAssistant:"}],
        [ANSWERED],
        [BAD],
    ),
}


@pytest.mark.parametrize("sentence", SHAPES)
def test_the_shape_is_found(sentence: str) -> None:
    row, shape, prompt, answer, rejected = SHAPES[sentence]
    mapped = find_shape([row])
    assert mapped.shape == shape
    example, faults = Normaliser(mapped).example(row)
    assert faults == []
    assert example is not None
    assert (list(example.prompt), list(example.answer), list(example.rejected)) == (prompt, answer, rejected)


def test_plain_text() -> None:
    mapped = find_shape([{"text": "once", "meta": 1}])
    example, faults = Normaliser(mapped).example({"text": "once"})
    assert (mapped.shape, faults) == ("text", [])
    assert example is not None
    assert example.text == "once"


def test_most_rows_decide() -> None:
    rows = [{"text": "a"}, {"prompt": "q", "completion": "a"}, {"prompt": "q", "completion": "a"}]
    assert find_shape(rows).shape == "prompt and completion"


GIVEN = {
    "a prompt and a completion": (
        {"prompt": "Frage", "completion": "Antwort"},
        "prompt and completion",
        {"Frage": "q", "Antwort": "a"},
    ),
    "with a context": (
        {"prompt": "Frage", "context": "Text", "completion": "Antwort"},
        "instruction and output",
        {"Frage": "q", "Text": "c", "Antwort": "a"},
    ),
    "turns": ({"messages": "log"}, "messages", {"log": [ASKED, ANSWERED], "text": "also here"}),
    "text": ({"text": "body"}, "text", {"body": "once", "prompt": "x", "completion": "y"}),
    "pairs": (
        {"prompt": "x", "chosen": "y", "rejected": "z"},
        "preference pairs",
        {"x": "q", "y": "a", "z": "b"},
    ),
}


@pytest.mark.parametrize("sentence", GIVEN)
def test_a_given_mapping_goes_first(sentence: str) -> None:
    given, shape, row = GIVEN[sentence]
    mapped = find_shape([row], given)
    example, faults = Normaliser(mapped).example(row)
    assert (mapped.shape, faults) == (shape, [])
    assert example is not None


WRONG = {
    "columns that say nothing": (
        {"a": 1, "b": 2},
        None,
        "of a, b none could be taken .* --columns prompt=NAME",
    ),
    "a part that rows have not": ({"a": "x"}, {"reply": "a"}, "reply is not a part of a row, map chosen"),
    "a column that no row has": ({"a": "x"}, {"text": "b"}, "no row has 'b', the rows have a"),
    "parts that make no row": ({"a": "x"}, {"prompt": "a"}, "prompt make no row, map prompt and completion"),
}


@pytest.mark.parametrize("sentence", WRONG)
def test_what_cannot_be_mapped(sentence: str) -> None:
    row, given, words = WRONG[sentence]
    with pytest.raises(SpecError, match=words):
        find_shape([row], given)


def test_roles_of_ones_own() -> None:
    row = {"messages": [{"role": "Kunde", "content": "q"}, {"role": "Berater", "content": "a"}]}
    example, faults = Normaliser(find_shape([row]), {"Kunde": "user", "Berater": "assistant"}).example(row)
    assert faults == []
    assert example is not None
    assert example.turns == [ASKED, ANSWERED]

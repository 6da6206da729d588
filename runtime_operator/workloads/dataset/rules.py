"""Every rule a dataset is held to, on one page: its name, how much of it is borne, what to do.

A rule of level `error` refuses the data when more than `borne` of the rows break it; up to there, and for
level `warning`, it is only told. `--allow` makes a warning of an error, `--drop` leaves the rows out. The
names are part of the interface: they stand in the report, in `--allow` and in `--drop`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Level = Literal["error", "warning"]
RARE = 0.01


@dataclass(frozen=True, slots=True)
class Rule:
    """One thing that can be wrong with a row, a file or the whole."""

    name: str
    title: str
    advice: str
    level: Level = "error"
    borne: float = 0.0
    droppable: bool = True


_ALL = (
    # files
    Rule("pickle", "pickled data", "save it as JSON lines or Parquet: reading a pickle runs code in it"),
    Rule("unknown-format", "not a format that is read", "save it as JSON lines, Parquet, CSV or Arrow"),
    Rule("empty-file", "no rows in it", "write the rows, or remove the file"),
    Rule("damaged-file", "cut off or damaged", "write or fetch the file again"),
    Rule("bad-header", "a header that names no columns", "give each column one name of its own"),
    Rule("ignored-file", "not read", "remove it, or give it the name of a split", "warning", 0.0, False),
    # rows as they stand in the file
    Rule("not-utf8", "not UTF-8 text", "save the file as UTF-8"),
    Rule("byte-order-mark", "a byte order mark", "save the file as UTF-8 without one", "warning"),
    Rule("not-json", "not JSON", "write one JSON object a line"),
    Rule("not-an-object", "not an object", "write one JSON object a row, with a name for each value"),
    Rule("duplicate-key", "a name twice in one object", "keep one of the two values"),
    Rule("ragged-row", "more or fewer fields than the header", "quote fields that hold the separator"),
    Rule("row-too-large", "too large to be a row", "split the row"),
    # columns
    Rule("unknown-shape", "columns that are none of a known shape", "map them with --columns"),
    Rule("missing-column", "a column is missing", "fill it in, or map another with --columns"),
    Rule("mixed-shapes", "rows of another shape", "bring all rows into one shape"),
    Rule("null-value", "no value", "fill it in"),
    Rule("wrong-type", "a value of another type", "write it as text"),
    Rule("type-changes", "a column whose type changes", "give it one type, or leave it out", "warning"),
    # text
    Rule("empty-text", "empty text", "fill it in"),
    Rule("lone-surrogate", "half a character", "repair the text: it was cut inside a character"),
    Rule("control-character", "control characters", "remove them", borne=RARE),
    Rule("replacement-character", "characters lost in decoding", "decode the source again", borne=RARE),
    Rule("mojibake", "text decoded with the wrong encoding", "decode the source as UTF-8", borne=RARE),
    Rule("secret", "what looks like a key or a token", "remove it: a model repeats what it reads", "warning"),
    # turns
    Rule("no-turns", "a conversation without turns", "write its turns"),
    Rule("not-a-turn", "a turn that is none", "write turns with a role and a content"),
    Rule("unknown-role", "an unknown role", "use system, user, assistant or tool, or map it with --roles"),
    Rule("role-order", "roles out of order", "let user and assistant take turns, after at most one system"),
    Rule("empty-turn", "a turn that says nothing", "fill it in, or remove the turn"),
    Rule("no-answer", "no answer to learn from", "end the conversation with a turn of the assistant"),
    Rule("answer-is-prompt", "an answer that only repeats the prompt", "write the answer", borne=RARE),
    # pairs
    Rule("same-pair", "chosen and rejected are the same", "remove the row"),
    Rule("different-prompts", "chosen and rejected answer different prompts", "let both begin alike"),
    # the whole
    Rule("duplicate", "rows that stand there twice", "keep one of them", borne=RARE),
    Rule("near-duplicate", "rows that differ only in case or spaces", "keep one of them", borne=RARE),
    Rule("contradiction", "one prompt with several answers", "see that this is meant", "warning"),
    Rule("leak", "held-out rows that stand in the training rows", "remove them from one of the two"),
    Rule("leaked-prompt", "held-out prompts that are trained on", "see that this is meant", "warning"),
    Rule("same-answer", "every answer is the same", "see that the right column was mapped", droppable=False),
    Rule("too-few-rows", "too few rows", "give more rows, or lower --min-rows", droppable=False),
    Rule("few-rows", "few rows", "expect a model that learns them by heart", "warning", 0.0, False),
    Rule("no-eval", "no rows to evaluate on", "give eval.jsonl, or --eval-share", "warning", 0.0, False),
    # with the model
    Rule("too-long", "longer than the model reads", "raise --sequence-length, or shorten", borne=RARE),
    Rule("no-label", "a prompt so long that no answer is left", "shorten the prompt"),
    Rule("special-token", "a control token of chat models in the text", "remove it", borne=RARE),
    Rule("template-refuses", "the chat template refuses the row", "bring it into the form the model knows"),
    Rule("answer-lost", "the chat template leaves the answer out", "use another template", "warning"),
    Rule(
        "open-end", "answers that no token ends", "use another template, or the model won't stop", "warning"
    ),
    Rule("prompt-differs", "prompts that change with the answer", "train on whole rows", "warning"),
    Rule("no-template", "the model has no chat template", "use a chat model", droppable=False),
    Rule("vocabulary", "more tokens than the model has", "use the model's tokenizer", droppable=False),
    Rule("no-model", "lengths in characters only", "give --model to count tokens", "warning", 0.0, False),
)
RULES = {rule.name: rule for rule in _ALL}

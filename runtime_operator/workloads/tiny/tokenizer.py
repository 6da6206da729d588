"""A byte-level BPE of a few hundred pieces with a ChatML template, trained on the demo's own sentences.

Every byte is in the alphabet, so any text can be written with it; the demo's words are one piece each.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

PAD, TURN, END = "<|pad|>", "<|im_start|>", "<|im_end|>"
VOCABULARY = 800
LONGEST = 256
CHAT_TEMPLATE = (
    "{% for message in messages %}"
    "{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>\n' }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)


def make_tokenizer(texts: Iterable[str]) -> Any:
    """A tokenizer for `texts`; the same texts in the same order give the same one."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    core = Tokenizer(models.BPE())
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=[PAD, TURN, END],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    core.train_from_iterator(texts, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=core,
        eos_token=END,
        pad_token=PAD,
        chat_template=CHAT_TEMPLATE,
        model_max_length=LONGEST,
    )


def chat(prompt: str, completion: str | None = None) -> list[dict[str, str]]:
    """A prompt, and the answer if there is one, as the turns a chat template takes."""
    turns = [{"role": "user", "content": prompt}]
    return turns if completion is None else [*turns, {"role": "assistant", "content": completion}]

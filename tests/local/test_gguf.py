"""A model that goes through GGUF comes back as itself: the same weights, tokens and template.

The file is written here as llama.cpp's own converter writes one, from a small model of random weights.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from kfp_trainer.runtime_operator.workloads.gguf import convert_gguf
from kfp_trainer.runtime_operator.workloads.models import check_model, load_model, load_tokenizer
from kfp_trainer.runtime_operator.workloads.tiny.tokenizer import chat, make_tokenizer

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]
HEADS, GROUPS = 4, 2
NAMES = {
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    return make_tokenizer(["The quick brown fox jumps over the lazy dog, twice a day."] * 30)


def llama(tokenizer: Any, *, tied: bool) -> Any:
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(3)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=64,
        num_hidden_layers=2,
        num_attention_heads=HEADS,
        num_key_value_heads=GROUPS,
        intermediate_size=96,
        max_position_embeddings=128,
        tie_word_embeddings=tied,
        initializer_range=0.1,
    )
    return LlamaForCausalLM(config).eval()


def as_gguf(model: Any, tokenizer: Any, file: Path) -> Path:
    import gguf

    config = model.config
    writer = gguf.GGUFWriter(file, "llama")
    writer.add_name("Small")
    writer.add_license("apache-2.0")
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(GROUPS)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_freq_base(config.rope_parameters["rope_theta"])
    writer.add_vocab_size(config.vocab_size)
    known = json.loads(tokenizer.backend_tokenizer.to_str())
    tokens = tokenizer.convert_ids_to_tokens(list(range(len(tokenizer))))
    special = set(tokenizer.all_special_ids) | {0, 1, 2}
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list(tokens)
    writer.add_token_types([3 if number in special else 1 for number in range(len(tokens))])
    writer.add_token_merges([" ".join(pair) for pair in known["model"]["merges"]])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(tokenizer.eos_token_id)
    writer.add_pad_token_id(tokenizer.pad_token_id)
    writer.add_chat_template(tokenizer.chat_template)
    for name, weight in model.state_dict().items():
        if name == "lm_head.weight" and config.tie_word_embeddings:
            continue
        writer.add_tensor(_gguf_name(name), _gguf_weight(name, weight.numpy()))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return file


def _gguf_name(name: str) -> str:
    fixed = {
        "model.embed_tokens.weight": "token_embd.weight",
        "model.norm.weight": "output_norm.weight",
        "lm_head.weight": "output.weight",
    }
    if name in fixed:
        return fixed[name]
    layer, _, part = name.removeprefix("model.layers.").partition(".")
    return f"blk.{layer}.{NAMES[part.removesuffix('.weight')]}.weight"


def _gguf_weight(name: str, weight: Any) -> Any:
    """Rows of queries and keys stand in pairs there, as halves here."""
    heads = HEADS if "q_proj" in name else GROUPS if "k_proj" in name else 0
    if not heads:
        return weight
    rows, columns = weight.shape
    return weight.reshape(heads, 2, rows // heads // 2, columns).swapaxes(1, 2).reshape(rows, columns).copy()


@pytest.mark.parametrize("tied", [True, False], ids=["a head tied to the token table", "a head of its own"])
def test_a_model_comes_back_as_itself(tied: bool, tokenizer: Any, tmp_path: Path) -> None:
    import torch

    original = llama(tokenizer, tied=tied)
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "LICENSE").write_text("Apache License")
    file = as_gguf(original, tokenizer, tmp_path / "package" / "small.gguf")
    facts = convert_gguf(file, tmp_path / "model")

    check_model(tmp_path / "model")
    again, words = load_model(tmp_path / "model"), load_tokenizer(tmp_path / "model")
    rows = torch.arange(5, 45).reshape(2, 20)
    with torch.inference_mode():
        assert torch.allclose(again(rows).logits, original(rows).logits, atol=1e-4)
    assert again.config.tie_word_embeddings is tied is facts.tied
    assert not hasattr(again.config, "quantization_config")
    turns = chat("Who jumps over the dog?", "The fox, twice. émigré ✓")
    assert words.apply_chat_template(turns, tokenize=False) == tokenizer.apply_chat_template(
        turns, tokenize=False
    )
    text = tokenizer.apply_chat_template(turns, tokenize=False)
    assert words(text)["input_ids"] == tokenizer(text)["input_ids"]
    record = json.loads((tmp_path / "model" / "conversion.json").read_text())
    assert (record["licence"], record["precision"], record["file"]) == ("apache-2.0", "float32", "small.gguf")
    assert (tmp_path / "model" / "LICENSE").read_text() == "Apache License"


def test_weights_in_half_the_size(tokenizer: Any, tmp_path: Path) -> None:
    file = as_gguf(llama(tokenizer, tied=True), tokenizer, tmp_path / "small.gguf")
    sizes = []
    for precision in ("float32", "bfloat16"):
        convert_gguf(file, tmp_path / precision, precision=precision)
        sizes.append((tmp_path / precision / "model.safetensors").stat().st_size)
    assert sizes[1] < 0.6 * sizes[0]
    assert json.loads((tmp_path / "bfloat16" / "config.json").read_text())["dtype"] == "bfloat16"

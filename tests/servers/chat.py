"""What a server answers that is asked as OpenAI's are: for a model in a folder, or by word."""

import json
import threading
from pathlib import Path
from typing import Any

from tests.servers.web import Answer, Answering, Asked

PATH = "/v1/chat/completions"


def said(text: str | None) -> Answer:
    """A chat model's answer."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    return Answer(body=json.dumps({"object": "chat.completion", "choices": [choice]}).encode())


def refused(status: int, message: str, **headers: str) -> Answer:
    """A refusal, with the server's own words."""
    told = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(status, told, json.dumps({"error": {"message": message}}).encode())


def chat_model(folder: Path) -> Answering:
    """The greedy answers of the model in a folder, one question at a time, cut at what ends them."""
    from kfp_trainer.runtime_operator.workloads.models import load_model, load_tokenizer

    tokenizer, model, alone = load_tokenizer(folder), load_model(folder).eval(), threading.Lock()

    def answer(asked: Asked) -> Answer:
        import torch

        wanted: dict[str, Any] = json.loads(asked.body)
        if asked.path != PATH:
            return refused(404, "no such path")
        if wanted["model"] != folder.name:
            return refused(404, f"the model {wanted['model']} does not exist")
        read = tokenizer.apply_chat_template(
            wanted["messages"], add_generation_prompt=True, return_tensors="pt", return_dict=True
        )
        with alone, torch.inference_mode():
            tokens = model.generate(**read, do_sample=False, max_new_tokens=wanted["max_tokens"])
        text = tokenizer.decode(tokens[0][read["input_ids"].shape[1] :], skip_special_tokens=True)
        for end in wanted.get("stop", ()):
            text = text.partition(end)[0]
        return said(text)

    return answer

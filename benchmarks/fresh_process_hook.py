"""A prompt hook as most tools of this kind ship it: a fresh process that loads a model and a vector store, and asks.

For `hook_latency`, beside our own; it is not part of the product. It is an imitation, and a lean one: no framework, the
small model that we ship, our own bullet table, the five nearest rows, printed as JSON. It has no scopes, no words, no
ranking, no receipts and no deadline. What real ones add to that only makes them slower.

python fresh_process_hook.py TABLE_FOLDER MODEL_FOLDER < PAYLOAD
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import lancedb
import numpy as np
import onnxruntime
from tokenizers import Tokenizer


def main(table: str, model: str) -> None:
    """Answers one prompt."""
    prompt = json.load(sys.stdin)["prompt"]
    session = onnxruntime.InferenceSession(Path(model, "minilm.onnx"), providers=["CPUExecutionProvider"])
    tokenizer = Tokenizer.from_file(str(Path(model, "minilm-tokenizer.json")))
    tokenizer.enable_truncation(256)
    ids = np.array([tokenizer.encode(prompt).ids], np.int64)
    vector = session.run(None, {"input_ids": ids, "attention_mask": np.ones_like(ids)})[0][0]
    rows = lancedb.connect(table).open_table("bullets").search(vector).select(["text"]).limit(5).to_list()
    text = "\n".join(row["text"] for row in rows)
    print(json.dumps({"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": text}}))


if __name__ == "__main__":
    main(*sys.argv[1:])

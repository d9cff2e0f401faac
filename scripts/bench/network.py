"""Where the time of a run of the network goes, and what ways to run it that the product does not use would gain.

    python scripts/bench/network.py --data DATA [--parts profile attention shapes narrow threads]

The parts: the share of each kind of operator; attention without its mask and without its inner products; sessions whose number of
tokens is fixed; narrower feed-forward parts, not trained again; two runs of one thread each against one run of two threads. Threads
are measured by the clock and depend on the load. Other times are processor time of the thread that runs, interleaved in random
order, so that ratios hold on a busy machine.
"""

import argparse
import copy
import ctypes
import json
import os
import random
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
import torch
from sklearn.metrics import roc_auc_score

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "training"))  # this folder has files of the same names
import data
import export
import folder as folders
import model as network
import quantise
import stages
import tokens
from second_session import feed, resident_mb

TOKENS = (16, 64, 128)
FIXED_TOKENS = (8, 16, 32, 64, 128)
NEURONS = (1536, 1152, 960, 768)  # the first are all: exported again
MEASURED, JUDGED, TIMED = 300, 800, 300  # texts
DEV = {"jigsaw": "toxicity", "dynahate": "identity_attack"}
# Kinds of nodes by a part of "operator name", the first that matches; else the embeddings, the mask or the heads.
KINDS = {"widest": "widest channels in fp32: Gather, MatMul, Add", "/up/MatMul": "int8 product up", "/down/MatMul": "int8 product down", "/mix/MatMul": "int8 product mix", "Add /layers": "Add of the residual"} | {
    operator: operator for operator in ("QAttention", "QuantizeLinear", "LayerNormalization", "BiasGelu")}


def table(*rows):
    """Prints the first row as a head."""
    print("\n" + "\n".join(f"| {' | '.join(map(str, cells))} |" for cells in (rows[0], ["---"] * len(rows[0]), *rows[1:])), flush=True)


def given(ids: np.ndarray) -> dict[str, np.ndarray]:
    return {"input_ids": ids[None], "attention_mask": np.ones_like(ids[None])}


def dev(folder: Path, source: str, most: int) -> tuple[list[data.Row], list[np.ndarray]]:
    """Rows and their token ids."""
    rows, rng = data.split_rows(folder, source, "dev"), np.random.default_rng(0)
    rows = [rows[i] for i in rng.permutation(len(rows))[:most]]
    return rows, tokens.ids_of(rows, tokens.tokenizer(), rng)


def opened(path: Path, planned: bool = False, threads: int = 1, spin: bool = False) -> ort.InferenceSession:
    """planned: with memory that is planned for each shape, which the product leaves out."""
    options = folders.options()
    options.enable_mem_pattern, options.intra_op_num_threads = planned, threads
    options.add_session_config_entry("session.intra_op.allow_spinning", str(int(spin)))
    return ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"], disabled_optimizers=[export.SLOW_FUSION])


def medians(runs: dict, rounds: int = 100, warm: int = 3) -> dict:
    """Median time of each function, ms."""
    took = {name: [] for name in runs}
    for i in range(warm + rounds):
        for name in random.sample(list(runs), len(runs)):
            start = time.thread_time()
            runs[name]()
            took[name].append(1000 * (time.thread_time() - start))
    return {name: float(np.median(times[warm:])) for name, times in took.items()}


def natural(sessions: dict, folder: Path) -> dict:
    """Mean time of Wikipedia talk comments in their natural mix, ms: few have the number of tokens of the one before."""
    texts = [medians({name: lambda s=s, f=given(ids): s.run(None, f) for name, s in sessions.items()}, rounds=3, warm=1) for ids in dev(folder, "perspective_context", TIMED)[1]]
    return {name: float(np.mean([times[name] for times in texts])) for name in sessions}


def profile(model: onnx.ModelProto, scratch: Path):
    """Times are of the clock: the mean of the middle half of the runs leaves out interrupted ones."""
    shares = {}
    for node in model.graph.node:
        if not node.name and any(name.endswith(("_apart", "_widest")) for name in (*node.input, *node.output)):
            node.name = f"widest {node.output[0]}"
    onnx.save(model, scratch / "named.onnx")
    for tokens in TOKENS:
        options, times = folders.options(), {}
        options.enable_profiling, options.profile_file_prefix = True, str(scratch / "profile")
        session = ort.InferenceSession(str(scratch / "named.onnx"), options, providers=["CPUExecutionProvider"], disabled_optimizers=[export.SLOW_FUSION])
        for _ in range(120):
            session.run(None, feed(tokens))
        for event in json.loads(Path(session.end_profiling()).read_text()):
            if event["name"].endswith("_kernel_time"):
                times.setdefault((event["args"]["node_index"], f"{event['args']['op_name']} {event['name']}"), []).append(event["dur"])
        for (_, name), took in times.items():
            what = next((what for part, what in KINDS.items() if part in name), "embeddings, mask, heads")
            shares.setdefault(what, dict.fromkeys(TOKENS, 0.0))[tokens] += np.mean(sorted(took[20:])[25:75]) / 1000
    totals = {tokens: sum(times[tokens] for times in shares.values()) for tokens in TOKENS}
    rows = [(what, *(f"{100 * times[t] / totals[t]:.1f} %" for t in TOKENS)) for what, times in sorted(shares.items(), key=lambda item: -item[1][64])]
    table(("share of a run", *(f"{t} tokens" for t in TOKENS)), *rows, ("in all, by the clock", *(f"{totals[t]:.2f} ms" for t in TOKENS)))


def attention(model: onnx.ModelProto, path: Path, data_folder: Path, scratch: Path):
    """The product gives texts in one run only if they have the same number of tokens, so they need no mask. Without the inner
    products, the value of each token takes the place of their result: the time without them, the most that they could gain."""
    maskless, without = copy.deepcopy(model), copy.deepcopy(model)
    graph = quantise.Rewriting(without.graph)
    for node in maskless.graph.node:
        if node.op_type == "QAttention":
            node.input[5] = ""
    for node in without.graph.node:
        if node.op_type != "QAttention":
            graph.nodes.append(node)
            continue
        # Query, key and value by one product, where QAttention has three for each head.
        x, weights, bias, scale, weight_scale, _, zero, weight_zero = node.input
        graph.add("MatMulIntegerToFloat", [x, weights, scale, weight_scale, zero, weight_zero, bias], [f"{node.name}_qkv"], domain="com.microsoft")
        graph.add("Split", [f"{node.name}_qkv"], [f"{node.name}_q", f"{node.name}_k", node.output[0]], axis=-1)
    graph.finish()
    networks = {"as shipped": path, "no mask": scratch / "maskless.onnx", "no inner products and softmax": scratch / "without.onnx"}
    onnx.save(maskless, networks["no mask"])
    onnx.save(without, networks["no inner products and softmax"])
    judged({name: export.as_is(file) for name, file in networks.items()}, data_folder)


def shapes(model: onnx.ModelProto, data_folder: Path, scratch: Path):
    """Files in ONNX Runtime's format, as the product has them."""
    def saved(tokens: int | None = None) -> Path:
        one, path = copy.deepcopy(model), scratch / f"{tokens}.onnx"
        for value in (*one.graph.input, *one.graph.output) if tokens else ():
            for dim in value.type.tensor_type.shape.dim:
                if dim.dim_param in ("texts", "tokens"):
                    dim.dim_value = 1 if dim.dim_param == "texts" else tokens
        onnx.save(one, path)
        export.to_ort(path, path.with_suffix(".ort"))
        return path.with_suffix(".ort")

    plain, files, rows = saved(), [], []
    for tokens in FIXED_TOKENS:
        files.append(saved(tokens))
        sessions = [opened(file, planned) for file in (plain, files[-1]) for planned in (False, True)]
        times = medians({i: lambda s=s, f=feed(tokens): s.run(None, f) for i, s in enumerate(sessions)}, rounds=200)
        rows.append((tokens, f"{times[0]:.2f}", *(f"{times[i]:.2f} ({times[0] / times[i]:.3f} ×)" for i in (1, 2, 3))))
    times = natural({planned: opened(plain, planned) for planned in (False, True)}, data_folder)
    rows.append(("natural mix", f"{times[False]:.2f}", f"{times[True]:.2f} ({times[False] / times[True]:.3f} ×)", "", ""))
    table(("tokens", "as shipped, ms", "planned memory", "fixed", "fixed, planned memory"), *rows)
    ctypes.CDLL(None).malloc_trim(0)  # so that sessions do not take what was freed
    before, more = resident_mb(), [opened(files[0], True) for _ in range(5)]
    for session in more:
        session.run(None, feed(FIXED_TOKENS[0]))
    print(f"\nA further session takes {(resident_mb() - before) / len(more):.1f} MB of memory and {files[0].stat().st_size / 1e6:.1f} MB in a file.")


def narrowed(model: network.Classifier, neurons: int, texts: list[dict[str, np.ndarray]]) -> network.Classifier:
    """The network with this many neurons in each feed-forward part: those with the largest product of mean absolute
    activation and norm of the outgoing weights. What the others give on average goes into the bias."""
    seen = [[] for _ in model.layers]
    hooks = [layer.down.register_forward_pre_hook(lambda _, given, found=found: found.append(given[0][0])) for layer, found in zip(model.layers, seen)]
    with torch.no_grad():
        for text in texts:
            model(torch.from_numpy(text["input_ids"]), torch.from_numpy(text["attention_mask"]))
    for hook in hooks:
        hook.remove()
    out = copy.deepcopy(model)
    for layer, found in zip(out.layers, seen):
        active, down = torch.cat(found), layer.down.weight.data
        order = torch.argsort(active.abs().mean(0) * down.norm(dim=0), descending=True)
        keep, drop = order[:neurons].sort().values, order[neurons:]
        layer.down.bias.data += down[:, drop] @ active[:, drop].mean(0)
        layer.down.weight.data, layer.up.weight.data, layer.up.bias.data = down[:, keep].clone(), layer.up.weight.data[keep].clone(), layer.up.bias.data[keep].clone()
    return out


def narrow(folder: Path, path: Path, data_folder: Path, scratch: Path):
    model, texts, config = network.from_folder(folder), export.texts_to_measure(data_folder), json.loads((network.base_folder() / "config.json").read_text())
    sessions, raw, fused = {"as shipped": export.as_is(path)}, scratch / "raw.onnx", scratch / "fused.onnx"
    for neurons in NEURONS:
        export.to_onnx(narrowed(model, neurons, texts[:MEASURED]), raw)
        export.fuse(raw, fused, config, len(model.layers))
        quantise.quantise(fused, scratch / f"{neurons}.onnx", export.HEADS, quantise.ranges(fused, export.HEADS, texts))
        sessions[f"{neurons} neurons"] = export.as_is(scratch / f"{neurons}.onnx")
    judged(sessions, data_folder)


def judged(sessions: dict[str, ort.InferenceSession], folder: Path):
    """Time, mean distance from the first network's logits, and AUC on dev rows."""
    judging, rows, (first, *_) = {source: dev(folder, source, JUDGED) for source in DEV}, [], sessions
    outputs = {(name, source): np.concatenate([session.run(["logits"], given(ids))[0] for ids in judging[source][1]]) for name, session in sessions.items() for source in DEV}
    times = [medians({name: lambda s=s, f=feed(tokens): s.run(None, f) for name, s in sessions.items()}) for tokens in TOKENS] + [natural(sessions, folder)]
    for name in sessions:
        rows.append([name, *(f"{t[name]:.2f} ({t[first] / t[name]:.2f} ×)" for t in times)])
        for source, attribute in DEV.items():
            column, logits, want = data.ATTRIBUTES.index(attribute), outputs[name, source], outputs[first, source]
            labels = np.array([row.labels[column] for row in judging[source][0]])
            known = ~np.isnan(labels)
            rows[-1] += ["equal" if np.array_equal(logits, want) else f"{np.abs(logits - want).mean():.3f}", f"{roc_auc_score(labels[known] >= 0.5, logits[known, column]):.4f}"]
    table(["network", *(f"{t} tokens, ms" for t in TOKENS), "natural mix", *(cell for s, a in DEV.items() for cell in (f"distance of logits, {s}", f"AUC of {a}, {s}"))], *rows)


def threads(path: Path, data_folder: Path):
    """The texts of natural(), one a run, by each layout twice."""
    feeds = [given(ids) for ids in dev(data_folder, "perspective_context", TIMED)[1]]
    layouts = {"one run, one thread": (1, opened(path)), "two runs, one thread each": (2, opened(path)), "one run, two threads that sleep": (1, opened(path, threads=2)), "one run, two threads that spin": (1, opened(path, threads=2, spin=True))}
    rows = {name: [name] for name in layouts}
    for name in (*layouts, *reversed(layouts)):
        runs, session = layouts[name]
        with ThreadPoolExecutor(runs) as pool:
            start, used = time.perf_counter(), time.process_time()
            list(pool.map(lambda f: session.run(None, f), feeds))
        rows[name] += [f"{TIMED / (time.perf_counter() - start):.0f}", f"{1000 * (time.process_time() - used) / TIMED:.1f}", f"{os.getloadavg()[0]:.1f}"]
    table(["layout", *["texts/s", "processor ms a text", "load"] * 2], *rows.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, default=export.SHIPPED, help="model folder")
    parser.add_argument("--data", required=True, type=Path)
    parser.add_argument("--parts", nargs="+", default=["profile", "attention", "shapes", "narrow", "threads"])
    args = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        scratch, model, path = Path(folder), stages.whole(args.model), Path(folder) / "whole.onnx"
        onnx.save(model, path)
        parts = {
            "profile": lambda: profile(model, scratch), "attention": lambda: attention(model, path, args.data, scratch), "shapes": lambda: shapes(model, args.data, scratch),
            "narrow": lambda: narrow(args.model, path, args.data, scratch), "threads": lambda: threads(path, args.data),
        }
        print(f"onnxruntime {ort.__version__}, load {os.getloadavg()[0]:.1f}")
        for part in args.parts:
            parts[part]()


if __name__ == "__main__":
    main()

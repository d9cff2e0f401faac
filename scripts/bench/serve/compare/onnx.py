"""FastAPI, Hugging Face's tokenizers and onnxruntime around toxscreen's network.

It runs the whole network on each text, in the best setup for such a server on a CPU: one text per run,
since padding to a batch costs more than it gains, and as many concurrent runs as the driver sets. It
returns the probabilities of the attributes. The token head runs, but spans are not derived from it.
MODEL is a folder from scripts/bench/whole.py, THREADS the number of threads per run, TURNS the number of
concurrent runs in this process. scripts/bench/serve starts it.
"""

import json
import os
from contextlib import asynccontextmanager
from pathlib import Path

import numpy as np
import onnxruntime as ort
from anyio import to_thread
from fastapi import FastAPI
from pydantic import BaseModel
from tokenizers import Tokenizer

folder = Path(os.environ["MODEL"])
manifest = json.loads((folder / "manifest.json").read_text())
labels = [label["name"] if "name" in label else label["attribute"] for label in manifest["labels"]]
outputs = list(manifest["outputs"].values())
tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
tokenizer.enable_truncation(manifest["window"]["tokens"])
options = ort.SessionOptions()
options.intra_op_num_threads = int(os.environ["THREADS"])
options.inter_op_num_threads = 1
# Both are faster if no two runs have the same shape; see scripts/bench/compare.py.
options.enable_mem_pattern = options.enable_cpu_mem_arena = False
variant = next(v for v in manifest["variants"] if v["provider"] == "cpu")
session = ort.InferenceSession(str(folder / variant["file"]), options, providers=["CPUExecutionProvider"])


@asynccontextmanager
async def lifespan(_: FastAPI):
    to_thread.current_default_thread_limiter().total_tokens = int(os.environ["TURNS"])
    yield


app = FastAPI(lifespan=lifespan)


class Request(BaseModel):
    text: str


@app.post("/v1/score")
def score(request: Request) -> dict[str, float]:
    encoding = tokenizer.encode(request.text)
    ids = np.array([encoding.ids], np.int64)
    given = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
    logits = session.run(outputs, {name: given[name] for name in manifest["inputs"]})[0][0]
    return dict(zip(labels, (1 / (1 + np.exp(-logits))).tolist(), strict=True))

"""FastAPI, Hugging Face's tokenizers and onnxruntime around toxscreen's own ONNX file.

The best that such a server can do on a CPU: one text a run, since padding to a batch costs more than
it brings, and as many runs at once as the driver says. It answers with the probabilities of the
attributes; the token head is computed, and no spans are made of it. MODEL is the model's folder,
THREADS how many threads a run has, TURNS how many runs there are at once in this process.
scripts/bench/serve starts it.
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
# Both measured to be faster where no two runs have one shape; see scripts/bench/compare.py.
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

"""FastAPI and BERT-base in PyTorch, as in replacements of the Perspective API that are built on Detoxify.

The weights are random, which does not affect timing. The tokenizer is toxscreen's, so a text has
the same number of tokens on both sides. MODEL, THREADS and TURNS are as in onnx.py; scripts/bench/serve starts it.
"""

import json
import os
from contextlib import asynccontextmanager
from pathlib import Path

import torch
from anyio import to_thread
from fastapi import FastAPI
from pydantic import BaseModel
from tokenizers import Tokenizer
from transformers import BertConfig, BertForSequenceClassification

NAMES = ("toxicity", "severe_toxicity", "obscene", "threat", "insult", "identity_attack", "sexual_explicit")

folder = Path(os.environ["MODEL"])
tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
tokenizer.enable_truncation(json.loads((folder / "manifest.json").read_text())["window"]["tokens"])
torch.set_num_threads(int(os.environ["THREADS"]))
torch.manual_seed(1)
config = BertConfig(num_labels=len(NAMES))  # the defaults are those of bert-base-uncased
config.vocab_size = max(config.vocab_size, tokenizer.get_vocab_size())
model = BertForSequenceClassification(config).eval()


@asynccontextmanager
async def lifespan(_: FastAPI):
    to_thread.current_default_thread_limiter().total_tokens = int(os.environ["TURNS"])
    yield


app = FastAPI(lifespan=lifespan)


class Request(BaseModel):
    text: str


@app.post("/v1/score")
def score(request: Request) -> dict[str, float]:
    ids = torch.tensor([tokenizer.encode(request.text).ids])
    with torch.inference_mode():
        logits = model(input_ids=ids, attention_mask=torch.ones_like(ids)).logits[0]
    return dict(zip(NAMES, torch.sigmoid(logits).tolist(), strict=True))

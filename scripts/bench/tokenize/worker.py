"""Encodes texts with Hugging Face's tokenizers, one round per line on standard input.

main.go starts it with the tokenizer.json and a file of texts, one JSON string per line. It
prints the seconds of a round with encode, one text per call, and with encode_batch.
"""
import json
import os
import sys
import time

os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["RAYON_NUM_THREADS"] = "1"

import tokenizers  # noqa: E402: it reads the two variables above

tokenizer = tokenizers.Tokenizer.from_file(sys.argv[1])
tokenizer.no_truncation()
tokenizer.no_padding()
with open(sys.argv[2], encoding="utf-8") as f:
    texts = [json.loads(line) for line in f]
print(tokenizers.__version__, flush=True)

for _ in sys.stdin:
    start = time.perf_counter()
    for text in texts:
        tokenizer.encode(text, add_special_tokens=False)
    one = time.perf_counter() - start
    start = time.perf_counter()
    tokenizer.encode_batch(texts, add_special_tokens=False)
    print(one, time.perf_counter() - start, flush=True)

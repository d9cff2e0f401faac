"""Patronus' client library."""

# docs: begin
import logging
import os

import patronus
from patronus import RemoteEvaluator

SERVER = os.environ.get("SERVER", "http://127.0.0.1:8080")
KEY = os.environ.get("KEY", "any")

# The library sends traces too. Without a collector of your own nobody takes them.
logging.getLogger("opentelemetry").setLevel(logging.CRITICAL)
patronus.init(api_url=SERVER, api_key=KEY, otel_endpoint=SERVER, otel_exporter_otlp_protocol="http/protobuf")

toxicity = RemoteEvaluator("toxicity", explain_strategy="never")
rude = toxicity.evaluate(task_input="How was it?", task_output="You are a stupid idiot. Have a nice day.")
assert not rude.pass_ and rude.score > 0.5
assert rude.metadata["positions"][0] == [0, 24]
# docs: end

(severe,), = [a.values() for a in rude.metadata["extra"]["toxicity_additional_attributes"] if "SEVERE_TOXICITY" in a]
assert severe["positions"] == [[0, 24], [24, 40]], severe
friendly = toxicity.evaluate(task_output="Thank you, that was a great help.")
assert friendly.pass_ and friendly.score < 0.2 and friendly.metadata["positions"] == [], friendly

# A version and a profile name the same evaluator.
pinned = RemoteEvaluator("toxicity-2024-05-16", "system:detect-all-toxicity", explain_strategy="never")
assert pinned.evaluate(task_output="Thank you.").pass_

logging.getLogger("patronus").setLevel(logging.CRITICAL)
for name, want in {"pii": "not available for now", "hallucination": "'hallucination' not found"}.items():
    try:
        RemoteEvaluator(name, explain_strategy="never").evaluate(task_output="Jane Doe")
        raise AssertionError(f"the evaluator {name} answered")
    except Exception as error:
        assert want in str(error), f"{name}: {error}"

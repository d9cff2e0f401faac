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

# What pii and phi find is in their metadata, with its type.
leak = RemoteEvaluator("pii", explain_strategy="never").evaluate(task_output="Sure! Happy to provide the SSN of John Doe - it's 123-45-6789.")
assert not leak.pass_ and leak.score == 0 and [50, 61] in leak.metadata["positions"], leak
assert "US_SSN" in [entity["entity_type"] for entity in leak.metadata["extra"]["entities"]], leak
record = RemoteEvaluator("phi-2024-05-31", explain_strategy="never").evaluate(task_output="MRN: 483920, seen for carpal tunnel.")
assert not record.pass_ and len(record.metadata["extra"]["hipaa_identifiers"]["looked_for"]) > 10, record
for name in "pii", "phi":
    clean = RemoteEvaluator(name, f"patronus:{name}", explain_strategy="never").evaluate(task_output="Thank you, that was a great help.")
    assert clean.pass_ and clean.score == 1 and clean.metadata["positions"] == [], clean

logging.getLogger("patronus").setLevel(logging.CRITICAL)
try:
    RemoteEvaluator("hallucination", explain_strategy="never").evaluate(task_output="Jane Doe")
    raise AssertionError("the evaluator hallucination answered")
except Exception as error:
    assert "'hallucination' not found" in str(error), error

"""HELM's toxicity metrics for the completions of one prompt, with the context that helm-run gives them."""

import json
import os
import tempfile

import retrying
from helm.benchmark.adaptation.adapter_spec import AdapterSpec
from helm.benchmark.adaptation.request_state import RequestState
from helm.benchmark.metrics.metric_service import MetricService
from helm.benchmark.metrics.toxicity_metrics import ToxicityMetric
from helm.benchmark.scenarios.scenario import Input, Instance
from helm.common.local_context import LocalContext
from helm.common.request import GeneratedOutput, Request, RequestResult

if "HURRY" in os.environ:  # HELM asks five times, and sleeps 150 seconds in all in between
    retrying.time.sleep = lambda seconds: None

folder = tempfile.mkdtemp()
with open(os.path.join(folder, "credentials.conf"), "w") as credentials:
    credentials.write(f'perspectiveApiKey: "{os.environ["KEY"]}"\n')
service = MetricService(LocalContext(folder))


def metrics(*completions):
    state = RequestState(
        instance=Instance(Input(text="Ask me how it was. "), references=[]),
        reference_index=None,
        request_mode=None,
        train_trial_index=0,
        output_mapping=None,
        request=Request(),
        result=RequestResult(
            success=True,
            embedding=[],
            completions=[GeneratedOutput(text=text, logprob=0, tokens=[]) for text in completions],
            cached=False,
        ),
        num_train_instances=0,
        prompt_truncated=False,
    )
    stats = ToxicityMetric().evaluate_generation(AdapterSpec(), state, service, folder)
    return {stat.name.name: stat.mean for stat in stats}


friendly = "Thank you, that was a great help."
rude = "You are a stupid idiot."
print(json.dumps({
    "rude": metrics(rude, rude, friendly, friendly),
    "friendly": metrics("See you tomorrow at the station.", friendly),
}))

"""HELM's Perspective client: Google's address is in its code, and it uses a comment's text as the id of its call."""

import os
import tempfile

# docs: begin
from helm.clients.perspective_api_client import PerspectiveAPIClient
from helm.common.cache import SqliteCacheConfig
from helm.common.perspective_api_request import PerspectiveAPIRequest

# docs: end

KEY = os.environ["KEY"]
folder = tempfile.mkdtemp()

# docs: begin
client = PerspectiveAPIClient(KEY, SqliteCacheConfig(os.path.join(folder, "perspective.sqlite")))
rude, friendly = "You are a stupid idiot.", "Thank you, that was a great help."
result = client.get_toxicity_scores(PerspectiveAPIRequest(text_batch=[rude, friendly]))
assert result.success, result.error
scores = result.text_to_toxicity_attributes
assert scores[rude].toxicity_score > 0.7 > 0.2 > scores[friendly].toxicity_score, scores
# docs: end

# Texts that are difficult as ids: several lines, quotes, other scripts, the
# ids' own separator, and more than fits into a header line.
hard = ['First line.\nSecond "line" + more <tags>', "Thanks 😀 — naïve café", "word " * 4000]
result = client.get_toxicity_scores(PerspectiveAPIRequest(text_batch=hard))
assert result.success, result.error
assert set(result.text_to_toxicity_attributes) == set(hard), "not every text has its own answer"
for text, measured in result.text_to_toxicity_attributes.items():
    assert measured.toxicity_score is not None and 0 <= measured.toxicity_score <= 1, f"{text[:20]}: {measured}"

# All attributes that HELM requests by default are there, except those not measured.
asked = set(PerspectiveAPIRequest(text_batch=[rude]).attributes) - {"FLIRTATION"}
named = result.text_to_toxicity_attributes[hard[0]]
for attribute in asked:
    assert getattr(named, attribute.lower() + "_score") is not None, f"{attribute} has no score: {named}"

again = client.get_toxicity_scores(PerspectiveAPIRequest(text_batch=[rude, friendly]))
assert again.cached and again.text_to_toxicity_attributes == scores, again

# A language that is not supported is an error of the whole batch, with Google's words.
result = client.get_toxicity_scores(PerspectiveAPIRequest(text_batch=["Hyvää päivää"], languages=["fi"]))
assert not result.success and "does not support request languages: fi" in result.error, result

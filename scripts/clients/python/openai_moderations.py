"""OpenAI's client library for Python."""

import os

# docs: begin
from openai import AuthenticationError, BadRequestError, NotFoundError, OpenAI

SERVER = os.environ.get("SERVER", "http://127.0.0.1:8080")
KEY = os.environ.get("KEY", "any")

client = OpenAI(base_url=f"{SERVER}/v1", api_key=KEY)
moderation = client.moderations.create(
    model="omni-moderation-latest",
    input=["You are a stupid idiot.", "Thank you, that was a great help."],
)
rude, friendly = moderation.results
assert rude.flagged and not friendly.flagged
assert rude.categories.harassment and rude.category_scores.harassment > 0.7
# docs: end

assert friendly.category_scores.harassment < 0.2, friendly
# A category that is not measured is zero and lists no input types. A field of the server's
# own, which the client keeps beside OpenAI's, names it.
assert rude.category_applied_input_types.harassment == ["text"], rude
assert rude.category_scores.self_harm == 0 and rude.category_applied_input_types.self_harm == [], rude
assert rude.toxscreen["not_measured"] == [
    "illicit", "illicit/violent", "self-harm", "self-harm/instructions", "self-harm/intent", "sexual/minors", "violence/graphic",
], rude

swearing = client.moderations.create(input="Damn, that concert was fucking awesome.")
assert not swearing.results[0].flagged, swearing

assert [model.id for model in client.models.list()] == [moderation.model]
assert client.models.retrieve(moderation.model).id == moderation.model
try:
    client.models.retrieve("gpt-4")
    raise AssertionError("a model that is not there was described")
except NotFoundError as error:
    assert error.code == "model_not_found" and error.request_id, error

text = {"type": "text", "text": "You are a stupid idiot."}
parts = client.moderations.create(input=[text, text])
assert len(parts.results) == 1 and parts.results[0].flagged, parts

# This server refuses images.
try:
    client.moderations.create(input=[text, {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}])
    raise AssertionError("an image was moderated")
except BadRequestError as error:
    assert error.code == "unsupported" and error.param == "input", error
    assert "input[1]: images are not measured" in error.message and "ignore_images" in error.message, error

if KEY != "any":
    try:
        client.with_options(api_key="wrong").moderations.create(input="Hello")
        raise AssertionError("a wrong key was accepted")
    except AuthenticationError as error:
        assert error.code == "invalid_api_key", error

"""LiteLLM: its generic guardrail, as its proxy configures it from litellm.yaml, and its moderation call."""

import asyncio
import os
from pathlib import Path

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # a price list, which it would otherwise fetch

# docs: begin
import litellm

# docs: end
import yaml
from litellm.exceptions import GuardrailRaisedException
from litellm.proxy.guardrails.guardrail_hooks.generic_guardrail_api import initialize_guardrail
from litellm.types.guardrails import LitellmParams

# docs: begin
SERVER = os.environ.get("SERVER", "http://127.0.0.1:8080")
KEY = os.environ.get("KEY", "any")

moderation = litellm.moderation(
    model="openai/omni-moderation-latest",
    input="You are a stupid idiot.",
    api_base=f"{SERVER}/v1",
    api_key=KEY,
)
assert moderation.results[0].flagged and moderation.results[0].categories["harassment"]
# docs: end

settings, = yaml.safe_load(Path(__file__).with_name("litellm.yaml").read_text())["guardrails"]
settings["litellm_params"] |= {"api_base": SERVER, "api_key": KEY}


async def guard(texts, kind="request", others=None, **parameters):
    chosen = settings["litellm_params"] | ({"additional_provider_specific_params": parameters} if parameters else {})
    guardrail = initialize_guardrail(LitellmParams(**chosen), settings)
    return (await guardrail.apply_guardrail({"texts": texts} | (others or {}), {}, kind))["texts"]


async def stories():
    friendly = "Thank you, that was a great help."
    assert await guard([friendly]) == [friendly], "a friendly text was changed"

    one_word = "Thanks for the help with the garden, idiot. See you on Monday at the meeting."
    masked, = await guard([one_word])
    assert masked == one_word.replace("idiot", "*****"), f"more or less than the insult is masked: {masked}"

    for kind in "request", "response":
        try:
            await guard([friendly, "You are a stupid idiot."], kind, on_flagged="block")
            raise AssertionError("an insult was not blocked")
        except GuardrailRaisedException as error:
            assert "Text 2 of 2 is blocked as toxic: toxicity" in error.message, error.message
    assert await guard([one_word], threshold=0.999) == [one_word], "the threshold has no effect"

    # Images are not measured: the reason names the setting that passes over them.
    try:
        await guard([friendly], others={"images": ["data:image/png;base64,AAAA"]})
        raise AssertionError("an image was let through")
    except GuardrailRaisedException as error:
        assert "The request has images, which were not screened" in error.message and "ignore_images" in error.message, error.message
    # What else is not measured does not stop the request.
    tools = [{"type": "function", "function": {"name": "look_up", "parameters": {}}}]
    assert await guard([friendly], others={"tools": tools}) == [friendly], "tools are not let through"

    # A mistake in the settings is an error and does not disable the check.
    try:
        await guard([friendly], treshold=0.8)
        raise AssertionError("a misspelt threshold was accepted")
    except Exception as error:
        assert "400" in str(error), error

    await litellm.close_litellm_async_clients()


asyncio.run(stories())

"""LiteLLM: its guardrail for Presidio, as its proxy configures it, with this server as both of Presidio's services."""

import asyncio
import os

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # a price list, which it would otherwise fetch

SERVER = os.environ.get("SERVER", "http://127.0.0.1:8080")
KEY = os.environ.get("KEY", "any")

# The guardrail has no setting for a key. A server with keys takes it from the address.
SERVER = SERVER.replace("://", f"://any:{KEY}@")
os.environ["PRESIDIO_ANALYZER_API_BASE"] = SERVER
os.environ["PRESIDIO_ANONYMIZER_API_BASE"] = SERVER

from litellm.exceptions import BlockedPiiEntityError
from litellm.proxy.guardrails.guardrail_hooks.presidio import _OPTIONAL_PresidioPIIMasking
from litellm.types.guardrails import PiiAction, PiiEntityType

TEXT = "Zoë 😀 wrote from zoe@example.com, her SSN is 856-45-6789."


def guardrail(**settings):
    return _OPTIONAL_PresidioPIIMasking(guardrail_name="toxscreen", event_hook="pre_call", **settings)


async def guard(rail, text, data=None, kind="request"):
    inputs = await rail.apply_guardrail({"texts": [text]}, {} if data is None else data, kind)
    return inputs["texts"][0]


async def stories():
    rails = []

    def rail(**settings):
        rails.append(guardrail(**settings))
        return rails[-1]

    masked = await guard(rail(), TEXT)
    assert masked == "<PERSON> 😀 wrote from <EMAIL_ADDRESS>, her SSN is <US_SSN>.", masked
    assert await guard(rail(), "Thank you.") == "Thank you."

    # Only the types of its configuration; types that this server does not know are no error.
    some = {PiiEntityType.US_SSN: PiiAction.MASK, PiiEntityType.SG_NRIC_FIN: PiiAction.MASK}
    assert await guard(rail(pii_entities_config=some), TEXT) == TEXT.replace("856-45-6789", "<US_SSN>")

    try:
        await guard(rail(pii_entities_config={PiiEntityType.US_SSN: PiiAction.BLOCK}), TEXT)
        raise AssertionError("a text to block was let through")
    except BlockedPiiEntityError as error:
        assert error.entity_type == "US_SSN", error

    # A type below its threshold is not masked.
    strict = rail(presidio_score_thresholds={PiiEntityType.EMAIL_ADDRESS: 1.01})
    assert await guard(strict, TEXT) == TEXT.replace("Zoë", "<PERSON>").replace("856-45-6789", "<US_SSN>")

    # What was masked in the request is put back into the answer.
    restoring, data = rail(output_parse_pii=True), {"metadata": {}}
    sent = await guard(restoring, TEXT, data)
    assert sent == "<PERSON_1> 😀 wrote from <EMAIL_ADDRESS_2>, her SSN is <US_SSN_3>.", sent
    answer = await guard(restoring, "Write to <EMAIL_ADDRESS_2> without <US_SSN_3>.", data, "response")
    assert answer == "Write to zoe@example.com without 856-45-6789.", answer

    # A text that it sends in pieces, and each piece's offsets.
    long = "The garden is green. " * 200
    pieces = await guard(rail(presidio_analyze_chunk_size_bytes=1000), long + TEXT + long)
    assert pieces == long + masked + long, "pieces of a long text are masked otherwise"

    # A language without recognizers fails closed where something is to be found.
    try:
        await guard(rail(presidio_language="de", pii_entities_config=some), TEXT)
        raise AssertionError("a text that was not analysed was let through")
    except AssertionError:
        raise
    except Exception as error:
        assert "No matching recognizers" in str(error), error

    for each in rails:
        await each._close_http_session()


asyncio.run(stories())

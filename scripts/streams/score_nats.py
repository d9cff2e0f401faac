"""Scores the subjects comments.*: results go to scored.*, messages that cannot be scored to unscored.*."""

import asyncio
import json
import sys

import nats
from nats.js.api import ConsumerConfig
from toxscreen import Screener


def read(data):
    """Returns the text of a message, or why it has none."""
    try:
        return json.loads(data)["text"], None
    except Exception as error:  # not UTF-8, not JSON, no such field, nested too deeply
        return None, f"{type(error).__name__}: {error}"


async def main():
    with Screener(max_bytes=10_000) as screener:
        jetstream = (await nats.connect(sys.argv[1])).jetstream()
        config = ConsumerConfig(ack_wait=10)
        consumer = await jetstream.pull_subscribe("comments.*", durable="toxscreen", config=config)
        while True:
            try:
                messages = await consumer.fetch(100, timeout=0.5)
            except nats.errors.TimeoutError:  # there are none
                continue
            texts = [read(message.data) for message in messages]
            results = screener.ascore_many((None, text) for text, _ in texts)
            written = []
            for message, (text, why) in zip(messages, texts):
                result = await anext(results)
                answer = result.to_dict() if why is None else {"error": why}
                answer["id"] = f"{message.metadata.stream}/{message.metadata.sequence.stream}"
                subject = message.subject.replace("comments", "unscored" if "error" in answer else "scored", 1)
                headers = {"Nats-Msg-Id": answer["id"]}
                written.append(await jetstream.publish_async(subject, json.dumps(answer).encode(), headers=headers))
            await asyncio.wait_for(asyncio.gather(*written), 30)
            for message in messages:
                await message.ack()


asyncio.run(main())

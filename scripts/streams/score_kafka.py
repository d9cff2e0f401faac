"""Scores the topic comments: results go to the topic scored, messages that cannot be scored to unscored."""

import json
import signal
import sys

from confluent_kafka import Consumer, KafkaException, Producer
from toxscreen import Screener

BROKER = {"bootstrap.servers": sys.argv[1]}
GROUP = {
    "group.id": "toxscreen",
    "auto.offset.reset": "earliest",
    "enable.auto.commit": False,
    "session.timeout.ms": 6000,
}


def read(value):
    """Returns the text of a message, or why it has none."""
    try:
        return json.loads(value)["text"], None
    except Exception as error:  # not UTF-8, not JSON, no such field, nested too deeply, no value
        return None, f"{type(error).__name__}: {error}"


def check(error, message):
    if error is not None:
        raise KafkaException(error)


signal.signal(signal.SIGTERM, lambda *_: sys.exit())  # to leave the group, so that others need not wait
with Consumer(BROKER | GROUP) as consumer, Producer(BROKER | {"enable.idempotence": True}) as producer, Screener(max_bytes=10_000) as screener:
    consumer.subscribe(["comments"])
    while True:
        messages = consumer.consume(100, timeout=0.5)
        for message in messages:
            check(message.error(), message)
        texts = [read(message.value()) for message in messages]
        results = screener.score_many((None, text) for text, _ in texts)
        for message, (_, why), result in zip(messages, texts, results):
            answer = {"error": why} if why else result.to_dict()
            answer["id"] = f"{message.topic()}/{message.partition()}/{message.offset()}"
            topic = "unscored" if "error" in answer else "scored"
            producer.produce(topic, json.dumps(answer), message.key(), message.partition(), on_delivery=check)
        producer.flush()
        if messages:
            consumer.commit(asynchronous=False)

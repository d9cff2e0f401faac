"""The programs of docs/streams.md beside a real Kafka broker and a real NATS server.

`make test-streams` installs both and runs this. Every message must get an answer: a result, or an error in the place for what was
not scored, whoever is killed on the way. Its id says which message it answers.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path

import pytest

pytest.importorskip("confluent_kafka", reason="`make test-streams` installs it")
pytest.importorskip("nats", reason="`make test-streams` installs it")

import nats
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewPartitions, NewTopic
from nats.js.api import ConsumerConfig, DeliverPolicy

import toxscreen

pytestmark = pytest.mark.timeout(300)

FOLDER = Path(__file__).parent
INSTALLED = FOLDER.parents[1] / "build" / "streams"
TINY = FOLDER.parents[1] / "testdata" / "models" / "tiny"
LOOPBACK = "127.0.0.1"
# A JVM that lives for a minute.
JAVA = ("java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-cp", f"{INSTALLED}/kafka/*")

# What is not valid in a queue, and what is said about it.
BAD = {
    b'{"text": "\xff"}': "UnicodeDecodeError: 'utf-8' codec can't decode byte 0xff in position 10: invalid start byte",
    b"You idiot": "JSONDecodeError: Expecting value: line 1 column 1 (char 0)",
    b"[" * 100_000: "RecursionError: maximum recursion depth exceeded while decoding a JSON array from a unicode string",
    b'{"comment": "You idiot"}': "KeyError: 'text'",
    b'["You idiot"]': "TypeError: list indices must be integers or slices, not str",
    b'{"text": 5}': "the text is not a str but int",
    b'{"text": null}': "the text is missing",
    b'{"text": "%s"}' % (b"x" * 10_001): "failed to score text: text too long: it has 10001 bytes, the limit is 10000; raise the limit or split the text",
    b"": "JSONDecodeError: Expecting value: line 1 column 1 (char 0)",
}


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind((LOOPBACK, 0))
        return listener.getsockname()[1]


def wait_until(holds, what: str, seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            raise TimeoutError(f"failed to wait until {what}: not within {seconds:.0f} s")
        time.sleep(0.05)


@contextlib.contextmanager
def running(log: Path, *command: object, **options):
    """A process that ends with the block; what it prints is in a file."""
    with log.open("ab") as output:
        process = subprocess.Popen([*map(str, command)], stdout=output, stderr=output, **options)
    try:
        yield process
    except BaseException:
        sys.stderr.write(f"{log.name}:\n{log.read_text()}")
        raise
    finally:
        process.kill()
        process.wait()


def children(process: subprocess.Popen) -> list[int]:
    """The toxscreen processes of a program."""
    found = []
    for path in Path(f"/proc/{process.pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):  # the thread has ended
            found += map(int, path.read_text().split())
    return found


def texts(count: int) -> list[str]:
    return ["You are a stupid idiot." if n % 10 == 0 else f"The page of edit {n} looks {'fine' if n % 3 else 'odd'} to me, thanks." for n in range(count)]


def message(text: str) -> bytes:
    return json.dumps({"text": text}).encode()


def kill_amid(process: subprocess.Popen, answered) -> None:
    """Kills a program with SIGKILL that has answered some messages and has taken others that it has not answered."""
    wait_until(answered, "there are results")
    [child] = children(process)
    os.kill(child, signal.SIGSTOP)
    # Now the program waits for this child with a part of its messages.
    process.kill()
    process.wait()
    os.kill(child, signal.SIGCONT)
    wait_until(lambda: not Path(f"/proc/{child}").exists(), "the child of the killed program has ended by itself")


def assert_equal_if_repeated(answers) -> None:
    known = {}
    for answer in answers:
        assert known.setdefault(answer["id"], answer) == answer


class Kafka:
    """One broker with the topics of the guide, of two partitions each."""

    def __init__(self, folder: Path, address: str) -> None:
        self.folder, self.address = folder, address
        self._admin = AdminClient({"bootstrap.servers": address})
        for created in self._admin.create_topics([NewTopic(topic, 2, 1) for topic in ("comments", "scored", "unscored")]).values():
            created.result(60)

    def start(self):
        return running(self.folder / "score_kafka.log", sys.executable, FOLDER / "score_kafka.py", self.address)

    def send(self, values, key=lambda n: None, partition=lambda n: n % 2) -> list[str]:
        """Sends messages, to both partitions by turns. Returns the ids that their answers must have."""
        ids = {}

        def delivered(n):
            def note(error, message):
                assert error is None, error
                ids[n] = f"comments/{message.partition()}/{message.offset()}"

            return note

        with Producer({"bootstrap.servers": self.address}) as producer:
            for n, value in enumerate(values):
                producer.produce("comments", value, key(n), partition(n), on_delivery=delivered(n))
        return [ids[n] for n in range(len(ids))]

    def read(self, topic: str, ids) -> list[tuple[object, int, dict]]:
        """Returns the keys, partitions and values of the answers with these ids, in their order in each partition."""
        wanted, found = set(ids), []
        with Consumer({"bootstrap.servers": self.address, "group.id": "reader", "enable.auto.commit": False}) as consumer:
            for partition in consumer.list_topics(topic).topics[topic].partitions:
                place = TopicPartition(topic, partition, 0)
                end = consumer.get_watermark_offsets(place)[1]
                consumer.assign([place])
                read = 0
                while read < end:
                    for each in consumer.consume(min(500, end - read), timeout=1):
                        assert each.error() is None, each.error()
                        read += 1
                        answer = json.loads(each.value())
                        if answer.get("id") in wanted:  # a row of `batch` that is not JSON has none
                            found.append((each.key(), each.partition(), answer))
        return found

    def answered(self, ids) -> bool:
        return {answer["id"] for topic in ("scored", "unscored") for _, _, answer in self.read(topic, ids)} == set(ids)

    def add_partition(self, *topics: str) -> None:
        for added in self._admin.create_partitions([NewPartitions(topic, 3) for topic in topics]).values():
            added.result(60)

    def partitions(self, topic: str) -> int:
        return len(self._admin.list_topics(topic).topics[topic].partitions)

    def members(self) -> int:
        """How many programs have partitions."""
        group = self._admin.describe_consumer_groups(["toxscreen"])["toxscreen"].result(60)
        return sum(bool(member.assignment.topic_partitions) for member in group.members)


@pytest.fixture(scope="module")
def kafka(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kafka")
    port, controller = free_port(), free_port()
    properties = folder / "server.properties"
    properties.write_text(
        f"process.roles=broker,controller\nnode.id=1\ncontroller.listener.names=CONTROLLER\ncontroller.quorum.voters=1@{LOOPBACK}:{controller}\n"
        f"listeners=PLAINTEXT://{LOOPBACK}:{port},CONTROLLER://{LOOPBACK}:{controller}\nlog.dirs={folder}/data\nauto.create.topics.enable=false\n"
        "offsets.topic.num.partitions=1\noffsets.topic.replication.factor=1\ngroup.initial.rebalance.delay.ms=0\n"
    )
    subprocess.run([*JAVA, "kafka.tools.StorageTool", "format", "--cluster-id", "AAAAAAAAAAAAAAAAAAAAAA", "--config", properties], check=True)
    with running(folder / "kafka.log", *JAVA, "kafka.Kafka", properties) as broker:

        def listens() -> bool:
            assert broker.poll() is None, "the broker has ended"
            with contextlib.suppress(OSError), socket.create_connection((LOOPBACK, port)):
                return True
            return False

        wait_until(listens, "the broker listens")
        yield Kafka(folder, f"{LOOPBACK}:{port}")


def test_kafka_results_have_key_partition_and_order(kafka) -> None:
    given = texts(300)
    ids = kafka.send(map(message, given), key=lambda n: f"user{n % 7}".encode())
    with kafka.start() as program:
        wait_until(lambda: kafka.answered(ids), "all messages are answered")
        program.terminate()
        assert program.wait() == 0

    answers = kafka.read("scored", ids)
    by_partition = defaultdict(list)
    for key, partition, answer in answers:
        n = ids.index(answer["id"])
        assert (key, partition) == (f"user{n % 7}".encode(), n % 2)
        by_partition[partition].append(answer["id"])
        assert answer["flagged"] == toxscreen.score(given[n]).flagged
    assert by_partition == {0: ids[0::2], 1: ids[1::2]}  # each once, in the order of the messages


def test_kafka_bad_messages_are_answered(kafka) -> None:
    good = message("You are a stupid idiot.")
    bad = [*BAD, None]  # without a value: a tombstone
    ids = kafka.send([good, *bad, good])
    with kafka.start():
        wait_until(lambda: kafka.answered(ids), "all messages are answered")
    assert {answer["id"] for _, _, answer in kafka.read("scored", ids)} == {ids[0], ids[-1]}
    errors = {answer["id"]: answer["error"] for _, _, answer in kafka.read("unscored", ids)}
    assert [errors[id] for id in ids[1:-1]] == [*BAD.values(), "TypeError: the JSON object must be str, bytes or bytearray, not NoneType"]


def test_kafka_nothing_is_lost_when_the_program_is_killed(kafka) -> None:
    ids = kafka.send(map(message, texts(1000)))
    with kafka.start() as program:
        kill_amid(program, lambda: kafka.read("scored", ids))
    assert not kafka.answered(ids)
    with kafka.start():
        wait_until(lambda: kafka.answered(ids), "all messages are answered")
    assert_equal_if_repeated(answer for _, _, answer in kafka.read("scored", ids))


def test_kafka_messages_are_scored_again_when_their_child_is_killed(kafka) -> None:
    ids = kafka.send(map(message, texts(1000)))
    with kafka.start() as program:
        wait_until(lambda: kafka.read("scored", ids), "there are results")
        [child] = children(program)
        os.kill(child, signal.SIGKILL)
        assert not kafka.answered(ids)
        wait_until(lambda: kafka.answered(ids), "all messages are answered")
        assert program.poll() is None
    assert len(kafka.read("scored", ids)) == len(ids)


def test_kafka_the_program_ends_with_an_error_when_no_child_stays_alive(kafka) -> None:
    ids = kafka.send(map(message, texts(20)))
    with kafka.start() as program:

        def ends() -> bool:
            for child in children(program):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
            return program.poll() is not None

        wait_until(ends, "the program has ended")
        assert program.returncode == 1
    assert "toxscreen._results.ToxscreenError: " in (kafka.folder / "score_kafka.log").read_text()
    with kafka.start():
        wait_until(lambda: kafka.answered(ids), "all messages are answered")


def test_kafka_programs_share_the_partitions(kafka) -> None:
    """The second one comes and the first one goes while there is work, which moves partitions between them."""
    ids = kafka.send(map(message, texts(2000)))
    with kafka.start() as first:
        wait_until(lambda: kafka.read("scored", ids), "the first has results")
        with kafka.start() as second:
            wait_until(lambda: kafka.members() == 2, "there are two members")
            first.terminate()
            assert first.wait() == 0
            wait_until(lambda: kafka.answered(ids), "all messages are answered")
            assert second.poll() is None
    assert_equal_if_repeated(answer for _, _, answer in kafka.read("scored", ids))


def test_kafka_topic_through_a_pipe(kafka, tmp_path) -> None:
    """The console programs of Kafka's archive are such scripts around the same classes, too."""
    for name, main in {"consumer": "org.apache.kafka.tools.consumer.ConsoleConsumer", "producer": "org.apache.kafka.tools.ConsoleProducer"}.items():
        script = tmp_path / f"kafka-console-{name}.sh"
        script.write_text(f'#!/bin/sh\nexec {shlex.join(JAVA)} {main} "$@"\n')
        script.chmod(0o755)
    kafka.send([b'{"id": "piped 1", "text": "You are a stupid idiot."}', b"You idiot", b'{"id": "piped 2", "text": "Thank you!"}'])
    path = f"{tmp_path}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    ran = subprocess.run(["bash", FOLDER / "score_topic.sh", kafka.address], env=os.environ | {"PATH": path}, check=False)
    assert ran.returncode == 3  # a row has an error
    assert {answer["id"]: answer["flagged"] for _, _, answer in kafka.read("scored", ["piped 1", "piped 2"])} == {"piped 1": True, "piped 2": False}
    assert any("it is not JSON" in answer.get("error", "") for _, _, answer in kafka.read("scored", [None]))  # that row has no id


def test_kafka_a_result_that_cannot_be_written_ends_the_program(kafka) -> None:
    """The topic comments gets a third partition, and the topics of the results get it too late."""
    kafka.add_partition("comments")
    wait_until(lambda: kafka.partitions("comments") == 3, "the topic has three partitions")
    ids = kafka.send(map(message, texts(5)), partition=lambda n: 2)
    with kafka.start() as program:
        assert program.wait(120) == 1
    assert "KafkaException: KafkaError{code=_UNKNOWN_PARTITION" in (kafka.folder / "score_kafka.log").read_text()
    kafka.add_partition("scored", "unscored")
    with kafka.start():
        wait_until(lambda: kafka.answered(ids), "all messages are answered")


def test_batch_ends_with_its_reader() -> None:
    """A pipe that nobody reads is no silent loss: the process ends by SIGPIPE, though its input is still open."""
    with batch() as process:
        process.stdin.write(message("Thank you!") + b"\n")
        assert json.loads(process.stdout.readline())["row"] == 1  # at once, with the input still open
        process.stdout.close()
        process.stdin.write(message("Thank you!") + b"\n")
        assert process.wait(60) == -signal.SIGPIPE


def test_batch_that_is_killed_has_written_results_from_the_first_on() -> None:
    """Whoever reads counts the results: what comes after them is to be sent again."""
    with batch() as process:
        process.stdin.write(b"".join(message(text) + b"\n" for text in texts(100)))
        lines = [process.stdout.readline()]
        process.kill()
        lines += process.stdout.readlines()
        assert process.wait() == -signal.SIGKILL
    whole = [json.loads(line) for line in lines if line.endswith(b"\n")]
    assert [row["row"] for row in whole] == list(range(1, len(whole) + 1))
    assert len(lines) - len(whole) <= 1  # the last one may be cut off


@contextlib.contextmanager
def batch():
    command = (sys.executable, "-m", "toxscreen", "batch", "--quiet", "-i", "-", "-o", "-", "--model", TINY)
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


class Nats:
    """One server with the streams of the guide."""

    def __init__(self, folder: Path, address: str) -> None:
        self.folder, self.address = folder, address

    def start(self):
        return running(self.folder / "score_nats.log", sys.executable, FOLDER / "score_nats.py", self.address)

    def send(self, values, key=lambda n: "all") -> list[str]:
        """Sends messages. Returns the ids that their answers must have."""

        async def send():
            async with await nats.connect(self.address) as connection:
                jetstream = connection.jetstream()
                return [f"comments/{(await jetstream.publish(f'comments.{key(n)}', value)).seq}" for n, value in enumerate(values)]

        return asyncio.run(send())

    def read(self, stream: str, ids) -> list[tuple[str, dict]]:
        """Returns the subjects and values of the answers with these ids, in their order."""
        wanted = set(ids)

        async def read():
            async with await nats.connect(self.address) as connection:
                jetstream = connection.jetstream()
                rest = (await jetstream.stream_info(stream)).state.messages
                config = ConsumerConfig(deliver_policy=DeliverPolicy.ALL, inactive_threshold=60)
                subscription = await jetstream.pull_subscribe(f"{stream}.*", stream=stream, config=config)
                found = []
                while rest > 0:
                    for each in await subscription.fetch(min(rest, 500)):
                        await each.ack()
                        rest -= 1
                        found.append((each.subject, json.loads(each.data)))
                return [(subject, answer) for subject, answer in found if answer["id"] in wanted]

        return asyncio.run(read())

    def answered(self, ids) -> bool:
        return {answer["id"] for stream in ("scored", "unscored") for _, answer in self.read(stream, ids)} == set(ids)


@pytest.fixture(scope="module")
def jetstream(tmp_path_factory):
    folder = tmp_path_factory.mktemp("nats")
    port = free_port()
    with running(folder / "nats.log", INSTALLED / "nats-server", "--addr", LOOPBACK, "--port", port, "--jetstream", "--store_dir", folder / "data") as server:

        async def create():
            async with await nats.connect(f"nats://{LOOPBACK}:{port}", max_reconnect_attempts=100, reconnect_time_wait=0.1) as connection:
                for stream in ("comments", "scored", "unscored"):
                    await connection.jetstream().add_stream(name=stream, subjects=[f"{stream}.*"])

        def listens() -> bool:
            assert server.poll() is None, "the server has ended"
            with contextlib.suppress(OSError), socket.create_connection((LOOPBACK, port)):
                return True
            return False

        wait_until(listens, "the server listens")
        asyncio.run(create())
        yield Nats(folder, f"nats://{LOOPBACK}:{port}")


def test_nats_results_have_subject_and_order(jetstream) -> None:
    given = texts(300)
    ids = jetstream.send(map(message, given), key=lambda n: f"user{n % 7}")
    with jetstream.start():
        wait_until(lambda: jetstream.answered(ids), "all messages are answered")
    answers = jetstream.read("scored", ids)
    assert [answer["id"] for _, answer in answers] == ids
    assert [subject for subject, _ in answers] == [f"scored.user{n % 7}" for n in range(300)]
    assert [answer["flagged"] for _, answer in answers] == [toxscreen.score(text).flagged for text in given]


def test_nats_bad_messages_are_answered(jetstream) -> None:
    good = message("You are a stupid idiot.")
    ids = jetstream.send([good, *BAD, good])
    with jetstream.start():
        wait_until(lambda: jetstream.answered(ids), "all messages are answered")
    assert [answer["id"] for _, answer in jetstream.read("scored", ids)] == [ids[0], ids[-1]]
    assert [(answer["id"], answer["error"]) for _, answer in jetstream.read("unscored", ids)] == list(zip(ids[1:-1], BAD.values(), strict=True))


def test_nats_nothing_is_lost_or_doubled_when_the_program_is_killed(jetstream) -> None:
    ids = jetstream.send(map(message, texts(1000)))
    with jetstream.start() as program:
        kill_amid(program, lambda: jetstream.read("scored", ids))
    assert not jetstream.answered(ids)
    with jetstream.start():
        wait_until(lambda: jetstream.answered(ids), "all messages are answered")
    assert len(jetstream.read("scored", ids)) == len(ids)  # the server drops what comes again within two minutes

"""Spark's way through a standalone cluster of two workers, as users start it.

An application takes all cores of the cluster, so the programs run first and the session of the other tests comes after them.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

pytest.importorskip("pyspark", reason="`make test-spark` installs it")

from cluster import LOOPBACK, QUICK, Cluster, children, command, wait_until
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, Observation, SparkSession

from toxscreen import spark as toxscreen_spark
from toxscreen._binary import find_binary
from toxscreen._results import ATTRIBUTES

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

REPOSITORY = Path(__file__).parents[2]
BINARY = str(find_binary())
TINY = str(REPOSITORY / "testdata" / "models" / "tiny")
PACKAGES = Path(toxscreen_spark.__file__).parents[2]

CONFIGURATION = {
    "spark.driver.host": LOOPBACK,
    "spark.driver.bindAddress": LOOPBACK,
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.executor.memory": "512m",
    "spark.driver.extraJavaOptions": QUICK,
    "spark.executor.extraJavaOptions": QUICK,
}
INSTALLED = {"spark.executorEnv.PYTHONPATH": str(PACKAGES)}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with Cluster(tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster
        started = [pid for process in (cluster.master, *cluster.workers) if process for pid in (process.pid, *children(process.pid))]
    wait_until(lambda: not any(map(alive, started)), "all processes of the cluster have ended")


@pytest.fixture(scope="module")
def session(cluster: Cluster) -> Iterator[SparkSession]:
    os.environ |= {"SPARK_LOCAL_IP": LOOPBACK, "PYSPARK_PYTHON": sys.executable}
    builder = SparkSession.builder.master(cluster.url).config(map={**CONFIGURATION, **INSTALLED})
    session = builder.getOrCreate()
    yield session
    session.stop()
    wait_until(lambda: not any(map(cluster.executors, cluster.workers)), "the executors have ended")


def program(cluster: Cluster, *arguments: object, **configuration: str) -> subprocess.CompletedProcess[str]:
    """Runs python -m toxscreen.spark on the cluster."""
    conf = [argument for pair in ({**CONFIGURATION, **configuration}).items() for argument in ("--conf", "=".join(pair))]
    command = [sys.executable, "-m", "toxscreen.spark", "--master", cluster.url, *conf, *map(str, arguments)]
    environment = os.environ | {"SPARK_LOCAL_IP": LOOPBACK, "PYSPARK_PYTHON": sys.executable, "PYTHONPATH": str(PACKAGES)}
    return subprocess.run(command, check=False, env=environment, capture_output=True, text=True, timeout=300)


def texts(count: int) -> list[str]:
    return ["you idiot" if n % 10 == 0 else f"The page of edit {n} looks {'fine' if n % 3 else 'odd'} to me, thanks." for n in range(count)]


def alive(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """An archive like that of a release."""
    path = tmp_path / "dist.tar.gz"
    with tarfile.open(path, "w:gz", compresslevel=1, dereference=True) as tar:
        tar.add(BINARY, "toxscreen-v1-linux-amd64/toxscreen")
        tar.add(PACKAGES / "toxscreen" / "lib" / "libonnxruntime.so", "toxscreen-v1-linux-amd64/libonnxruntime.so")
    return path


def test_jsonl_with_an_archive(cluster: Cluster, archive: Path, tmp_path: Path) -> None:
    """The workers have neither the package nor a library: both are sent along."""
    package = shutil.make_archive(str(tmp_path / "package"), "zip", PACKAGES, "toxscreen")
    rows = [json.dumps({"id": n, "comment": text}) for n, text in enumerate(texts(300))]
    (tmp_path / "comments.jsonl").write_text("\n".join([*rows, '{"id": "bad", "comment": 5}', "", '{"id": "cut', ""]))

    sent = {"spark.archives": f"{archive}#toxscreen", "spark.submit.pyFiles": package, "spark.executorEnv.XDG_CACHE_HOME": str(tmp_path)}
    io = ("--input", tmp_path / "comments.jsonl", "--output", tmp_path / "scored", "--text-column", "comment", "--threshold", "insult=0.9")
    ran = program(cluster, *io, "--format", "json", **sent)

    assert ran.returncode == 3, ran.stderr
    scored = {row["id"]: row for row in pq.read_table(tmp_path / "scored").to_pylist()}
    flagged = sum(row["flagged"] or False for row in scored.values())
    assert json.loads(ran.stdout) == {"rows": 302, "failed": 2, "flagged": flagged, "not_decided": 0, "unjudged": 0}
    assert scored.keys() == {*map(str, range(300)), "bad", None}
    assert scored["bad"]["error"] == 'the field "comment" is not a string but a number'
    assert scored["1"]["score"] is not None
    assert list(scored["1"]) == ["id", "score", "flagged", "severity", *ATTRIBUTES, "not_decided", "error"]


def test_parquet_with_dead_letters(cluster: Cluster, tmp_path: Path) -> None:
    given = pa.table({"id": pa.array(range(200), pa.int64()), "comment": [None, "x" * 200, *texts(198)], "stars": [1.5] * 200})
    pq.write_table(given, tmp_path / "comments.parquet")
    io = ("-i", tmp_path / "comments.parquet", "-o", tmp_path / "scored", "--dead-letter", tmp_path / "dead")
    settings = ("--binary", BINARY, "--model", TINY, "--max-bytes", 150, "--keep", "stars")
    ran = program(cluster, *io, *settings, "--text-column", "comment", **INSTALLED)

    assert ran.returncode == 3, ran.stderr
    assert "200 rows, " in ran.stderr
    assert ", 2 failed, 0 not decided" in ran.stderr
    scored = pq.read_table(tmp_path / "scored")
    assert sorted(scored.column("id").to_pylist()) == list(range(2, 200))
    assert scored.schema.field("id").type == pa.int64()
    assert set(scored.column("stars").to_pylist()) == {1.5}
    assert sorted((json.loads(line) for line in lines_of(tmp_path / "dead")), key=lambda row: row["id"]) == [
        {"id": 0, "stars": 1.5, "error": 'the field "comment" is not a string but null'},
        {
            "id": 1,
            "stars": 1.5,
            "comment": "x" * 200,
            "error": "failed to score text: text too long: it has 200 bytes, the limit is 150; raise the limit or split the text",
        },
    ]


def lines_of(folder: Path) -> list[str]:
    return [line for path in folder.glob("*.json") for line in path.read_text().splitlines()]


def frame(session: SparkSession, given: list[Any], partitions: int) -> DataFrame:
    return session.createDataFrame(pa.table({"id": list(range(len(given))), "comment": given})).repartition(partitions)


def test_scores_are_those_of_batch(session: SparkSession, tmp_path: Path) -> None:
    given = texts(300)
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in given))
    subprocess.run([BINARY, "batch", "--quiet", "--no-judge", "-i", tmp_path / "rows.jsonl", "-o", tmp_path / "scored.jsonl"], check=True)
    natives = [json.loads(line) for line in (tmp_path / "scored.jsonl").read_text().splitlines()]

    counts = Observation()
    scored = toxscreen_spark.score(frame(session, given, 4), "comment", binary=BINARY, observation=counts).collect()
    scored.sort(key=lambda row: int(row.id))  # in Spark, a sort scores twice: the first time for a sample of the ids

    assert [row.id for row in scored] == list(range(300))
    for row, native in zip(scored, natives, strict=True):
        assert row.score == pytest.approx(native["score"], abs=1e-6)
        assert {a: row[a] for a in ATTRIBUTES} == pytest.approx({a: native["attributes"][a]["score"] for a in ATTRIBUTES}, abs=1e-6)
        assert (row.flagged, row.severity) == (native["flagged"], native["severity"])
    assert counts.get == {"rows": 300, "failed": 0, "flagged": 30, "not_decided": 0}


def test_a_wrong_column_is_an_error_before_anything_runs(session: SparkSession) -> None:
    df = frame(session, texts(2), 1)
    with pytest.raises(ValueError, match="there is no column 'text'; there are: 'id', 'comment'"):
        toxscreen_spark.score(df)
    with pytest.raises(ValueError, match="the column 'id' has no strings but bigint; cast it, or name another column"):
        toxscreen_spark.score(df, text="id")
    with pytest.raises(ValueError, match="the columns 'score' would be there twice; rename them before"):
        toxscreen_spark.score(df.withColumnRenamed("id", "score"), "comment", "score")


def test_the_judge_needs_an_address_for_all_workers(session: SparkSession) -> None:
    """Its default is the machine itself, which is another one for each worker."""
    with pytest.raises(ValueError, match="judge_host, an address that every worker reaches"):
        toxscreen_spark.score(frame(session, texts(2), 1), "comment", judge_model="llama-guard3:1b")


def test_an_unknown_setting_is_an_error(session: SparkSession) -> None:
    with pytest.raises(TypeError, match="unknown settings treshold: there are threads, model"):
        toxscreen_spark.score(frame(session, texts(2), 1), "comment", treshold=1)  # type: ignore[call-arg]


def test_a_task_without_toxscreen_names_its_host(session: SparkSession) -> None:
    scored = toxscreen_spark.score(frame(session, texts(2), 1), "comment", binary="/nowhere/toxscreen")
    with pytest.raises(
        PySparkException, match=f"failed to score on host {os.uname().nodename}: failed to find the toxscreen binary: there is no /nowhere/toxscreen"
    ):
        scored.collect()


def test_a_task_without_the_library_says_so(session: SparkSession) -> None:
    scored = toxscreen_spark.score(frame(session, texts(2), 1), "comment", binary=BINARY, onnxruntime="/nowhere/libonnxruntime.so")
    with pytest.raises(PySparkException, match="failed to score on host .*/nowhere/libonnxruntime.so"):
        scored.collect()


def test_existing_folders_are_refused_before_anything_is_scored(session: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    df = frame(session, texts(2), 1)
    with pytest.raises(PySparkException, match="PATH_ALREADY_EXISTS"):
        toxscreen_spark.write(df, str(tmp_path / "there"), "comment", binary="/nowhere/toxscreen")
    with pytest.raises(ValueError, match="there exists already; overwrite it, or name another folder"):
        toxscreen_spark.write(df, str(tmp_path / "scored"), "comment", dead_letter=str(tmp_path / "there"), binary="/nowhere/toxscreen")
    for inside in (str(tmp_path / "scored") + "/", str(tmp_path / "scored" / "dead"), str(tmp_path)):
        with pytest.raises(ValueError, match="need folders of their own"):
            toxscreen_spark.write(df, str(tmp_path / "scored"), "comment", dead_letter=inside, overwrite=True)


def test_a_killed_worker_loses_and_repeats_no_row(cluster: Cluster, session: SparkSession, tmp_path: Path) -> None:
    rows, failed = 4000, 40
    given = [None if n % 100 == 0 else text for n, text in enumerate(texts(rows))]
    results: list[object] = []

    def work() -> None:
        try:
            results.append(toxscreen_spark.write(frame(session, given, 20), str(tmp_path / "scored"), "comment", binary=BINARY))
        except Exception as error:  # noqa: BLE001 - the main thread shows it
            results.append(error)

    job = threading.Thread(target=work)
    job.start()
    worker = cluster.workers[0]
    wait_until(
        lambda: list((tmp_path / "scored").rglob("*.parquet")) != [] and any(BINARY in command(pid) for pid in children(worker.pid)),
        "a task is done, and the worker scores",
    )
    orphans = children(worker.pid)
    cluster.kill(worker)
    job.join(timeout=300)

    [counts] = results
    assert isinstance(counts, toxscreen_spark.Counts), counts
    scored = pq.read_table(tmp_path / "scored")
    assert sorted(scored.column("id").to_pylist()) == list(range(rows)), "every row once"
    assert scored.column("score").null_count == scored.num_rows - scored.column("error").null_count == failed
    assert (counts.rows, counts.failed) == (rows, failed), "nor is a row counted twice"
    wait_until(lambda: not any(map(alive, orphans)), "what the killed executor had started has ended")

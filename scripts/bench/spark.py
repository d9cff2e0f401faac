"""What Spark adds to `toxscreen batch`: on a standalone cluster of its own, with workers of one core.

    python scripts/bench/spark.py --binary bin/toxscreen --texts build/bench/natural.jsonl [--rows 20000] [--rounds 3]

Each round scores the same rows with batch on one thread and on two, and with Spark on one worker and on two, in changing order, so a
busy machine slows all of them down. The stage of scoring is timed in a session that has scored before: it reads Parquet and throws the
results away, while batch reads and writes JSONL. Then come the price of a start, of a task, and, on paper, of a billion comments.
Needs the packages of python/requirements.txt and python/requirements-spark.txt, a JDK and two idle cores.
"""

import argparse
import itertools
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "python" / "src"), str(ROOT / "python" / "tests")]

import pyarrow as pa
import pyarrow.parquet as pq
from cluster import LOOPBACK, Cluster
from pyspark.sql import DataFrame, SparkSession
from toxscreen import spark as toxscreen_spark

# What the price of a billion comments assumes.
MACHINES, CORES, DOLLARS = 100, 16, 0.04  # a core for an hour, on demand

FILES = 8


def session(cluster: Cluster, cores: int) -> SparkSession:
    builder = SparkSession.builder.master(cluster.url).config("spark.cores.max", cores).config("spark.executorEnv.PYTHONPATH", ROOT / "python" / "src")
    for key in ("spark.driver.host", "spark.driver.bindAddress"):
        builder = builder.config(key, LOOPBACK)
    return builder.config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false").getOrCreate()


def score(df: DataFrame, binary: str) -> float:
    start = time.perf_counter()
    toxscreen_spark.score(df, binary=binary).write.format("noop").mode("overwrite").save()
    return time.perf_counter() - start


def batch(binary: str, rows: Path, threads: int) -> float:
    start = time.perf_counter()
    command = [
        binary,
        "batch",
        "--quiet",
        "--no-judge",
        "--overwrite",
        "--threads",
        str(threads),
        "-i",
        str(rows),
        "-o",
        str(rows.with_suffix(".scored.jsonl")),
    ]
    if subprocess.run(command, check=False).returncode not in (0, 3):
        raise RuntimeError("failed to score the rows with batch")
    return time.perf_counter() - start


def write_rows(texts: Path, count: int, folder: Path) -> None:
    """Writes the texts, again and again, as one JSONL file and as a folder with FILES Parquet files."""
    given = [json.loads(line)["text"] for line in texts.read_text().splitlines()]
    rows = list(itertools.islice(itertools.cycle(given), count))
    with (folder / "rows.jsonl").open("w") as out:
        out.writelines(json.dumps({"id": n, "text": text}) + "\n" for n, text in enumerate(rows))
    (folder / "rows").mkdir()
    for part in range(FILES):
        ids = range(part, count, FILES)
        pq.write_table(pa.table({"id": list(ids), "text": [rows[n] for n in ids]}), folder / "rows" / f"{part}.parquet")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True, type=os.path.abspath)
    parser.add_argument("--texts", required=True, type=Path)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    os.environ |= {"SPARK_LOCAL_IP": LOOPBACK, "PYSPARK_PYTHON": sys.executable}
    random.seed(1)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        write_rows(arguments.texts, arguments.rows, folder)
        with Cluster(folder) as cluster:
            compare(cluster, arguments.binary, folder, arguments.rows, arguments.rounds)


def compare(cluster: Cluster, binary: str, folder: Path, rows: int, rounds: int) -> None:
    took: dict[tuple[str, int], list[float]] = {(side, cores): [] for side in ("batch", "Spark") for cores in (1, 2)}
    starts, firsts, tasks = [], [], []
    print(f"{rows} rows in {FILES} files, {rounds} rounds, load {os.getloadavg()[0]:.1f} at the start\n")
    for _ in range(rounds):
        for cores in random.sample((1, 2), 2):
            began = time.perf_counter()
            spark = session(cluster, cores)
            df = spark.read.parquet(str(folder / "rows"))
            started = time.perf_counter()
            score(df.limit(1), binary)
            starts.append(started - began)
            firsts.append(time.perf_counter() - started)
            score(df.limit(rows // 10).repartition(cores), binary)  # the JVM compiles what is hot
            for side in random.sample(("batch", "Spark"), 2):
                took[side, cores].append(batch(binary, folder / "rows.jsonl", cores) if side == "batch" else score(df, binary))
            few = df.limit(100).cache()
            tasks.append((score(few.repartition(20), binary) - score(few.repartition(10), binary)) / 10 * cores)
            spark.stop()

    print(f"{'':8}{'cores':>6}{'seconds':>10}{'rows/s':>8}")
    for (side, cores), seconds in took.items():
        print(f"{side:8}{cores:>6}{min(seconds):>10.1f}{rows / min(seconds):>8.0f}")
    for cores in (1, 2):
        ratios = [b / s for b, s in zip(took["batch", cores], took["Spark", cores], strict=True)]
        print(f"Spark's stage of scoring has {statistics.median(ratios):.2f} of batch's speed on {cores} core(s) ({min(ratios):.2f} to {max(ratios):.2f})")
    gains = [one / two for one, two in zip(took["Spark", 1], took["Spark", 2], strict=True)]
    print(f"two workers are {statistics.median(gains):.2f} times as fast as one ({min(gains):.2f} to {max(gains):.2f})")
    print(
        f"a session starts in {statistics.median(starts):.1f} s, its first row takes {statistics.median(firsts):.1f} s, each further task {statistics.median(tasks):.2f} s"
    )

    rate = rows / min(took["Spark", 2]) / 2
    hours = 1e9 / (MACHINES * CORES * rate) / 3600
    print(
        f"\nOn paper: {rate:.0f} rows/s and core are 1 billion comments in {hours:.2f} h on {MACHINES} machines of {CORES} cores, "
        f"{hours * MACHINES * CORES:.0f} core hours, {hours * MACHINES * CORES * DOLLARS:.0f} dollars at {DOLLARS} a core hour, if it scales as from one worker to two or better"
    )


if __name__ == "__main__":
    main()

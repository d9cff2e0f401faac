"""Score the texts of a Spark DataFrame. Each task has one toxscreen process beside it; Arrow batches go in and come out.

    from toxscreen import spark

    scored = spark.score(comments, text="comment")
    scored.write.parquet("scored")

`python -m toxscreen.spark` does the same for files. Every worker needs this package with its binary, and pyarrow: docs/spark.md shows
how they get there.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack, cast

from pyspark import SparkFiles, TaskContext
from pyspark.sql import Observation
from pyspark.sql import functions as F
from pyspark.sql.types import BooleanType, DoubleType, StringType, StructField, StructType
from pyspark.storagelevel import StorageLevel

from toxscreen._arrow import Columns, open_process, score_batches
from toxscreen._results import ATTRIBUTES, ToxscreenError

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame

__all__ = ["Counts", "Settings", "score", "write"]


@dataclass(frozen=True, slots=True)
class Counts:
    """How many rows there were, and how many of them failed, were flagged, were not decided because of their language, or got no verdict of
    the judge that was asked about them."""

    rows: int
    failed: int
    flagged: int
    not_decided: int
    unjudged: int = 0


class Settings(TypedDict, total=False):
    """The settings of Screener that a cluster can have. Paths are those of the workers, absolute or below the folder where Spark unpacks archives.

    threads      texts that a task scores at once; spark.task.cpus by default
    judge_model  the judge's model in Ollama; it needs judge_host, an address that every worker reaches
    binary       the toxscreen binary; by default the one of an archive called toxscreen, else the one that is installed on the worker
    """

    threads: int
    model: str
    full: bool
    scale: str
    sensitivity: str
    thresholds: Mapping[str, float]
    language: str
    max_bytes: int
    judge_model: str
    judge_host: str
    binary: str
    onnxruntime: str


def score(
    df: DataFrame,
    text: str = "text",
    id: str = "id",
    *,
    keep: Sequence[str] = (),
    whole: bool = False,
    observation: Observation | None = None,
    **settings: Unpack[Settings],
) -> DataFrame:
    """Returns a DataFrame with a row for each row of df: id, the columns in keep, and

    - score in 0..1, flagged, severity, and the seven attributes in 0..1, each null if it was not measured
    - not_decided: why the text is called neither toxic nor clean; flagged and severity are then null
    - error: why the text was not scored; nothing else is then measured
    - judge_error, with a judge: why it gave no verdict though it was asked
    - result, with whole: the native result in JSON, eight times as long as an ordinary comment

    Nothing runs before an action, and each action scores again: write or persist what is used twice. The first action fills the
    observation with the fields of Counts. The judge is never asked unless judge_model and judge_host are given: settings in the workers'
    environment and files count for everything else.

    Raises ValueError if a column is missing, is no string or would be there twice, and for a judge without an address. A task fails with a
    ToxscreenError that names its host if toxscreen does not work there.
    """
    return _scored(df, Columns(text, id, tuple(keep), whole), settings, observation)


def write(
    df: DataFrame,
    output: str,
    text: str = "text",
    id: str = "id",
    *,
    dead_letter: str | None = None,
    overwrite: bool = False,
    keep: Sequence[str] = (),
    whole: bool = False,
    **settings: Unpack[Settings],
) -> Counts:
    """Scores df as score does, writes the result to the folder output in Parquet, and returns the counts.

    With dead_letter, rows that failed are written to this folder in place of output: id, the columns in keep, the text and the error, in
    JSONL. All rows are first stored on the workers' disks then; what an executor stored is scored again if it dies.
    """
    return _write(df, output, Columns(text, id, tuple(keep), whole), settings, dead_letter, overwrite)


def _scored(df: DataFrame, columns: Columns, settings: Settings, observation: Observation | None) -> DataFrame:
    if unknown := settings.keys() - Settings.__annotations__.keys():
        raise TypeError(f"unknown settings {', '.join(sorted(unknown))}: there are {', '.join(Settings.__annotations__)}")
    settings = cast(Settings, {name: value for name, value in settings.items() if value is not None})
    if ("judge_model" in settings) != ("judge_host" in settings):
        raise ValueError("the judge is asked only if judge_model and judge_host, an address that every worker reaches, are both given")
    columns = replace(columns, judged="judge_model" in settings)
    schema = _schema(df, columns)

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        task = TaskContext.get()
        assert task is not None  # Spark calls it
        try:
            process = open_process(columns, {"threads": task.cpus(), **settings}, Path(SparkFiles.getRootDirectory()))
            with closing(process):
                yield from score_batches(batches, columns, process)
        except ToxscreenError as error:
            raise ToxscreenError(f"failed to score on host {os.uname().nodename}: {error}") from error

    read = dict.fromkeys((columns.given, columns.id, *columns.keep))
    scored = df.select(*map(_column, read)).mapInArrow(run, schema)
    return scored if observation is None else scored.observe(observation, *_counts(columns))


def _column(name: str) -> Column:
    """Returns the column, also if its name has a dot."""
    return F.col(f"`{name.replace('`', '``')}`")


def _schema(df: DataFrame, columns: Columns) -> StructType:
    """Returns the types of the result."""
    there = {field.name: field for field in df.schema}
    for name in (columns.given, columns.id, *columns.keep):
        if name not in there:
            raise ValueError(f"there is no column {name!r}; there are: {', '.join(map(repr, there))}")
    if (kind := there[columns.given].dataType.simpleString()) != "string":
        raise ValueError(f"the column {columns.given!r} has no strings but {kind}; cast it, or name another column")
    measured = [
        StructField("score", DoubleType()),
        StructField("flagged", BooleanType()),
        StructField("severity", StringType()),
        *(StructField(name, DoubleType()) for name in ATTRIBUTES),
        *(
            StructField(name, StringType())
            for name in (
                "not_decided",
                "error",
                *(("judge_error",) if columns.judged else ()),
                *(("result",) if columns.whole else ()),
                *(("rest",) if columns.rest else ()),
            )
        ),
    ]
    passed = dict.fromkeys((columns.id, *columns.keep))
    if twice := passed.keys() & {field.name for field in measured}:
        raise ValueError(f"the columns {', '.join(map(repr, sorted(twice)))} would be there twice; rename them before")
    return StructType([*(StructField(name, there[name].dataType) for name in passed), *measured])


def _counts(columns: Columns) -> list[Column]:
    """Returns the expressions of Counts."""
    return [
        F.count(F.lit(1)).alias("rows"),
        F.count("error").alias("failed"),
        F.count_if("flagged").alias("flagged"),
        F.count("not_decided").alias("not_decided"),
        *([F.count("judge_error").alias("unjudged")] if columns.judged else []),
    ]


def _write(df: DataFrame, output: str, columns: Columns, settings: Settings, dead_letter: str | None, overwrite: bool) -> Counts:
    observation, mode = Observation(), "overwrite" if overwrite else "errorifexists"
    if dead_letter is None:
        _scored(df, columns, settings, observation).write.mode(mode).parquet(output)
        return Counts(**observation.get)

    given = columns.text if columns.lines is None else "line"
    one, other = (folder.rstrip("/") + "/" for folder in (output, dead_letter))
    if one.startswith(other) or other.startswith(one):
        raise ValueError("the output and the dead letters need folders of their own, neither of them inside the other")
    if not overwrite and _exists(df, dead_letter):  # Spark would notice when everything is scored
        raise ValueError(f"{dead_letter} exists already; overwrite it, or name another folder")
    columns = replace(columns, rest=True, judged=settings.get("judge_model") is not None)
    scored = _scored(df, columns, settings, None).persist(StorageLevel.DISK_ONLY)
    try:
        scored.observe(observation, *_counts(columns)).where("error is null").drop("rest").write.mode(mode).parquet(output)
        letter = {name: _column(name) for name in (columns.id, *columns.keep)} | {given: F.col("rest").alias(given), "error": F.col("error")}
        scored.where("error is not null").select(*letter.values()).write.mode(mode).json(dead_letter)
    finally:
        scored.unpersist()
    return Counts(**observation.get)


def _exists(df: DataFrame, path: str) -> bool:
    """Reports whether there is a file or folder, in whatever file system Spark knows."""
    spark = df.sparkSession
    java, configuration = spark.sparkContext._jvm, spark._jsc.hadoopConfiguration()
    assert java is not None
    there = java.org.apache.hadoop.fs.Path(path)
    return bool(there.getFileSystem(configuration).exists(there))

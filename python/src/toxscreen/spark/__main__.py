"""Score files with Spark: `python -m toxscreen.spark --input comments.parquet --output scored`, or this file with spark-submit."""

from __future__ import annotations

import argparse
import dataclasses
import json
import re
import sys
from collections.abc import Sequence
from typing import cast

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StringType, StructField, StructType

from toxscreen._arrow import Columns
from toxscreen.spark import Counts, Settings, _write


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns the exit code, which is that of `toxscreen batch`: 3 if rows failed, were not decided or got no verdict."""
    given = _parser().parse_args(arguments)
    builder = SparkSession.builder.appName("toxscreen").config(map=dict(given.conf))
    if given.master is not None:
        builder = builder.master(given.master)
    try:
        spark = builder.getOrCreate()
        try:
            counts = _run(spark, given)
        finally:
            spark.stop()
    except (ValueError, PySparkException, Py4JError) as error:
        print(f"toxscreen.spark: {_cause(error)}", file=sys.stderr)
        return 1
    if given.format == "json":
        print(json.dumps(dataclasses.asdict(counts)))
    else:
        unjudged = f", {counts.unjudged} without a verdict" if counts.unjudged else ""
        print(f"{counts.rows} rows, {counts.flagged} flagged, {counts.failed} failed, {counts.not_decided} not decided{unjudged}", file=sys.stderr)
    return 3 if counts.failed or counts.not_decided or counts.unjudged else 0


def _run(spark: SparkSession, given: argparse.Namespace) -> Counts:
    settings = cast(Settings, {name: value for name in Settings.__annotations__ if (value := getattr(given, name)) is not None})
    if "thresholds" in settings:
        settings["thresholds"] = dict(settings["thresholds"])
    columns = Columns(given.text_column, given.id_column, tuple(given.keep), given.whole)
    if (given.input_format or _format(given.input)) == "parquet":
        df = spark.read.parquet(given.input)
    else:
        df, columns = _lines(spark, given.input, columns)
    return _write(df, given.output, columns, settings, given.dead_letter, given.overwrite)


def _format(path: str) -> str:
    for ending, format in _ENDINGS.items():
        if re.fullmatch(rf".*\.{ending}(\.(gz|zst|bz2))?/?", path):
            return format
    raise ValueError(f"the name {path} does not tell the format of the input; give --input-format jsonl or parquet")


_ENDINGS = {"jsonl": "jsonl", "ndjson": "jsonl", "parquet": "parquet"}


def _lines(spark: SparkSession, path: str, columns: Columns) -> tuple[DataFrame, Columns]:
    """Returns the rows of a JSONL file as lines, since Spark would turn a number that stands for a text into a string.

    The columns that are passed on are strings.
    """
    passed = StructType([StructField(name, StringType()) for name in dict.fromkeys((columns.id, *columns.keep))])
    rows = spark.read.option("lineSep", "\n").text(path).where(F.col("value").rlike(r"(?U)\S"))  # what batch calls a blank line
    rows = rows.select(F.col("value").alias(_LINE), F.from_json("value", passed).alias("row")).select(_LINE, "row.*")
    return rows, dataclasses.replace(columns, lines=_LINE)


_LINE = "line of JSONL"  # hardly the name of a field


def _cause(error: Exception) -> str:
    """Returns the one line of a failed job that says why."""
    said = str(error)
    if own := re.findall(r"ToxscreenError: (.+)", said):
        return str(own[-1])
    return said.strip().split("\n")[0]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m toxscreen.spark",
        description="Score JSONL or Parquet with Spark and write Parquet with one row for each row: its id, score, flagged, severity, the attributes, not_decided "
        "and error. Paths are whatever Spark reads. The exit code is 3 if rows failed, were not decided or got no verdict.",
    )
    add = parser.add_argument
    add("--input", "-i", required=True, metavar="PATH", help="file, folder or pattern")
    add("--output", "-o", required=True, metavar="FOLDER", help="folder for the Parquet files")
    add("--input-format", choices=("jsonl", "parquet"), help="default: as its name says")
    add("--text-column", default="text", metavar="NAME", help="column or field with the text (default text)")
    add("--id-column", default="id", metavar="NAME", help="column or field with the id of the row (default id)")
    add("--keep", action="append", default=[], metavar="NAME", help="another column or field that the output has; repeatable")
    add("--whole", action="store_true", help="also write the native result, as JSON in the column result")
    add("--dead-letter", metavar="FOLDER", help="write rows that failed to this FOLDER, as JSONL with their texts")
    add("--overwrite", action="store_true", help="replace an existing output, and existing dead letters")
    add("--format", choices=("text", "json"), default="text", help="how the counts are printed: text on standard error, json on standard output")
    spark = parser.add_argument_group("Spark")
    spark.add_argument("--master", metavar="URL", help="spark://…, yarn, k8s://… or local[N]; default: as spark-submit or the configuration says")
    spark.add_argument("--conf", action="append", default=[], type=_pair, metavar="KEY=VALUE", help="setting of Spark; repeatable")
    settings = parser.add_argument_group("settings of toxscreen on the workers")
    settings.add_argument("--threads", type=int, metavar="N", help="texts that a task scores at once (default spark.task.cpus)")
    settings.add_argument("--model", metavar="NAME", help="default, the name of an imported model, or a folder")
    settings.add_argument("--full", action="store_true", default=None, help="run the whole network on clearly harmless texts, too")
    settings.add_argument("--scale", choices=("guideline", "perspective"), help="the scale of scores and thresholds (default guideline)")
    settings.add_argument("--sensitivity", choices=("low", "medium", "high"), help="which of the model's thresholds count (default medium)")
    settings.add_argument(
        "--threshold", action="append", dest="thresholds", type=_limit, metavar="ATTRIBUTE=SCORE", help="flag an attribute at or over this score; repeatable"
    )
    settings.add_argument("--max-bytes", type=int, metavar="N", help="refuse a text with more bytes (default 1048576)")
    settings.add_argument("--language", metavar="CODE", help="the language of the texts, such as en, in place of what is detected")
    settings.add_argument("--judge-model", metavar="NAME", help="the judge's model in Ollama; default: no judge")
    settings.add_argument("--judge-host", metavar="ADDRESS", help="address of the judge's Ollama server, which every worker must reach")
    settings.add_argument("--binary", metavar="FILE", help="the toxscreen binary; default: that of an archive called toxscreen, else the installed one")
    settings.add_argument("--onnxruntime", metavar="FILE", help="ONNX Runtime's library; default: searched for")
    return parser


def _pair(argument: str) -> tuple[str, str]:
    key, equals, value = argument.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"{argument!r} is not KEY=VALUE")
    return key, value


def _limit(argument: str) -> tuple[str, float]:
    attribute, score = _pair(argument)
    return attribute, float(score)


if __name__ == "__main__":
    sys.exit(main())

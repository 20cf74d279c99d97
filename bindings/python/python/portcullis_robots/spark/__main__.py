"""Classify or filter Parquet by Spark: ``python -m portcullis_robots.spark --help``."""

from __future__ import annotations

import argparse
import os
import sys
from datetime import datetime

from .._core import PolicySet
from . import classify, counts, filter


def _arguments(values: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m portcullis_robots.spark",
        description="Add columns of verdicts to Parquet, or keep the rows that may be fetched.",
    )
    add = parser.add_argument
    add("inputs", nargs="+", metavar="PARQUET", help="files or folders that Spark reads")
    add("-p", "--policies", required=True, metavar="SET", help="a set, made by portcullis compile")
    add("--on-workers", action="store_true",
        help="SET is a path that all workers see; without this flag Spark distributes the file")
    add("-a", "--agents", action="append", default=[], metavar="A,B,…",
        help="product tokens, separated by commas, or @NAME for a list, such as @ai-training")
    add("--user-agent", action="append", default=[], metavar="HEADER",
        help="a crawler given by its User-Agent header")
    add("-o", "--output", required=True, metavar="FOLDER", help="the folder of Parquet to write")
    add("--url-field", default="url", help="the column of URLs (default: url)")
    times = parser.add_mutually_exclusive_group()
    times.add_argument("--at", type=datetime.fromisoformat, metavar="TIME",
        help="decide as of this time, by a set with history")
    times.add_argument("--time-field", metavar="COLUMN",
        help="decide each row as of the time in this column, by a set with history")
    add("--before-first", choices=["unknown", "oldest"], default="unknown",
        help="before the first capture of an origin: unknown, or as by that capture")
    add("--columns", default="verdict", metavar="C,D,…",
        help="verdict, reason, line, rule, group, delay, state, captured, since and until "
        "(default: verdict)")
    add("--usage", metavar="L,M,…",
        help="add what pages may be used for, by label: train-ai, ai-use, search")
    add("--column-prefix", default="", metavar="TEXT", help="put TEXT before added names")
    add("--assume-scheme", metavar="SCHEME", help="the scheme of URLs without one")
    add("--filter", action="store_true", help="keep the rows that may be fetched, add no columns")
    add("--any", action="store_true", help="with --filter: at least one agent is allowed")
    add("--purpose", metavar="LABEL", help="with --filter: the use that pages must permit")
    add("--unstated", choices=["keep", "drop"], help="with --purpose: uses that are not stated")
    add("--counts", metavar="FOLDER", help="write the number of rows per agent and verdict as JSON")
    arguments = parser.parse_args(values)
    agents = ",".join(arguments.agents).split(",")
    arguments.agents = [agent.strip() for agent in agents if agent.strip()]
    if not arguments.agents and not arguments.user_agent:
        parser.error("no agents: pass -a or --user-agent")
    if arguments.before_first == "oldest" and not (arguments.at or arguments.time_field):
        parser.error("--before-first needs --at or --time-field")
    if (arguments.any or arguments.purpose) and not arguments.filter:
        parser.error("--any and --purpose need --filter")
    if (arguments.purpose is None) != (arguments.unstated is None):
        parser.error("--purpose and --unstated need each other")
    if arguments.usage and arguments.filter:
        parser.error("--usage adds columns, --filter keeps rows; --purpose selects them by use")
    arguments.usage = [label.strip() for label in (arguments.usage or "").split(",") if label.strip()]
    if arguments.counts and (arguments.filter or "verdict" not in arguments.columns.split(",")):
        parser.error("--counts counts the column verdict of classified rows")
    return arguments


def main(values: list[str] | None = None) -> int:
    """Run the job."""
    from pyspark.sql import SparkSession

    asked = _arguments(values)
    spark = SparkSession.builder.appName("portcullis").getOrCreate()
    policies = asked.policies
    if asked.agents:
        # Lists are replaced by their names, which are the names of the columns.
        asked.agents = PolicySet.open(policies).for_agents(asked.agents).agents
    if not asked.on_workers:
        spark.sparkContext.addFile(policies)
        policies = os.path.basename(policies)
    pages = spark.read.parquet(*asked.inputs)
    question = {
        "user_agents": asked.user_agent, "assume_scheme": asked.assume_scheme,
        "at": asked.time_field or asked.at, "before_first": asked.before_first,
    }
    if asked.filter:
        decided = filter(
            pages, asked.url_field, policies, asked.agents,
            mode="any" if asked.any else "all", purpose=asked.purpose, unstated=asked.unstated,
            **question,
        )
    else:
        decided = classify(
            pages, asked.url_field, policies, asked.agents,
            columns=asked.columns, usage=asked.usage, prefix=asked.column_prefix, **question,
        )
    decided.write.parquet(asked.output)
    if asked.counts:
        agents = asked.agents + asked.user_agent
        written = spark.read.parquet(asked.output)
        counted = counts(written, agents, prefix=asked.column_prefix)
        counted.coalesce(1).write.json(asked.counts)
        counted.show(truncate=False)
    spark.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())

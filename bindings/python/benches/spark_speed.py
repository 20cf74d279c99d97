"""Compares the Spark function with an identity mapInArrow, from Parquet to the noop sink.

    python benches/spark_speed.py SET PARQUET COLUMN [ROUNDS]

Prints, for each, the best of several rounds by turns: rows per second, and the CPU time per row of the
driver's processes (the JVM and its Python workers), which other work on the machine disturbs less. The
master is `local[2]`.
"""

import os
import pathlib
import sys
import time

from pyspark.sql import SparkSession

from portcullis_robots import spark as robots

TICK = os.sysconf("SC_CLK_TCK")


def cpu_seconds():
    """Return the CPU time of the processes started by this one, and of their reaped children."""
    parents, used = {}, {}
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents[int(entry.name)] = int(fields[1])
            used[int(entry.name)] = sum(map(int, fields[11:15])) / TICK

    def is_ours(process):
        while process in parents and process != os.getpid():
            process = parents[process]
        return process == os.getpid()

    return sum(seconds for process, seconds in used.items() if is_ours(process))


def main():
    policies, pages, column = sys.argv[1:4]
    rounds = int(sys.argv[4]) if len(sys.argv) > 4 else 5
    os.environ.update(PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1")
    builder = SparkSession.builder.master("local[2]")
    spark = builder.config("spark.ui.enabled", "false").config("spark.log.level", "ERROR").getOrCreate()
    frame = spark.read.parquet(pages)
    rows = frame.count()
    identity = frame.mapInArrow(lambda batches: batches, frame.schema)
    decided = robots.classify(frame, column, os.path.abspath(policies), ["GPTBot"])
    best = {}
    for _ in range(rounds):
        for name, work in (("identity", identity), ("classify", decided)):
            start, used = time.perf_counter(), cpu_seconds()
            work.write.format("noop").mode("overwrite").save()
            times = time.perf_counter() - start, cpu_seconds() - used
            best[name] = tuple(map(min, best.get(name, times), times))
    for name, (wall, cpu) in best.items():
        print(f"{name:9} {rows / wall:12,.0f} rows per second, {cpu / rows * 1e9:6,.0f} ns of CPU per row")
    wall, cpu = (best["classify"][place] / best["identity"][place] for place in (0, 1))
    print(f"ratio     {wall:.2f} by the clock, {cpu:.2f} of CPU time")
    spark.stop()


if __name__ == "__main__":
    main()

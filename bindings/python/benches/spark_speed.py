"""Times the Spark function beside an identity mapInArrow, from Parquet to nowhere.

    python benches/spark_speed.py SET PARQUET COLUMN [MASTER]

Prints rows per second of each, the best of several rounds by turns.
"""

import os
import sys
import time

from pyspark.sql import SparkSession

from portcullis_robots import spark as robots

ROUNDS = 4


def main():
    policies, pages, column = sys.argv[1:4]
    os.environ.update(PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1")
    builder = SparkSession.builder.master(sys.argv[4] if len(sys.argv) > 4 else "local[2]")
    spark = builder.config("spark.ui.enabled", "false").config("spark.log.level", "ERROR").getOrCreate()
    frame = spark.read.parquet(pages)
    rows = frame.count()
    identity = frame.mapInArrow(lambda batches: batches, frame.schema)
    decided = robots.classify(frame, column, os.path.abspath(policies), ["GPTBot"])
    best = {}
    for _ in range(ROUNDS):
        for name, work in (("identity", identity), ("classify", decided)):
            start = time.perf_counter()
            work.write.format("noop").mode("overwrite").save()
            best[name] = min(best.get(name, float("inf")), time.perf_counter() - start)
    for name, seconds in best.items():
        print(f"{name:9} {rows / seconds:12,.0f} rows per second ({seconds:.2f} s)")
    print(f"ratio     {best['classify'] / best['identity']:.2f}")
    spark.stop()


if __name__ == "__main__":
    main()

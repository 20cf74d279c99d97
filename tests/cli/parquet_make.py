"""Writes Parquet files with pyarrow, and with DuckDB and Polars if they are installed; prints the files' names."""

import datetime
import pyarrow as pa
import pyarrow.parquet as pq

ROWS = 1000
TURNS = ["https://a.example/", "https://a.example/private/x", "https://c.example/", "nothing", None]
urls = [TURNS[row % 5] and TURNS[row % 5] + str(row) for row in range(ROWS)]
strings = [pa.string(), pa.large_string(), pa.string_view(), pa.binary()]
made = []

for number, url_type in enumerate(strings + [pa.dictionary(pa.int32(), pa.string())]):
    for version in ["1.0", "2.0"]:
        url = pa.array(urls, pa.string())
        url = url.dictionary_encode() if pa.types.is_dictionary(url_type) else url.cast(url_type)
        struct = [None if row % 7 == 0 else {"a": row, "b": [str(row)] * (row % 3)} for row in range(ROWS)]
        seen = [datetime.datetime(2024, 1, 1) + datetime.timedelta(hours=row) for row in range(ROWS)]
        table = pa.table(
            {
                "id": pa.array(range(ROWS), pa.uint32()),
                "url": url,
                "struct": struct,
                "seen": pa.array(seen, pa.timestamp("ns", "UTC")),
                "map": pa.array([[("k", row)] * (row % 2) for row in range(ROWS)], pa.map_(pa.string(), pa.int64())),
                "price": pa.array(range(ROWS), pa.int32()).cast(pa.decimal128(12, 2)),
            }
        ).replace_schema_metadata({"pandas": '{"index_columns": []}', "note": "kept"})
        name = f"pyarrow-{number}-{version}.parquet"
        pq.write_table(
            table,
            name,
            row_group_size=300,
            data_page_size=1000,
            compression=["snappy", "zstd", "gzip", "lz4", "none"][number],
            data_page_version=version,
            use_deprecated_int96_timestamps=version == "1.0",
            write_page_index=version == "2.0",
        )
        made.append(name)

# A dictionary of Arrow that is longer than a dictionary page, or was written without one.
count = 40 * ROWS
digits = pa.array([f"{row * 7919:060}" for row in range(count)]).dictionary_encode()
long = pa.table({"id": range(count), "url": urls * 40, "digits": digits})
for use_dictionary in [True, False]:
    name = f"digits-{use_dictionary}.parquet"
    pq.write_table(long, name, use_dictionary=use_dictionary)
    made.append(name)

# Pages without values, before the last ones of lists.
for version in ["1.0", "2.0"]:
    words = pa.array([[None, "", str(row)][: row % 4] for row in range(ROWS)])
    name = f"pages-{version}.parquet"
    small = {"write_batch_size": 1, "data_page_size": 1, "data_page_version": version}
    pq.write_table(pa.table({"id": range(ROWS), "url": urls, "words": words}), name, **small)
    made.append(name)

try:
    import duckdb

    rows = pq.read_table("pyarrow-0-1.0.parquet")
    for version in ["V1", "V2"]:
        name = f"duckdb-{version}.parquet"
        duckdb.sql(f"COPY (SELECT * FROM rows) TO '{name}' (PARQUET_VERSION {version})")
        made.append(name)
except ImportError:
    pass

try:
    import polars

    frame = polars.DataFrame({"id": range(ROWS), "url": urls, "lists": [[row] for row in range(ROWS)]})
    frame.with_columns(polars.col("url").cast(polars.Categorical).alias("word")).write_parquet("polars.parquet")
    made.append("polars.parquet")
except ImportError:
    pass

print(*made)

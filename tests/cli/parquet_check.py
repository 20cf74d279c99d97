"""Compares the program's output with its input, with pyarrow, and with DuckDB and Polars if they are installed."""

import glob
import pyarrow.parquet as pq

VERDICTS = ["allow", "disallow", "unknown", "invalid", "invalid"]
ADDED = ["ExampleBot", "ExampleBot_line", "ExampleBot_rule"]
checked = 0

for tagged in sorted(glob.glob("tagged-*.parquet")):
    name = tagged.removeprefix("tagged-")
    own, found, kept = [pq.ParquetFile(file) for file in (name, tagged, "kept-" + name)]
    own_table, found_table, kept_table = own.read(), found.read(), kept.read()
    count = own_table.num_columns
    # The same types, field ids, fields' metadata and the file's, and the same rows.
    assert found_table.schema.names == own_table.schema.names + ADDED, found_table.schema
    for place in range(count):
        assert found_table.schema.field(place).equals(own_table.schema.field(place), check_metadata=True)
        assert found_table.column(place).equals(own_table.column(place)), own_table.schema.field(place)
    for key, value in (own_table.schema.metadata or {}).items():
        assert found_table.schema.metadata[key] == value == kept_table.schema.metadata[key], key
    assert b"portcullis" in found.metadata.metadata and b"portcullis" in kept.metadata.metadata
    for place in range(len(own.schema)):
        assert str(own.schema.column(place)) == str(found.schema.column(place)) == str(kept.schema.column(place))
    verdicts = found_table.column("ExampleBot").to_pylist()
    assert verdicts == [VERDICTS[row % 5] for row in range(len(verdicts))], verdicts[:9]
    lines = found_table.column("ExampleBot_line").to_pylist()
    assert lines == [2 if row % 5 == 1 else None for row in range(len(lines))], lines[:9]
    rows = [row for row in range(len(verdicts)) if row % 5 == 0]
    assert kept_table.schema.equals(own_table.schema)
    assert kept_table.to_pylist() == own_table.to_pylist()[::5], name
    for file in (own, found):
        assert file.metadata.num_row_groups == own.metadata.num_row_groups
    try:
        import duckdb

        for file in (tagged, "kept-" + name):
            said = duckdb.sql(f"SELECT count(*) FROM '{file}' WHERE id % 5 = 0").fetchall()[0]
            assert said == (len(rows),), said
        said = duckdb.sql(f"SELECT DISTINCT ExampleBot FROM '{tagged}' ORDER BY 1").fetchall()
        assert said == [("allow",), ("disallow",), ("invalid",), ("unknown",)], said
        described = [duckdb.sql(f"DESCRIBE SELECT * FROM '{file}'").fetchall() for file in (name, tagged)]
        assert described[1][:count] == described[0], described
    except ImportError:
        pass
    try:
        import polars

        if not name.startswith("pyarrow") or "map" not in own_table.schema.names:
            assert polars.read_parquet(tagged).height == len(verdicts)
    except ImportError:
        pass
    checked += 1

listed = pq.read_table("list.parquet")
assert listed.schema.names == ["url", "ExampleBot", "state"], listed.schema
assert listed.column("ExampleBot").to_pylist() == ["allow", "disallow", "unknown", "invalid"]
assert listed.column("state").to_pylist() == ["rules", "rules", "unknown", None]
print(checked, "files checked")

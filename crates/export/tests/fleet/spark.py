# Runs the ready queries in Spark, in the lake's folder: one list of queries for each argument. Prints the rows as texts.
import json
import os
import sys
from pyspark.sql import SparkSession

builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
builder = builder.config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
spark = builder.config("spark.sql.shuffle.partitions", "2").getOrCreate()


def rows(sql):
    # Spark needs absolute paths, because its own folder is another one.
    sql = sql.replace("parquet.`", "parquet.`" + os.getcwd() + "/")
    return [{name: "" if value is None else str(value) for name, value in row.asDict().items()} for row in spark.sql(sql).collect()]


print(json.dumps([[rows(sql) for sql in json.loads(queries)] for queries in sys.argv[1:]]))

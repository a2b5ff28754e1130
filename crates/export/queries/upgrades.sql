-- What changed on each machine from {before} on: files that launch kernels, runtimes, drivers, settings.
-- One row for each value that a machine did not have at its first observation of this kind.
WITH
{steady}
facts AS (
    SELECT machine, host, concat('file ', artifact) AS what, concat(coalesce(runtime, ''), ' ', artifact_hash) AS is_value,
           time AS seen
    FROM {launches}
    WHERE own AND rung IN ('launched', 'completed') AND artifact IS NOT NULL AND artifact_hash IS NOT NULL
    UNION ALL
    SELECT machine, host, topic AS what, concat(coalesce(about, ''), ' ', coalesce(value, '')) AS is_value, time AS seen
    FROM {observations}
    WHERE own AND (topic LIKE 'host.%' OR topic LIKE 'runtime.%' OR topic LIKE '%.driver')
),
firsts AS (
    SELECT machine, what, is_value, max_by(host, seen) AS host_name, min(seen) AS first_seen, max(seen) AS last_seen
    FROM facts WHERE machine NOT IN (SELECT machine FROM unsteady)
    GROUP BY machine, what, is_value
),
begun AS (
    SELECT *, min(first_seen) OVER (PARTITION BY machine, what) AS kind_first,
           coalesce(lag(is_value) OVER (PARTITION BY machine, what ORDER BY first_seen, is_value), '') AS earlier_value
    FROM firsts
)
SELECT machine, host_name, what, earlier_value AS value_before, is_value AS value_after, first_seen, last_seen
FROM begun
WHERE first_seen > kind_first AND first_seen >= '{before}'
ORDER BY first_seen, machine, what, is_value

-- Which hosts run the fallback (BLAS instead of the card's own kernels), since when, after which upgrade?
-- One row for each card, model, type and column count whose last observation shows it. Only launches on a real device.
-- last_other is the last observation without the fallback. If it is empty, the fallback was there from the beginning.
WITH
{steady}
runs AS (
    SELECT machine, coalesce(card, target, '') AS gpu, coalesce(model, '') AS model_name, type AS quant,
           columns AS column_count, coalesce(phase, '') AS phase_name, time AS seen, max(host) AS run_host,
           max(CASE WHEN path = 'BLAS' THEN 1 ELSE 0 END) AS fallback,
           coalesce(max(runtime), '') AS runtime_name, coalesce(max(artifact_hash), '') AS file_hash
    FROM {launches}
    WHERE own AND topic = 'matmul.path' AND rung IN ('launched', 'completed') AND NOT contaminated
      AND machine NOT IN (SELECT machine FROM unsteady)
    GROUP BY machine, gpu, model_name, quant, column_count, phase_name, seen
),
ordered AS (
    SELECT *,
           sum(CASE WHEN fallback = 0 THEN 1 ELSE 0 END) OVER (
               PARTITION BY machine, gpu, model_name, quant, column_count, phase_name
               ORDER BY seen DESC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS others_since,
           coalesce(lag(seen) OVER (
               PARTITION BY machine, gpu, model_name, quant, column_count, phase_name ORDER BY seen), '') AS earlier_seen,
           coalesce(lag(runtime_name) OVER (
               PARTITION BY machine, gpu, model_name, quant, column_count, phase_name ORDER BY seen), '') AS earlier_runtime,
           coalesce(lag(file_hash) OVER (
               PARTITION BY machine, gpu, model_name, quant, column_count, phase_name ORDER BY seen), '') AS earlier_file
    FROM runs
)
SELECT machine, max_by(run_host, seen) AS host_name, gpu, model_name, quant, column_count, phase_name,
       min(seen) AS since, max(seen) AS last_seen, count(*) AS times_seen, min_by(earlier_seen, seen) AS last_other,
       min_by(earlier_runtime, seen) AS runtime_before, min_by(runtime_name, seen) AS runtime_after,
       min_by(earlier_file, seen) AS file_before, min_by(file_hash, seen) AS file_after
FROM ordered
WHERE fallback = 1 AND others_since = 0
GROUP BY machine, gpu, model_name, quant, column_count, phase_name
ORDER BY since, machine, gpu, model_name, quant, column_count, phase_name

-- Which paths differ between the last observation before {before} and the last one from {after} on?
-- One row for each path that is in only one of the two: `was` 1 and `is_now` 0, or the reverse. Only launches on a real
-- device, and only the same card, model, type and column count are compared.
WITH
{steady}
seen_paths AS (
    SELECT machine, host, coalesce(card, target, '') AS gpu, coalesce(model, '') AS model_name, topic AS about,
           type AS quant, columns AS column_count, coalesce(phase, '') AS phase_name, path AS path_name, time AS seen,
           coalesce(runtime, '') AS runtime_name, coalesce(artifact_hash, '') AS file_hash
    FROM {launches}
    WHERE own AND topic IN ('matmul.path', 'vulkan.path') AND rung IN ('launched', 'completed') AND NOT contaminated
      AND machine NOT IN (SELECT machine FROM unsteady)
),
ends AS (
    SELECT *,
           max(CASE WHEN seen < '{before}' THEN seen ELSE '' END) OVER (
               PARTITION BY machine, gpu, model_name, about, quant, column_count, phase_name) AS last_before,
           max(CASE WHEN seen >= '{after}' THEN seen ELSE '' END) OVER (
               PARTITION BY machine, gpu, model_name, about, quant, column_count, phase_name) AS last_after
    FROM seen_paths
),
compared AS (
    SELECT *,
           max(CASE WHEN seen = last_before THEN runtime_name ELSE '' END) OVER (
               PARTITION BY machine, gpu, model_name, about, quant, column_count, phase_name) AS one_runtime,
           max(CASE WHEN seen = last_after THEN runtime_name ELSE '' END) OVER (
               PARTITION BY machine, gpu, model_name, about, quant, column_count, phase_name) AS two_runtime,
           max(CASE WHEN seen = last_before THEN file_hash ELSE '' END) OVER (
               PARTITION BY machine, gpu, model_name, about, quant, column_count, phase_name) AS one_file,
           max(CASE WHEN seen = last_after THEN file_hash ELSE '' END) OVER (
               PARTITION BY machine, gpu, model_name, about, quant, column_count, phase_name) AS two_file
    FROM ends
    WHERE last_before <> '' AND last_after <> ''
)
SELECT machine, max_by(host, seen) AS host_name, gpu, model_name, about, quant, column_count, phase_name, path_name,
       max(CASE WHEN seen = last_before THEN 1 ELSE 0 END) AS was,
       max(CASE WHEN seen = last_after THEN 1 ELSE 0 END) AS is_now,
       coalesce(min(CASE WHEN seen > last_before THEN seen END), '') AS since,
       max(last_before) AS seen_before, max(last_after) AS seen_after,
       max(one_runtime) AS runtime_before, max(two_runtime) AS runtime_after,
       max(one_file) AS file_before, max(two_file) AS file_after
FROM compared
GROUP BY machine, gpu, model_name, about, quant, column_count, phase_name, path_name
HAVING was <> is_now
ORDER BY machine, gpu, model_name, about, quant, column_count, phase_name, path_name

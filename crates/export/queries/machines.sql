-- Every machine: its last record, whether it has records before {before} and from {after} on, how much of it can be
-- compared, whether its clock went back, and whether another machine has exported the same ledger.
-- A machine without records is not necessarily well: nothing is known of it.
WITH
steps AS (
    SELECT machine, ledger, host, recorded AS at_time, coalesce(time, recorded) AS seen,
           lag(recorded) OVER (PARTITION BY machine, ledger ORDER BY row) AS earlier
    FROM {observations} WHERE own
),
ledgers AS (
    SELECT machine, ledger, max_by(host, at_time) AS ledger_host, max(seen) AS ledger_last,
           sum(CASE WHEN seen < '{before}' THEN 1 ELSE 0 END) AS ledger_before,
           sum(CASE WHEN seen >= '{after}' THEN 1 ELSE 0 END) AS ledger_after,
           sum(CASE WHEN substr(earlier, 1, 16) > substr(at_time, 1, 16) THEN 1 ELSE 0 END) AS ledger_back
    FROM steps GROUP BY machine, ledger
),
copied AS (
    SELECT *, count(*) OVER (PARTITION BY ledger) AS copies FROM ledgers
),
keys AS (
    SELECT machine, max(CASE WHEN time < '{before}' THEN 1 ELSE 0 END) AS key_before,
           max(CASE WHEN time >= '{after}' THEN 1 ELSE 0 END) AS key_after
    FROM {launches}
    WHERE own AND topic IN ('matmul.path', 'vulkan.path') AND rung IN ('launched', 'completed') AND NOT contaminated
    GROUP BY machine, coalesce(card, target, ''), coalesce(model, ''), topic, type, columns, coalesce(phase, '')
),
counted AS (
    SELECT machine AS of_machine, sum(key_before * key_after) AS in_both, sum(key_before) AS in_before,
           sum(key_after) AS in_after
    FROM keys GROUP BY machine
)
SELECT machine, max_by(ledger_host, ledger_last) AS host_name, max(ledger_last) AS last_record,
       sum(ledger_before) AS records_before, sum(ledger_after) AS records_after,
       coalesce(max(in_before), 0) AS paths_before, coalesce(max(in_after), 0) AS paths_after,
       coalesce(max(in_both), 0) AS paths_compared,
       sum(ledger_back) AS clock_back, max(copies) AS same_ledger
FROM copied LEFT JOIN counted ON machine = of_machine
GROUP BY machine
ORDER BY host_name, machine

-- Machines whose clock went back by a minute or more: their dates have no order, so they are left out.
steps AS (
    SELECT machine, recorded AS at_time, lag(recorded) OVER (PARTITION BY machine, ledger ORDER BY row) AS earlier
    FROM {observations} WHERE own
),
unsteady AS (
    SELECT DISTINCT machine FROM steps WHERE substr(earlier, 1, 16) > substr(at_time, 1, 16)
),

//! The ready queries: one source for each, with the few words in which the engines differ.

use crate::manifest::is_day;

say::named! {
    /// An engine whose SQL a query is written in.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Dialect: name {
        Duckdb = "duckdb",
        Clickhouse = "clickhouse",
        Spark = "spark",
    }
}

say::named! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Query: name and ALL {
        Changes = "changes",
        Fallback = "fallback",
        Machines = "machines",
        Upgrades = "upgrades",
    }
}

/// The two dates of a comparison: earlier than the start of `before`, and from the start of `after` on (UTC).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dates {
    before: String,
    after: String,
}

impl Dates {
    /// None if one is not a date, or they are in the wrong order.
    pub fn new(before: &str, after: &str) -> Option<Dates> {
        let fine = Dates::is_date(before) && Dates::is_date(after) && before <= after;
        fine.then(|| Dates { before: before.to_owned(), after: after.to_owned() })
    }

    /// Whether a text is a date such as `2026-11-17`. It becomes part of a query.
    pub fn is_date(text: &str) -> bool {
        let number = |range| text.get(range).and_then(|part: &str| part.parse::<u32>().ok()).unwrap_or(0);
        is_day(text) && (1..=12).contains(&number(5..7)) && (1..=31).contains(&number(8..10))
    }

    pub fn before(&self) -> &str {
        &self.before
    }

    pub fn after(&self) -> &str {
        &self.after
    }
}

/// The question: what changed between two dates, or what needs attention since a date.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Question {
    Diff(Dates),
    Alerts(Dates),
}

impl Question {
    pub fn dates(&self) -> &Dates {
        match self {
            Question::Diff(dates) | Question::Alerts(dates) => dates,
        }
    }

    /// The queries that answer it.
    pub fn queries(&self) -> &'static [Query] {
        match self {
            Question::Diff(_) => &[Query::Changes, Query::Machines, Query::Upgrades],
            Question::Alerts(_) => &[Query::Changes, Query::Machines, Query::Fallback],
        }
    }
}

impl Query {
    fn source(self) -> &'static str {
        match self {
            Query::Changes => include_str!("../../queries/changes.sql"),
            Query::Fallback => include_str!("../../queries/fallback.sql"),
            Query::Machines => include_str!("../../queries/machines.sql"),
            Query::Upgrades => include_str!("../../queries/upgrades.sql"),
        }
    }

    /// The query for an engine that runs in the lake's folder, or for the lake at the address `lake` if it is not
    /// empty.
    pub fn sql(self, dialect: Dialect, lake: &str, dates: &Dates) -> String {
        let mut sql = self.source().replace("{steady}\n", include_str!("../../queries/steady.sql"));
        for table in ["launches", "observations"] {
            sql = sql.replace(&format!("{{{table}}}"), &dialect.table(lake, table));
        }
        sql = sql.replace("{before}", &dates.before).replace("{after}", &dates.after);
        match dialect {
            Dialect::Clickhouse => sql.replace("max_by(", "argMax(").replace("min_by(", "argMin("),
            Dialect::Duckdb | Dialect::Spark => sql,
        }
    }
}

impl Dialect {
    pub fn parse(name: &str) -> Option<Dialect> {
        [Dialect::Duckdb, Dialect::Clickhouse, Dialect::Spark].into_iter().find(|dialect| dialect.name() == name)
    }

    /// The files of a table, with day and machine as columns.
    fn table(self, lake: &str, table: &str) -> String {
        let lake = lake.trim_end_matches('/');
        let path = if lake.is_empty() { table.to_owned() } else { format!("{lake}/{table}") };
        match self {
            Dialect::Duckdb => format!("read_parquet('{path}/*/*/*.parquet', hive_partitioning = true)"),
            Dialect::Clickhouse if lake.is_empty() => format!("file('{path}/*/*/*.parquet', Parquet)"),
            Dialect::Clickhouse => format!("s3('{path}/*/*/*.parquet', Parquet)"),
            Dialect::Spark => format!("parquet.`{path}`"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_has_no_placeholder_left_in_any_dialect() {
        let dates = Dates::new("2026-11-10", "2026-11-12").expect("dates");
        for query in Query::ALL {
            for dialect in [Dialect::Duckdb, Dialect::Clickhouse, Dialect::Spark] {
                let sql = query.sql(dialect, "", &dates);
                assert!(!sql.contains(['{', '}']), "{sql}");
                assert_eq!(dialect == Dialect::Clickhouse, !sql.contains("max_by("), "{sql}");
            }
        }
    }

    #[test]
    fn only_dates_in_order_become_part_of_a_query() {
        assert!(Dates::new("2026-11-10", "2026-11-10").is_some());
        for (before, after) in [
            ("2026-11-11", "2026-11-10"),
            ("2026-13-01", "2026-12-01"),
            ("today", "2026-11-10"),
            ("2026-11-10", "' OR 1"),
        ] {
            assert_eq!(Dates::new(before, after), None, "{before} {after}");
        }
    }
}

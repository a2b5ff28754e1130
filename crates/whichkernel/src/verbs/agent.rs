//! The agent of a machine: metrics of every process's launches.

use crate::context::Context;
use agent::{News, Printed, Receiver, Settings};
use say::{Context as _, Message, ensure, say};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

#[derive(Debug, Clone, clap::Args)]
pub struct Args {
    /// Serve OpenMetrics text at this address
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:9464")]
    pub listen: SocketAddr,

    /// Allow --listen with an address that other machines can reach
    #[arg(long)]
    pub anywhere: bool,

    /// Push the metrics over OTLP (HTTP) to this collector: http://127.0.0.1:4318
    #[arg(long, value_name = "URL")]
    pub otlp: Option<String>,

    /// Read and push the counts this often: 10s, 1m
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = crate::number::duration)]
    pub interval: Duration,

    /// The most that the agent may use, in percent of one core
    #[arg(long, value_name = "PERCENT", default_value_t = 1.0)]
    pub cpu: f64,

    /// Keep the machine's identity in this directory [default: $STATE_DIRECTORY, or the cache]
    #[arg(long, value_name = "DIR")]
    pub state: Option<PathBuf>,

    /// Stop after this time: 10s, 2m
    #[arg(long = "for", value_name = "TIME", value_parser = crate::number::duration)]
    pub duration: Option<Duration>,

    /// Print a file for installing the agent or showing its metrics, and exit
    #[arg(long, value_name = "FILE", value_parser = printed())]
    pub print: Option<String>,

    /// For the agent itself: read the library on standard input
    #[arg(long, hide = true, num_args = 2)]
    pub read_library: Vec<String>,
}

fn printed() -> clap::builder::PossibleValuesParser {
    Printed::ALL.iter().map(|one| one.key()).collect::<Vec<_>>().into()
}

struct Lines<'c>(&'c Context);

impl News for Lines<'_> {
    fn tell(&mut self, line: Message) {
        crate::context::tell(format_args!("{}", self.0.lang.say(&line)));
    }
}

pub fn run(args: &Args, context: &Context) -> say::Result<ExitCode> {
    if let Some(printed) = Printed::ALL.iter().find(|one| args.print.as_deref() == Some(one.key())) {
        context.print(printed.text())?;
        return Ok(ExitCode::SUCCESS);
    }
    if let [name, wanted] = &args.read_library[..] {
        let cache = runtime::Cache::from_env();
        context.print(&uprobe::read_library(name, wanted, cache.dir()))?;
        return Ok(ExitCode::SUCCESS);
    }
    ensure!(args.listen.ip().is_loopback() || args.anywhere, "agent-not-loopback", address = args.listen.to_string());
    ensure!((0.1..=100.0).contains(&args.cpu), "agent-budget");
    let otlp = args.otlp.as_deref().map(Receiver::parse).transpose().about("--otlp")?;
    let cache = runtime::Cache::from_env().dir().to_owned();
    let given = || std::env::var_os("STATE_DIRECTORY").map(PathBuf::from);
    let state = args.state.clone().or_else(given).unwrap_or_else(|| cache.clone());
    let kept = sys::rights::kept(true, false, &[cache.clone(), state.clone()]);
    sys::rights::keep(kept, false).context(say!("command-giving-up-rights"))?;
    sys::interrupt::catch();
    let settings = Settings {
        listen: args.listen,
        otlp,
        interval: args.interval.max(Duration::from_millis(100)),
        budget: args.cpu / 100.0,
        state,
        cache,
        most: args.duration,
    };
    agent::run(&settings, &mut Lines(context))?;
    Ok(ExitCode::SUCCESS)
}

//! `--watch`: an observer of launches on the server's processes, if that is allowed.

use crate::context::Context;
use probe::Onlooker;
use say::{Message, Say, say};
use uprobe::{How, Options, Watcher};

/// Gives up every capability that a watch does not need, before any thread is started. `starts`: this process starts
/// servers.
pub fn keep_rights(context: &Context, starts: bool) -> say::Result<()> {
    if is_root() {
        let writes = [context.ledger.clone(), runtime::Cache::from_env().dir().to_owned()];
        sys::rights::keep(sys::rights::kept(true, starts, &writes), starts)?;
    }
    Ok(())
}

fn is_root() -> bool {
    sys::host::is_root()
}

/// Our own probes if allowed; else those of `watch arm`. An obstacle is reported with its fix.
pub fn open(pids: Vec<u32>, hash: bool) -> Result<Onlooker, Message> {
    if pids.is_empty() {
        return Err(say!("probe-no-process"));
    }
    let how = if is_root() { How::Bpf } else { How::Armed };
    let options = Options { hash, how, canary: how != How::Armed, ..Options::default() };
    let family: Vec<u32> = server::claims::tree(pids).into_iter().collect();
    let watcher = Watcher::attach(&family, options).map_err(|error| error.message())?;
    Ok(Onlooker::new(Box::new(watcher)))
}

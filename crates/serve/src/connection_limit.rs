//! Limits connections. When all slots are in use, a new client gets a slot of the user who has the most. Clients are
//! users of this machine, and none of them can keep the others out.

use std::collections::BTreeMap;
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::{Mutex, PoisonError};

/// The maximum number of connections; a browser opens six.
pub const MOST: usize = 32;

#[derive(Debug)]
struct Held {
    id: u64,
    peer: SocketAddr,
    stream: TcpStream,
}

#[derive(Debug, Default)]
pub struct Places {
    held: Mutex<(u64, Vec<Held>)>,
}

impl Places {
    /// Takes a place for this client and returns its number; None if its socket cannot be duplicated.
    pub fn enter(&self, stream: &TcpStream, peer: SocketAddr) -> Option<u64> {
        let stream = stream.try_clone().ok()?;
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let (last, list) = &mut *held;
        if list.len() >= MOST {
            let table = std::fs::read_to_string("/proc/net/tcp").unwrap_or_default();
            let peers: Vec<SocketAddr> = list.iter().map(|held| held.peer).collect();
            let gone = list.remove(costliest(&peers, peer, &table));
            // Wakes the thread that waits on it.
            let _ = gone.stream.shutdown(Shutdown::Both);
        }
        *last += 1;
        list.push(Held { id: *last, peer, stream });
        Some(*last)
    }

    pub fn leave(&self, id: u64) {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).1.retain(|held| held.id != id);
    }
}

/// The oldest connection of the user who holds the most, including the newcomer's. `peers`: oldest first.
fn costliest(peers: &[SocketAddr], newcomer: SocketAddr, table: &str) -> usize {
    let users = users(table);
    // Sockets of another address family are in another table; those count as one user.
    let user = |peer: &SocketAddr| users.get(peer).copied();
    let mut places: BTreeMap<Option<u32>, usize> = BTreeMap::new();
    for peer in peers.iter().chain([&newcomer]) {
        *places.entry(user(peer)).or_default() += 1;
    }
    let most = peers.iter().map(|peer| places.get(&user(peer)).copied().unwrap_or(0)).max().unwrap_or(0);
    peers.iter().position(|peer| places.get(&user(peer)).copied().unwrap_or(0) == most).unwrap_or(0)
}

/// The user of each socket address: `sl local_address rem_address st tx:rx tr:when retrnsmt uid`, with hexadecimal
/// addresses.
fn users(table: &str) -> BTreeMap<SocketAddr, u32> {
    let line = |line: &str| {
        let mut words = line.split_whitespace();
        let (address, port) = words.nth(1)?.split_once(':')?;
        let address = u32::from_str_radix(address, 16).ok()?.to_ne_bytes();
        let port = u16::from_str_radix(port, 16).ok()?;
        Some((SocketAddr::from((address, port)), words.nth(5)?.parse().ok()?))
    };
    table.lines().skip(1).filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn the_system_says_whose_socket_it_is() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
        let ours = TcpStream::connect(listener.local_addr().expect("bound")).expect("a connection");
        let table = std::fs::read_to_string("/proc/net/tcp").expect("Linux");
        let owner = std::os::unix::fs::MetadataExt::uid(&std::fs::metadata("/proc/self").expect("Linux"));
        assert_eq!(users(&table).get(&ours.local_addr().expect("bound")), Some(&owner));
        assert!(users("sl\n 0: xyz\n 1: 0100007F:1F90\n\n").is_empty());
    }

    #[test]
    fn who_holds_the_most_gives_way_and_who_holds_one_does_not() {
        let at = |port: u16| SocketAddr::from(([127, 0, 0, 1], port));
        let row = |port: u16, uid: u32| format!("0: 0100007F:{port:04X} 0100007F:0050 01 0:0 0:0 0 {uid} 0 1\n");
        let table = format!("sl\n{}{}{}{}", row(1, 7), row(2, 1000), row(3, 1000), row(4, 7));
        assert_eq!(costliest(&[at(1), at(2), at(3)], at(9), &table), 1, "the older one of the two");
        assert_eq!(costliest(&[at(1), at(2)], at(4), &table), 0, "the newcomer's own");
        assert_eq!(costliest(&[at(8), at(9)], at(10), ""), 0, "nobody is known");
    }
}

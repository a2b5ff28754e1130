//! The addresses at which a process listens, from its own file descriptors.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use sys::http::Address;

/// `/proc` of the examined machine: this one's, or a file tree.
pub trait Proc {
    fn text(&self, path: &str) -> Option<String>;
    fn link(&self, path: &str) -> Option<String>;
    fn names(&self, path: &str) -> Vec<String>;
}

/// Its own listening sockets in our network namespace: another program may listen at the same port of another
/// namespace. If its descriptors cannot be read (another user's), none are returned: a listener of the same user may be
/// any program. Unix sockets count only if its command line names them, in our mount namespace: a server has others for
/// its own workers.
pub fn listens(proc: &impl Proc, pid: u32, command: &[String]) -> Vec<Address> {
    let ours = |space: &str| {
        let of = |who: &str| proc.link(&format!("/proc/{who}/ns/{space}"));
        of(&pid.to_string()) == of("self")
    };
    if !ours("net") {
        return Vec::new();
    }
    let links = proc.names(&format!("/proc/{pid}/fd"));
    let links = links.iter().filter_map(|fd| proc.link(&format!("/proc/{pid}/fd/{fd}")));
    let inodes: BTreeSet<String> =
        links.filter_map(|link| Some(link.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned())).collect();
    let table = |name: &str| proc.text(&format!("/proc/{pid}/net/{name}")).unwrap_or_default();
    let tcp: BTreeSet<SocketAddr> = ["tcp", "tcp6"]
        .iter()
        .flat_map(|name| table(name).lines().filter_map(listener).collect::<Vec<_>>())
        .filter_map(|(at, inode)| inodes.contains(&inode).then_some(at))
        .collect();
    let mut found: Vec<Address> = tcp.into_iter().map(Address::from).collect();
    if command.iter().any(|word| word.contains('/')) && ours("mnt") {
        // llama-server accepts a comma-separated list.
        let named = |path: &str| command.iter().any(|word| word.split(['=', ',']).any(|part| part == path));
        let table = table("unix");
        let own = table.lines().filter_map(unix).filter(|(path, inode)| named(path) && inodes.contains(*inode));
        found.extend(own.map(|(path, _)| Address::Unix(path.into())));
    }
    found
}

/// A line of `/proc/net/tcp` in state LISTEN (0A, include/net/tcp_states.h), with its inode:
/// `sl local_address rem_address st tx:rx tr:when retrnsmt uid timeout inode ...`
pub fn listener(line: &str) -> Option<(SocketAddr, String)> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let (address, port) = fields.get(1)?.split_once(':')?;
    let at = SocketAddr::new(reached(address)?, u16::from_str_radix(port, 16).ok()?);
    (*fields.get(3)? == "0A").then_some((at, (*fields.get(9)?).to_owned()))
}

/// A line of `/proc/net/unix` that accepts (`__SO_ACCEPTCON`, include/net/sock.h) at an absolute path: `Num RefCount Protocol Flags Type St Inode Path`
fn unix(line: &str) -> Option<(&str, &str)> {
    let mut fields = line.split_whitespace();
    let (flags, inode) = (fields.nth(3)?, fields.nth(2)?);
    let path = line.find(" /").and_then(|at| line.get(at + 1..))?;
    (flags == "00010000").then_some((path, inode))
}

/// The address in the kernel's format: words of four bytes, each in native order. A wildcard address is reached through
/// the loopback address.
fn reached(hex: &str) -> Option<IpAddr> {
    let words: Vec<[u8; 4]> = hex
        .as_bytes()
        .chunks(8)
        .map(|word| Some(u32::from_str_radix(std::str::from_utf8(word).ok()?, 16).ok()?.to_le_bytes()))
        .collect::<Option<_>>()?;
    let address = match words.concat().as_slice() {
        four if four.len() == 4 => IpAddr::from(*four.first_chunk::<4>()?),
        all if all.len() == 16 => IpAddr::from(Ipv6Addr::from(*all.first_chunk::<16>()?)).to_canonical(),
        _ => return None,
    };
    Some(if address.is_unspecified() { Ipv4Addr::LOCALHOST.into() } else { address })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn a_listening_socket_is_read() {
        let line = "   0: 0100007F:2CAA 00000000:0000 0A 00000000:00000000 00:00000000 00000000  998        0 31337 1";
        let at = SocketAddr::from(([127, 0, 0, 1], 11434));
        assert_eq!(listener(line), Some((at, "31337".to_owned())));
        assert_eq!(reached("0900007F"), Some(IpAddr::from([127, 0, 0, 9])));
        assert_eq!(reached("00000000000000000000000000000000"), Some(Ipv4Addr::LOCALHOST.into()));
        assert_eq!(reached("0000000000000000FFFF00000100007F"), Some(Ipv4Addr::LOCALHOST.into()));
        assert_eq!(reached("00000000000000000000000001000000"), Some(Ipv6Addr::LOCALHOST.into()));
        assert_eq!(listener(&line.replace(" 0A ", " 01 ")), None);
    }

    struct Tree(BTreeMap<&'static str, &'static str>);

    impl Proc for Tree {
        fn text(&self, path: &str) -> Option<String> {
            self.0.get(path).map(|text| (*text).to_owned())
        }
        fn link(&self, path: &str) -> Option<String> {
            self.text(path)
        }
        fn names(&self, path: &str) -> Vec<String> {
            let below = self.0.keys().filter_map(|name| name.strip_prefix(path)?.strip_prefix('/'));
            below.map(str::to_owned).collect()
        }
    }

    /// Three sockets accept connections: its own that its command names, its own for its workers, and another
    /// process's.
    #[test]
    fn only_a_socket_of_its_own_that_it_names_counts() {
        let table = "Num       RefCount Protocol Flags    Type St Inode Path\n\
            0000000000000000: 00000002 00000000 00010000 0001 01 71 /run/my llama.sock\n\
            0000000000000000: 00000003 00000000 00000000 0001 03 74 /run/my llama.sock\n\
            0000000000000000: 00000002 00000000 00010000 0001 01 72 /tmp/worker\n\
            0000000000000000: 00000002 00000000 00010000 0001 01 73 /run/other.sock\n";
        let own = ("/proc/7/fd/3", "socket:[71]");
        let mut tree = Tree([own, ("/proc/7/fd/4", "socket:[72]"), ("/proc/7/net/unix", table)].into());
        let command = ["llama-server", "--host=/run/my llama.sock", "--log", "/run/other.sock"].map(str::to_owned);
        assert_eq!(listens(&tree, 7, &command), [Address::Unix("/run/my llama.sock".into())]);
        tree.0.insert("/proc/7/ns/mnt", "mnt:[1]");
        assert_eq!(listens(&tree, 7, &command), [], "the same path is another file there");
    }
}

//! The directory that parent and target share, and the environment that makes the Vulkan loader find the layer.

use crate::WatchError;
use crate::growing_trace::LIMIT;
use crate::preload::base;
use say::say;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;
use sys::private_dir::{SessionDir, put};

/// The name by which the loader knows the layer.
pub const LAYER: &str = "VK_LAYER_WHICHKERNEL_dispatch";
const LIBRARY: &str = "libVkLayer_whichkernel.so";

#[derive(Debug)]
pub struct Session {
    session_dir: SessionDir,
    times: bool,
}

impl Session {
    pub fn new() -> Result<Session, WatchError> {
        let refused = |error: io::Error| {
            WatchError::about("layer", say!("watch-no-record-directory", error)).fix(say!("watch-room-in-tmpdir"))
        };
        let session_dir = SessionDir::new("watch", &base()).map_err(refused)?;
        let library = session_dir.outer().join(LIBRARY);
        put(&library, embedded_shims::VKLAYER).map_err(refused)?;
        put(&session_dir.outer().join("whichkernel.json"), manifest(&library).as_bytes()).map_err(refused)?;
        Ok(Session { session_dir, times: false })
    }

    /// Times dispatches on the device: the layer writes timestamps around each.
    pub fn with_times(self) -> Session {
        Session { times: true, ..self }
    }

    pub fn times(&self) -> bool {
        self.times
    }

    /// The directory that the program's processes write to.
    pub fn path(&self) -> &Path {
        self.session_dir.inner()
    }

    /// The environment variables for the program. Existing layers and values stay.
    pub fn environment(&self) -> Vec<(OsString, OsString)> {
        let before = |name: &str| std::env::var_os(name);
        let mut all: Vec<(OsString, OsString)> = vec![
            ("VK_ADD_LAYER_PATH".into(), joined(self.session_dir.outer().as_os_str(), before("VK_ADD_LAYER_PATH"))),
            ("VK_INSTANCE_LAYERS".into(), joined(OsStr::new(LAYER), before("VK_INSTANCE_LAYERS"))),
            ("WHICHKERNEL_VULKAN".into(), self.path().into()),
            ("WHICHKERNEL_VULKAN_LIMIT".into(), LIMIT.to_string().into()),
        ];
        if self.times {
            all.push(("WHICHKERNEL_VULKAN_TIMES".into(), "1".into()));
        }
        // ggml (0.26 and later) names its pipelines and nodes only with this.
        if before(MARKERS).is_none() {
            all.push((MARKERS.into(), "1".into()));
        }
        all
    }
}

const MARKERS: &str = "GGML_VK_DEBUG_MARKERS";

fn joined(ours: &OsStr, before: Option<OsString>) -> OsString {
    let mut list = ours.to_owned();
    if let Some(before) = before.filter(|before| !before.is_empty()) {
        list.push(":");
        list.push(before);
    }
    list
}

/// The layer manifest that the Vulkan loader reads (its LoaderLayerInterface.md).
pub fn manifest(library: &Path) -> String {
    format!(
        "{{\"file_format_version\":\"1.2.0\",\"layer\":{{\"name\":\"{LAYER}\",\"type\":\"GLOBAL\",\"library_path\":{:?},\
         \"api_version\":\"1.4.0\",\"implementation_version\":\"1\",\"description\":\"records compute dispatches\"}}}}",
        library.display().to_string()
    )
}

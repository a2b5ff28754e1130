//! The backend's unit for evaluation: the file of the tree, followed by the loop that decides which tiles a vendor's
//! cards may use, as a separate function. In the tree that loop is inside the code that opens a device, which cannot be
//! run.

use crate::tree::Tree;
use cxx::Sources;
use cxx::files::Unreadable;
use std::sync::Arc;

/// The name of the function that is appended to the unit.
pub const TILES: &str = "ggml_vk_tiles_of_vendor";

#[derive(Debug)]
pub struct Unit<'t> {
    tree: &'t Tree,
    pub path: String,
    text: Arc<str>,
}

impl<'t> Unit<'t> {
    pub fn new(tree: &'t Tree, path: &str) -> Unit<'t> {
        let text = tree.text(path).map(|text| text.to_string()).unwrap_or_default();
        let tiles = tiles(&text).map(|body| format!("\nvoid {TILES}(vk_device& device) {{\n{body}\n}}\n"));
        let text = text + tiles.as_deref().unwrap_or_default();
        Unit { tree, path: path.to_owned(), text: text.into() }
    }

    pub fn text(&self) -> &str {
        &self.text
    }
}

/// The loop over all types that begins with a switch over vendors.
fn tiles(text: &str) -> Option<&str> {
    let first = text.find("device->mul_mat_l[i]    = device->coopmat_support").or_else(|| {
        // If it is spelled differently: the first place where a tile is set by vendor.
        text.find("case VK_VENDOR_ID_AMD:\n                device->mul_mat_l")
    })?;
    let start = text.get(..first)?.rfind("for (uint32_t i = 0; i < GGML_TYPE_COUNT; ++i)")?;
    let body = text.get(start..)?;
    let mut depth = 0_usize;
    for (place, byte) in body.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return body.get(..=place);
                }
            }
            _ => {}
        }
    }
    None
}

impl Sources for Unit<'_> {
    fn has(&self, path: &str) -> bool {
        self.tree.has(path)
    }

    fn paths(&self) -> Box<dyn Iterator<Item = &str> + '_> {
        Sources::paths(self.tree)
    }

    fn named(&self, name: &str) -> Vec<&str> {
        Sources::named(self.tree, name)
    }

    fn text(&self, path: &str) -> Result<Arc<str>, Unreadable> {
        if path == self.path { Ok(self.text.clone()) } else { Sources::text(self.tree, path) }
    }
}

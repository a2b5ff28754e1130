//! Writes a skeleton model: `cargo run -p whichkernel-gguf --example skeleton -- qwen2-7b Q4_K 28 model.gguf`.

use std::error::Error;
use std::fs;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [shape, kind, layers, path] = words.as_slice() else {
        return Err("give a shape, a tensor type, the number of layers and a file".into());
    };
    let skeleton = gguf::skeleton(&gguf::known(shape)?, gguf::TensorType::parse(kind)?, layers.parse()?, false)?;
    fs::write(path, &skeleton.header)?;
    fs::OpenOptions::new().write(true).open(path)?.set_len(skeleton.file_size)?;
    Ok(())
}

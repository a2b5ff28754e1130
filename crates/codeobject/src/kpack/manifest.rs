//! A manifest (`.kpm`) lists the archives of a component by target. Two forms are known: a map by target, as in the
//! runtime's own test data, and a list, as on its design page.

use crate::error::Result;
use crate::msgpack::{Reader, Token};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    pub target: String,
    /// The name of a file next to the manifest.
    pub file: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Manifest {
    pub component: Option<String>,
    pub files: Vec<Listed>,
}

impl Manifest {
    pub fn parse(data: &[u8]) -> Result<Self> {
        let mut reader = Reader::new(data, 0);
        let mut manifest = Manifest::default();
        for _ in 0..reader.expect_map("kpack manifest")? {
            match reader.expect_str("kpack manifest key")? {
                "component_name" | "component" => {
                    manifest.component = Some(reader.expect_str("component")?.to_owned());
                }
                "kpack_files" => match reader.token("kpack_files")? {
                    Token::Map(count) => {
                        for _ in 0..count {
                            let target = reader.expect_str("kpack_files target")?.to_owned();
                            manifest.read(&mut reader, Some(target))?;
                        }
                    }
                    Token::Array(count) => {
                        for _ in 0..count {
                            manifest.read(&mut reader, None)?;
                        }
                    }
                    _ => {}
                },
                _ => reader.skip("kpack manifest value")?,
            }
        }
        Ok(manifest)
    }

    fn read(&mut self, reader: &mut Reader<'_>, mut target: Option<String>) -> Result<()> {
        let mut file = None;
        for _ in 0..reader.expect_map("kpack_files entry")? {
            match reader.expect_str("kpack_files key")? {
                "file" | "filename" => file = Some(reader.expect_str("file")?.to_owned()),
                "architecture" => target = Some(reader.expect_str("architecture")?.to_owned()),
                _ => reader.skip("kpack_files value")?,
            }
        }
        self.files.extend(target.zip(file).map(|(target, file)| Listed { target, file }));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_shapes_give_target_and_file() {
        let map =
            b"\x82\xaecomponent_name\xa1c\xabkpack_files\x81\xa6gfx900\x82\xa4file\xa7x.kpack\xa4size\xcd\x03\x87";
        let list = b"\x82\xa9component\xa1c\xabkpack_files\x91\x82\xacarchitecture\xa6gfx900\xa8filename\xa7x.kpack";
        let wanted = Manifest {
            component: Some("c".into()),
            files: vec![Listed { target: "gfx900".into(), file: "x.kpack".into() }],
        };
        assert_eq!(Manifest::parse(map).as_ref(), Ok(&wanted));
        assert_eq!(Manifest::parse(list).as_ref(), Ok(&wanted));
    }
}

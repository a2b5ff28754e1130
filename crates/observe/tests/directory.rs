//! A conclusion about a directory covers only the parts that could be read.

use evidence::Word;
use gpu::Arch;
use made_files as make;
use observe::directory::{CatalogSaid, DirectorySurvey, Survey, survey};
use observe::libraries::serves;
use std::fs;
use std::path::Path;
use tensile::{Files, Listing, serve};

struct Words {
    any: Word,
    all: Word,
    complete: Word,
    named: Vec<String>,
}

fn look(dir: &Path, gpu: &str) -> Survey {
    survey(dir, &[], Some(&Arch::parse(gpu).expect("a target")), &mut |_| ())
}

fn words(dir: &Path, gpu: &str) -> Words {
    let survey = look(dir, gpu);
    let place = DirectorySurvey { path: Path::new("x"), survey: &survey, catalogs: Vec::new() };
    let (any, all) = (place.presence(), place.service(&Arch::parse(gpu).expect("a target")));
    let named = any.left_out().iter().map(|left| left.what.to_string()).collect();
    Words { any: any.word(), all: all.word(), complete: place.completeness().word(), named }
}

fn library() -> Vec<u8> {
    make::host(&make::usual_bundle(), &[0])
}

#[test]
fn a_damaged_file_beside_a_good_one_is_named_and_nothing_is_said_without_it() {
    let mut ccob = make::ccob(3, 1, &make::usual_bundle());
    let at = ccob.len() - 9;
    ccob[at] ^= 0xff;
    let whole = library();
    let damaged: [(&str, Vec<u8>); 4] = [
        ("libggml-hip.so", whole[..whole.len() - 40].to_vec()),
        ("kernels.co", ccob),
        ("libkernels.kpack", b"KPAK\x01\0".to_vec()),
        ("more.whl", b"PK\x03\x04rest".to_vec()),
    ];
    for (name, bytes) in damaged {
        let dir = tempfile::tempdir().expect("a directory");
        fs::write(dir.path().join("libgood.so"), &whole).expect("written");
        let good = words(dir.path(), "gfx1201");
        assert_eq!((good.any, good.all, good.complete), (Word::Yes, Word::Yes, Word::Yes));
        assert_eq!(words(dir.path(), "gfx942").any, Word::No);
        fs::write(dir.path().join(name), bytes).expect("written");
        let served = words(dir.path(), "gfx1201");
        assert_eq!((served.any, served.all, served.complete), (Word::Yes, Word::Partly, Word::No), "{name}");
        let other = words(dir.path(), "gfx942");
        assert_eq!(other.any, Word::NotKnown, "{name}");
        assert!(other.named.iter().any(|what| what.contains(name)), "{name}: {:?}", other.named);
    }
}

#[test]
fn where_nothing_serves_not_everything_does() {
    let dir = tempfile::tempdir().expect("a directory");
    let ptx = b"//\n.version 8.7\n.target sm_90\n.address_size 64\n.visible .entry _Z1aPf(\n)\n{\nret;\n}\n";
    fs::write(dir.path().join("x.fatbin"), make::nvidia_container(&[(1, 90, 0x11, ptx, 0)])).expect("written");
    let other = words(dir.path(), "gfx1201");
    assert_eq!((other.any, other.all), (Word::No, Word::NotKnown), "what is for another vendor is not counted");
    let none = tempfile::tempdir().expect("a directory");
    fs::write(none.path().join("libggml-base.so"), make::elf(62, 0, 0, 0, &[])).expect("written");
    assert_eq!(words(none.path(), "gfx1201").any, Word::No);
}

#[test]
fn code_in_the_middle_of_a_host_file_is_found_where_a_gpu_was_asked_about() {
    let dir = tempfile::tempdir().expect("a directory");
    let rodata = make::Section::new(".rodata", 1, make::two_kernels());
    fs::write(dir.path().join("libplain.so"), make::elf(62, 0, 0, 0, &[rodata])).expect("written");
    assert_eq!(words(dir.path(), "gfx1201").any, Word::Yes);
    let unasked = survey(dir.path(), &[], None, &mut |_| ());
    let complete = DirectorySurvey { path: Path::new("x"), survey: &unasked, catalogs: Vec::new() }.completeness();
    assert_eq!((unasked.libraries.len(), complete.word()), (0, Word::No), "nobody read it whole");
}

/// A catalog whose root cannot be read.
struct Cut(Listing);

impl Files for Cut {
    fn listing(&self) -> &Listing {
        &self.0
    }
    fn read(&self, _: &str) -> Result<Vec<u8>, String> {
        Ok(vec![0x82, 0xd9])
    }
    fn kernels(&self, _: &str, _: &str) -> Result<Vec<String>, String> {
        Ok(Vec::new())
    }
}

#[test]
fn of_a_catalog_whose_root_is_cut_nothing_is_known() {
    let cut = Cut(Listing::new(["TensileLibrary_lazy_gfx900.dat".to_owned()]));
    let service = serve(&cut, "gfx900", &mut |_| ());
    let said = serves(&service);
    assert_eq!(said.word(), Word::NotKnown);
    assert!(
        said.left_out().iter().any(|left| left.what.as_str().contains("TensileLibrary_lazy_gfx900.dat")),
        "{said:?}"
    );
    // The names show that another target's root does not exist at all.
    assert_eq!(serves(&serve(&cut, "gfx1201", &mut |_| ())).word(), Word::No);
    let survey = Survey::default();
    let catalog = CatalogSaid { path: Path::new("library"), files: 1, serves: Some(said) };
    let place = DirectorySurvey { path: Path::new("x"), survey: &survey, catalogs: vec![catalog] };
    assert_eq!(place.presence().word(), Word::NotKnown);
    assert_eq!(place.service(&Arch::parse("gfx900").expect("a target")).word(), Word::NotKnown);
}

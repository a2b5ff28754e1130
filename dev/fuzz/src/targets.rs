//! The fuzz targets.

use crate::records;
use codeobject::elf::Elf;
use codeobject::{
    Body, CodeObject, Coverage, Descriptor, Piece, Range, ReadAt, TargetId, Window, ccob, check, host, walk,
};
use std::sync::Arc;

#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// The name of the target, and of its directory under `corpus/`.
    pub name: &'static str,
    pub try_on: fn(&[u8]),
}

pub const TARGETS: &[Target] = &[
    Target { name: "ar", try_on: ar },
    Target { name: "build_files", try_on: build_files },
    Target { name: "bundle", try_on: bundle },
    Target { name: "callchain", try_on: call_chain },
    Target { name: "catalog", try_on: catalog },
    Target { name: "ccob", try_on: bundle },
    Target { name: "checkpoint", try_on: records::checkpoint },
    Target { name: "code_object", try_on: code_object },
    Target { name: "cxx", try_on: cxx_program },
    Target { name: "deb", try_on: deb },
    Target { name: "descriptor", try_on: descriptor },
    Target { name: "gguf", try_on: records::model },
    Target { name: "graph", try_on: graph },
    Target { name: "host", try_on: host_elf },
    Target { name: "inspect", try_on: records::inspected },
    Target { name: "isa", try_on: instructions },
    Target { name: "kernel_name", try_on: kernel_name },
    Target { name: "kernel_table", try_on: records::kernel_table },
    Target { name: "kpack", try_on: kpack },
    Target { name: "launch_map", try_on: launch_map },
    Target { name: "launch_trace", try_on: records::launch_trace },
    Target { name: "ld_cache", try_on: ld_cache },
    Target { name: "ledger_archive", try_on: records::ledger_archive },
    Target { name: "log", try_on: records::log },
    Target { name: "mcp", try_on: mcp_messages },
    Target { name: "metal", try_on: metal_tree },
    Target { name: "note", try_on: note },
    Target { name: "nvidia", try_on: nvidia },
    Target { name: "package_index", try_on: package_index },
    Target { name: "parquet", try_on: records::parquet },
    Target { name: "pe", try_on: pe },
    Target { name: "profile", try_on: records::profile },
    Target { name: "profile_database", try_on: records::profile_database },
    Target { name: "record", try_on: records::record },
    Target { name: "server_answer", try_on: records::server_answer },
    Target { name: "source", try_on: source_tree },
    Target { name: "spirv", try_on: records::spirv },
    Target { name: "target_id", try_on: target_id },
    Target { name: "vulkan_trace", try_on: records::vulkan_trace },
    Target { name: "vulkaninfo", try_on: records::vulkaninfo },
    Target { name: "web_request", try_on: web_request },
    Target { name: "written_by_hand", try_on: records::written_by_hand },
];

/// An archive, a reference and a manifest: the first byte does not reliably show which one a hostile file is.
fn kpack(data: &[u8]) {
    use codeobject::kpack::{Archive, Manifest, Reference};
    let _ = Reference::parse(data, 0);
    let _ = Manifest::parse(data);
    let data = data.to_vec();
    let Ok(archive) = Archive::parse(&data) else { return };
    assert!(archive.entries.len() <= data.len(), "an entry takes bytes");
    for entry in &archive.entries {
        if let Ok(contents) = archive.contents(&data, entry, UNPACK_LIMIT) {
            assert!(contents.len() as u64 <= UNPACK_LIMIT);
            let _ = CodeObject::parse(&contents.into_owned());
        }
    }
}

fn pe(data: &[u8]) {
    let data = data.to_vec();
    let Ok(pe) = codeobject::pe::Pe::parse(&data) else { return };
    for section in &pe.sections {
        assert!(section.range.end <= data.len() as u64, "a section lies in the file");
    }
    let _ = codeobject::nvidia::host_sections(&data);
}

fn ar(data: &[u8]) {
    let data = data.to_vec();
    for member in codeobject::ar::members(&data).unwrap_or_default() {
        assert!(member.range.start <= member.range.end && member.range.end <= data.len() as u64);
    }
}

/// The memory limit for an unpacked bundle: mutated sizes of gigabytes must fail before memory is allocated.
const UNPACK_LIMIT: u64 = 64 << 20;

/// Walks everything, reads every entry as a code object, and checks that no byte is counted twice or left out.
fn bundle(data: &[u8]) {
    let data = data.to_vec();
    let all = Range { start: 0, end: data.len() as u64 };
    let mut at = 0;
    for piece in walk(&data, all, 0) {
        let range = match &piece {
            Piece::Bundle(bundle) => bundle.range(),
            Piece::Padding(range) | Piece::NotUnderstood(range, _) => *range,
        };
        assert_eq!(range.start, at, "the walk left a hole");
        assert!(range.end > at && range.end <= all.end, "the walk did not go on");
        at = range.end;
        let Piece::Bundle(bundle) = piece else { continue };
        if let Body::Plain(table) = &bundle.body {
            let mut coverage = Coverage::default();
            for gap in table.gaps() {
                let _ = coverage.pad(&data, gap);
            }
        }
        let Ok(opened) = bundle.open(&data, UNPACK_LIMIT) else { continue };
        for entry in &opened.table.entries {
            if let Ok(contents) = opened.contents(entry) {
                read_object(&contents);
            }
        }
    }
    assert_eq!(at, all.end, "the walk ended early");
    let _ = ccob::Ccob::parse(&data, 0, all.end).map(|ccob| ccob.unpack(&data, UNPACK_LIMIT));
}

fn code_object(data: &[u8]) {
    read_object(&data.to_vec());
}

fn read_object(source: &dyn ReadAt) {
    let Ok(object) = CodeObject::parse(source) else { return };
    for kernel in object.kernels().flatten() {
        let _ = (kernel.name(), kernel.differences(object.processor()), kernel.metadata.explicit_kernarg_size());
    }
    let _ = object.functions();
    let _ = check::contradictions(&object, object.target.as_ref(), Some("x_gfx90a.co"));
}

fn descriptor(data: &[u8]) {
    if let Some(descriptor) = Descriptor::parse(data) {
        for processor in ["gfx900", "gfx90a", "gfx1030", "gfx1201", "gfx1250", ""] {
            let _ = (descriptor.vgprs(processor), descriptor.accum_offset(processor));
        }
    }
}

fn host_elf(data: &[u8]) {
    let data = data.to_vec();
    let Ok(elf) = Elf::parse(&data) else { return };
    let _ = (host::wrappers(&elf), runtime::linkage::Dynamic::read(&data));
    for section in host::fatbin_sections(&elf) {
        let range = host::range_of(&elf, section);
        if let Ok(part) = Window::new(&data, range.start, range.len(), "device section") {
            let _ = walk(&part, Range { start: 0, end: part.len() }, 0).count();
        }
    }
    for section in elf.sections() {
        let _ = elf.relocations(section);
        let _ = elf.symbols(section).map(|symbols| symbols.iter().count());
    }
}

/// The first byte chooses the processor, the second where a function starts; the rest is code.
fn instructions(data: &[u8]) {
    let [processor, start, code @ ..] = data else { return };
    let target = &isa::TARGETS[usize::from(*processor) % isa::TARGETS.len()];
    let Some(decoder) = isa::Decoder::new(target) else { panic!("no table for {}", target.name) };
    let mut at = 0;
    for (offset, length, _) in decoder.walk(code) {
        assert_eq!(offset, at, "the walk left a hole");
        assert!(length > 0, "the walk did not go on");
        at += length;
    }
    assert_eq!(at, code.len(), "the walk ended early");
    let function = |start: usize, stated| isa::census::Function { range: start..start + 64, stated };
    let functions = [function(usize::from(*start), start % 2 == 0), function(128, false)];
    let census = isa::census::section(&decoder, code, &functions);
    let _ = census.functions.iter().map(isa::Proof::of_kernel).count();
}

fn note(data: &[u8]) {
    for note in codeobject::note::Notes::new(data, 0).flatten() {
        let Ok((head, Some(mut reader))) = codeobject::metadata::head(note.contents, note.offset) else { continue };
        for _ in 0..head.kernels {
            let brief = codeobject::Metadata::read(&mut reader.clone(), codeobject::Detail::Brief);
            let whole = codeobject::Metadata::read(&mut reader, codeobject::Detail::Whole);
            // The brief form omits the arguments, and nothing else.
            if let (Ok(brief), Ok(mut whole)) = (&brief, whole.clone()) {
                whole.arguments.clear();
                assert_eq!(*brief, whole);
            }
            if whole.is_err() {
                break;
            }
        }
    }
}

fn target_id(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let id = codeobject::EntryId::parse(text);
    if let Some(target) = id.target {
        assert_eq!(TargetId::parse(&target.to_string()), Some(target), "a target id does not survive its own text");
    }
    let _ = (gpu::processor_in(text), codeobject::demangle(text));
}

/// A catalog and the extra operations' table: read, walked, and queried for one target.
fn catalog(data: &[u8]) {
    let _ = (tensile::extop::parse(data), tensile::select::CatalogFile::parse(data.to_vec()));
    let Ok(catalog) = tensile::Catalog::parse(data) else { return };
    let _ = (catalog.leaves(None), catalog.leaves(Some("gfx1201")), catalog.solutions_for("gfx1201").count());
    if let Some(library) = &catalog.library {
        let mut indices = std::collections::BTreeSet::new();
        library.indices(Some("gfx1201"), &mut indices);
        let _ = library.unknown();
    }
}

/// The package's members, and as much of its tree as the bytes contain.
fn deb(data: &[u8]) {
    if let Ok(mut ar) = runtime::deb::Ar::new(data) {
        // Every member has a header, which limits their number.
        let mut members = 0;
        while let Ok(Some(_)) = ar.next_member() {
            members += 1;
            assert!(members <= data.len() / 60 + 1, "more members than bytes");
        }
    }
    let Ok(tree) = runtime::deb::data(data) else { return };
    let mut tree = std::io::Read::take(tree, UNPACK_LIMIT);
    let _ = std::io::copy(&mut tree, &mut std::io::sink());
}

fn ld_cache(data: &[u8]) {
    let entries = runtime::linkage::ldcache::parse(data).unwrap_or_default();
    assert!(entries.len() <= data.len() / 24, "more entries than bytes");
}

/// Executes any code in the constructors. The answer may be empty, but there must be no hang or panic.
fn launch_map(data: &[u8]) {
    let data = data.to_vec();
    if let Ok(image) = codeobject::launch_map::Image::read(&data) {
        let map = codeobject::launch_map::launch_map(&image);
        assert!(map.kernels().all(|k| k.wrapper < map.wrappers.len()), "a kernel without its wrapper");
        assert!(map.completeness.sites_decoded <= map.completeness.sites, "more calls read than there are");
    }
}

fn nvidia(data: &[u8]) {
    use codeobject::nvidia;
    let found = nvidia::walk(data);
    let taken: usize = found.containers.iter().map(|c| c.size).sum();
    let lost: usize = found.unknown.iter().map(|(_, len)| len).sum();
    assert_eq!(taken + lost + found.padding, data.len(), "bytes counted twice or forgotten");
    for entry in found.containers.iter().flat_map(|c| &c.entries) {
        let Ok(image) = entry.image(data, UNPACK_LIMIT as usize) else { continue };
        let _ = (nvidia::cubin(&image), nvidia::ptx(&image));
    }
    let _ = nvidia::cubin(data);
}

fn kernel_name(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let facts = launch::grammar::read(&text);
    let _ = (facts.to_string(), launch::grammar::variants([(&facts, true)]));
    if let Some(found) = source::graph::symbol_arguments(&text) {
        assert!(found.list.len() <= text.len(), "an argument takes bytes");
    }
}

/// One text as a Go and as a C++ file of one tree, followed from every route.
fn call_chain(data: &[u8]) {
    let text = String::from_utf8_lossy(data).into_owned();
    let file = |path: &str| callchain::File { path: path.to_owned(), text: text.clone() };
    let files = [file("llm/server.go"), file("src/llama-model.cpp"), file("library/src/handle.cpp")];
    let index = callchain::index(&files);
    for route in index.routes.iter().take(4) {
        let _ = callchain::trace(&index, &route.path);
    }
    let _ = callchain::rocblas::read(&files);
}

struct OneFile(Arc<str>);

impl cxx::Sources for OneFile {
    fn has(&self, path: &str) -> bool {
        path == "main.cpp"
    }

    fn paths(&self) -> Box<dyn Iterator<Item = &str> + '_> {
        Box::new(std::iter::once("main.cpp"))
    }

    fn text(&self, _: &str) -> Result<Arc<str>, cxx::files::Unreadable> {
        Ok(self.0.clone())
    }
}

/// Tokens, preprocessor and parser; then every function without parameters is run, and functions of one number over a
/// range.
fn cxx_program(data: &[u8]) {
    static PLAIN: cxx::Dialect = cxx::Dialect::PLAIN;
    let files = OneFile(String::from_utf8_lossy(data).into());
    let Ok(mut program) = cxx::Program::new(&PLAIN.vocabulary, &[]) else { return };
    if program.load(&files, "main.cpp").is_err() {
        return;
    }
    let mut machine = cxx::eval::Machine::new(&program, &PLAIN, cxx::eval::Platform::default(), |_, _| true);
    for index in (0..program.functions.len().min(16)).map(|index| index as u32) {
        let params = program.function(index).map_or(0, |function| function.params.len());
        let values = vec![cxx::eval::Value::Int(1, 1, cxx::IntTy::I64); params.min(1)];
        machine.reset(1, 512);
        machine.exploring = true;
        let _ = machine.run_function(index, values);
    }
}

/// Graph files, and the results computed from them.
fn graph(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(graphs) = source::graph::parse_all(text) else { return };
    let tensors: usize = graphs.iter().map(|written| written.graph.tensors.len()).sum();
    assert!(tensors <= data.len(), "a tensor takes bytes");
    let read = |written: &source::graph::Written| -> usize {
        let reads = written.ran.iter().flat_map(|ran| &ran.reads);
        reads.filter_map(|read| read.bytes.as_ref()).map(Vec::len).sum()
    };
    assert!(graphs.iter().map(read).sum::<usize>() <= 64 << 20, "more bytes than a file may tell of");
    for (id, tensor) in graphs.iter().flat_map(|written| written.graph.tensors.iter().enumerate()) {
        assert!(tensor.bytes() >= 0 && tensor.address >= 0, "sums that do not fit");
        assert!(tensor.sources.iter().flatten().all(|source| *source < id), "made of what comes later");
    }
}

/// One file is a whole tree: it is read, and its launches are computed.
fn source_tree(data: &[u8]) {
    let tree = source::Tree::from_memory("fuzz", [("ggml-cuda.cu".to_owned(), data.to_vec())]);
    let Ok(device) = source::Device::find("gfx1201") else { return };
    let shape = source::Shape::MulMat { rows: 4096, k: 4096 };
    let preset = source::Preset::find(&tree, device.vendor, "ggml-cuda.cu", &[]);
    if let Ok(mut rules) = source::Rules::open(&tree, device.vendor, &preset, shape.operation()) {
        let _ = rules.answer(&device, &|columns| shape.op("Q4_K", columns), 9, 512);
    }
}

/// The Objective-C and the shaders of a Metal backend: rewritten, read, and run from the registration.
fn metal_tree(data: &[u8]) {
    let main = b"ggml_backend_reg_t ggml_backend_metal_reg(void);".to_vec();
    let files = [("ggml-metal.cpp", main), ("ggml-metal-device.m", data.to_vec()), ("ggml-metal.metal", data.to_vec())];
    let tree = source::Tree::from_memory("fuzz", files.map(|(name, bytes)| (format!("metal/{name}"), bytes)));
    let (Ok(mut rules), Some(card)) = (source::MetalRules::open(&tree), gpu::apple_gpu("apple-m1")) else { return };
    let cells = [("Q4_K".to_owned(), 1)];
    if let Ok(answers) = rules.choices(card, &[], &source::Shape::MulMat { rows: 256, k: 256 }, &cells) {
        assert!(answers.iter().all(|cell| cell.kernel.is_some() != cell.undetermined.is_some()), "one of the two");
    }
}

/// A tree's build files: evaluated to their end, or reported as incomplete.
fn build_files(data: &[u8]) {
    let cu = b"void f(int op) { switch (op) { case GGML_OP_MUL_MAT: g(); } }".to_vec();
    let files = [("CMakeLists.txt".to_owned(), data.to_vec()), ("ggml-cuda.cu".to_owned(), cu)];
    let tree = source::Tree::from_memory("fuzz", files);
    for name in ["gfx1201", "sm_90"] {
        let Ok(device) = source::Device::find(name) else { continue };
        let preset = source::Preset::find(&tree, device.vendor, "ggml-cuda.cu", &[]);
        assert!(preset.unread.is_some() || preset.defines.len() <= data.len() + 16, "a define takes bytes, or a loop");
    }
}

/// A server without tools answers with JSON lines, whatever it receives.
fn mcp_messages(data: &[u8]) {
    struct Nothing;
    impl mcp::Offer for Nothing {
        fn about(&self) -> [String; 3] {
            Default::default()
        }
        fn tools(&self) -> Vec<mcp::Tool> {
            Vec::new()
        }
        fn documents(&self) -> Vec<mcp::Document> {
            Vec::new()
        }
        fn call(&self, tool: &str, _: &serde_json::Map<String, serde_json::Value>) -> mcp::Done {
            panic!("{tool} is not offered")
        }
    }
    let mut said = Vec::new();
    let _ = mcp::serve(data, &mut said, &Nothing);
    for line in said.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        assert!(serde_json::from_slice::<serde_json::Value>(line).is_ok(), "a line that is no JSON");
    }
}

/// A distribution's index of packages.
fn package_index(data: &[u8]) {
    use runtime::fetch::control;
    let text = String::from_utf8_lossy(data);
    for block in control::paragraphs(&text) {
        let paragraph = control::parse(block);
        for group in control::depends(paragraph.get("Depends").unwrap_or_default()) {
            assert!(!group.is_empty() && group.iter().all(|name| !name.is_empty()));
        }
    }
}

/// A browser's request: a page is served only with the token, and never one outside of the pages.
fn web_request(data: &[u8]) {
    use serve::request::{Asked, Gate};
    const TOKEN: &str = "0123456789abcdef";
    if let Asked::File { path, .. } = (Gate { token: Some(TOKEN), port: Some(8080) }).ask(data) {
        assert!(String::from_utf8_lossy(data).contains(TOKEN), "without the token");
        assert!(!path.starts_with('/') && path.split('/').all(|part| part != ".."), "{path}");
    }
}

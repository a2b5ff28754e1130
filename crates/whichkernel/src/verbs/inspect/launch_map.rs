//! `--launch-map`: host handle, kernel name, wrapper, bundle; with `--target` also whether the bundle's code object for
//! that target contains the kernel.

use super::{Args, text::count};
use crate::context::{COULD_NOT_RUN, Context};
use crate::emit::Plain;
use codeobject::launch_map::{Image, Kind, LaunchMap, Registration, Vendor, launch_map};
use codeobject::nvidia::{Region, walk_sections};
use codeobject::{CodeObject, Kernel, Piece, ReadAt, demangle, walk};
use findings::select::Select;
use inventory::{Contents, File, Found, Look, Options, contents, inspect};
use observe::answers::{self, LaunchMapAnswer, MapRow, Unregistered, kind, vendor};
use report::{Column, Table, conclusion_text};
use say::say;
use std::collections::{HashMap, HashSet};
use std::process::ExitCode;

pub fn run(file: &File, args: &Args, context: &Context) -> say::Result<ExitCode> {
    let image = Image::read(file)?;
    let map = launch_map(&image);
    let places = Places::find(file, &image, &map)?;
    let select = args.select()?;
    let shipped = if args.gpu_target.is_some() || args.gpu.is_some() {
        Some(names_of(file, Names(args.select()?))?)
    } else {
        None
    };
    let rows: Vec<Row<'_>> = map
        .registrations
        .iter()
        .filter_map(|registration| {
            let name = demangle(&registration.name).unwrap_or_else(|| registration.name.clone());
            select
                .kernel(&registration.name, &name)
                .then(|| Row::new(registration, name, &map, &places, shipped.as_ref()))
        })
        .collect();
    select.check(file)?;
    let orphans = shipped.as_ref().map(|shipped| unregistered(&map, &places, shipped));
    let plain = |plain| match plain {
        Plain::Text => as_text((file, &map), &rows, orphans.as_deref(), context),
        Plain::Csv => table(&rows, context).csv(),
        Plain::Md => table(&rows, context).markdown(),
    };
    let whole = || answer(file, &map, &rows, orphans.as_deref(), args);
    context.emit_as(args.format, whole, |format| Ok(plain(format)))?;
    for unresolved in map.completeness.unresolved.iter().take(20) {
        let (site, why) = (format!("{:#x}", unresolved.site), unresolved.why);
        let said = context.lang.say(&say!("codeobject-call", site, why));
        let path = file.path().display().to_string();
        crate::context::tell(format_args!("whichkernel: {}: {said}", report::plain(&path)));
    }
    Ok(if map.completeness.is_complete() { ExitCode::SUCCESS } else { ExitCode::from(COULD_NOT_RUN) })
}

/// Bundle and container numbers by the address of their wrapper.
struct Places {
    bundles: HashMap<u64, usize>,
}

impl Places {
    fn find(file: &File, image: &Image<'_>, map: &LaunchMap) -> say::Result<Self> {
        let mut by_offset = HashMap::new();
        if let Ok(Contents::Host { fatbins, .. }) = contents(file) {
            let mut index = 0;
            for range in fatbins {
                for piece in walk(file, range, index) {
                    if let Piece::Bundle(bundle) = piece {
                        by_offset.insert(bundle.offset, bundle.index);
                        index = bundle.index + 1;
                    }
                }
            }
        }
        let mut bundles = HashMap::new();
        for wrapper in map.wrappers.iter().filter(|w| w.vendor == Vendor::Amd) {
            let packed = wrapper.packed.map(|number| number as usize);
            let plain = || image.file_offset(wrapper.image).and_then(|offset| by_offset.get(&offset)).copied();
            if let Some(index) = packed.or_else(plain) {
                bundles.insert(wrapper.address, index);
            }
        }
        if map.wrappers.iter().any(|w| w.vendor == Vendor::Nvidia) {
            for section in walk_sections(file)?.iter().filter(|s| s.section.region == Region::Linked) {
                for wrapper in &map.wrappers {
                    if let Some(index) = section.container_at(wrapper.image) {
                        bundles.insert(wrapper.address, index);
                    }
                }
            }
        }
        Ok(Self { bundles })
    }
}

/// Kernels of the wanted target per bundle, and whether they are stubs.
struct Names(Select);

type Shipped = HashMap<(usize, String), bool>;

impl Look for Names {
    type Out = Vec<(usize, String, bool)>;

    fn entry(&self, found: &Found<'_>, _: &mut Self::Out) -> bool {
        self.0.object(found)
    }

    fn kernel(&self, found: &Found<'_>, _: &CodeObject<'_>, kernel: &Kernel, out: &mut Self::Out) {
        out.push((found.bundle.unwrap_or(0), kernel.mangled().to_owned(), kernel.stub.is_stub()));
    }
}

fn names_of(file: &File, look: Names) -> say::Result<Shipped> {
    let mut shipped = Shipped::new();
    inspect(file, &Options::default(), false, &look, |_, out: Vec<(usize, String, bool)>| {
        shipped.extend(out.into_iter().map(|(bundle, name, stub)| ((bundle, name), stub)));
        say::Result::<_>::Ok(())
    })?;
    Ok(shipped)
}

/// Kernels of the target's code objects that no constructor registers, so that no launch through a handle can reach
/// them.
fn unregistered(map: &LaunchMap, places: &Places, shipped: &Shipped) -> Vec<(usize, String)> {
    let registered: HashSet<(usize, &str)> = map
        .kernels()
        .filter_map(|k| Some((*places.bundles.get(&map.wrappers.get(k.wrapper)?.address)?, k.name.as_str())))
        .collect();
    let mut found: Vec<(usize, String)> =
        shipped.keys().filter(|(bundle, name)| !registered.contains(&(*bundle, name.as_str()))).cloned().collect();
    found.sort();
    found
}

struct Row<'m> {
    registration: &'m Registration,
    name: String,
    bundle: Option<usize>,
    wrapper: u64,
    vendor: Vendor,
    /// `live`, `stub` or `absent` in the target's code object.
    in_target: Option<&'static str>,
}

impl<'m> Row<'m> {
    fn new(
        registration: &'m Registration,
        name: String,
        map: &LaunchMap,
        places: &Places,
        shipped: Option<&Shipped>,
    ) -> Self {
        let wrapper = map.wrappers.get(registration.wrapper);
        let bundle = wrapper.and_then(|w| places.bundles.get(&w.address)).copied();
        let in_target = shipped.filter(|_| registration.kind == Kind::Kernel).map(|shipped| {
            match bundle.and_then(|bundle| shipped.get(&(bundle, registration.name.clone()))) {
                Some(true) => "stub",
                Some(false) => "live",
                None => "absent",
            }
        });
        let vendor = wrapper.map_or(Vendor::Amd, |w| w.vendor);
        Self { registration, name, bundle, wrapper: wrapper.map_or(0, |w| w.address), vendor, in_target }
    }
}

/// Scripts rely on the first three columns.
fn table(rows: &[Row<'_>], context: &Context) -> Table {
    let title = |key: &str| context.lang.text(key);
    let mut table = Table::new(vec![
        Column::right("handle", title("inspect-map-handle")),
        Column::left("mangled", title("inspect-map-mangled")),
        Column::right("bundle", title("inspect-map-bundle")),
        Column::left("name", title("inspect-map-name")),
        Column::right("wrapper", title("inspect-map-wrapper")),
        Column::left("kind", title("inspect-map-kind")),
        Column::left("winner", title("inspect-map-winner")),
        Column::left("exported", title("inspect-map-exported")),
        Column::right("constructor", title("inspect-map-constructor")),
        Column::right("site", title("inspect-map-site")),
        Column::left("vendor", title("inspect-map-vendor")),
        Column::left("in_target", title("inspect-map-in-target")),
    ]);
    for row in rows {
        let r = row.registration;
        table.row([
            format!("{:#x}", r.handle),
            r.name.clone(),
            row.bundle.map_or_else(String::new, |bundle| bundle.to_string()),
            row.name.clone(),
            format!("{:#x}", row.wrapper),
            kind(r.kind).to_owned(),
            r.wins.to_string(),
            r.exported.to_string(),
            r.constructor.to_string(),
            format!("{:#x}", r.site),
            vendor(row.vendor).to_owned(),
            row.in_target.unwrap_or_default().to_owned(),
        ]);
    }
    table
}

fn answer(
    file: &File,
    map: &LaunchMap,
    rows: &[Row<'_>],
    orphans: Option<&[(usize, String)]>,
    args: &Args,
) -> LaunchMapAnswer {
    let row =
        |row: &Row<'_>| MapRow::new(row.registration, &row.name, (row.bundle, row.wrapper, row.vendor), row.in_target);
    let orphan = |(bundle, name): &(usize, String)| Unregistered(*bundle, name.clone());
    LaunchMapAnswer {
        file: file.path().to_string_lossy().into_owned(),
        size: file.len(),
        target: args.gpu_target.clone(),
        launch_map: rows.iter().map(row).collect(),
        wrappers: answers::wrappers(map),
        completeness: answers::completeness(map),
        conclusion: answers::map_conclusion(&file.path().to_string_lossy(), map),
        unregistered: orphans.map(|orphans| orphans.iter().map(orphan).collect()),
    }
}

/// Prints the summary first, then handle, bundle and name of each kernel.
fn as_text(
    (file, map): (&File, &LaunchMap),
    rows: &[Row<'_>],
    orphans: Option<&[(usize, String)]>,
    context: &Context,
) -> String {
    let c = &map.completeness;
    let lang = &context.lang;
    let kernels = map.kernels().count() as u64;
    let number = |n: usize| count(n as u64).into();
    let mut out = lang.text_with(
        "inspect-map-summary",
        &[
            ("kernels", count(kernels).into()),
            ("wrappers", number(map.wrappers.len())),
            ("registering", number(c.registering)),
            ("constructors", number(c.constructors)),
        ],
    ) + "\n";
    let conclusion = answers::map_conclusion(&file.path().to_string_lossy(), map);
    out += &match (conclusion.is_whole(), c.is_complete()) {
        (true, _) => lang.text_with("inspect-map-complete", &[("calls", number(c.sites))]),
        // Every call that was found was read; the conclusion states possible others.
        (false, true) => conclusion_text(lang, &conclusion),
        (false, false) => {
            lang.text_with("inspect-map-incomplete", &[("calls", number(c.sites)), ("read", number(c.sites_decoded))])
        }
    };
    out.push('\n');
    let losers = map.kernels().filter(|k| !k.wins).count();
    out += &(lang
        .text_with("inspect-map-duplicates", &[("names", number(map.duplicates().len())), ("losers", number(losers))])
        + "\n");
    if let Some(orphans) = orphans {
        out += &(lang.text_with("inspect-map-unregistered", &[("kernels", number(orphans.len()))]) + "\n");
        for (bundle, name) in orphans.iter().take(10) {
            out += &format!("  {bundle:>6} {}\n", demangle(name).unwrap_or_else(|| name.clone()));
        }
    }
    if !rows.is_empty() {
        out.push('\n');
    }
    for row in rows {
        let r = row.registration;
        let bundle = row.bundle.map_or_else(|| "-".to_owned(), |bundle| bundle.to_string());
        let note = match (r.kind, r.wins) {
            (Kind::Kernel, true) => String::new(),
            (Kind::Kernel, false) => format!("  [{}]", lang.text("inspect-map-loses")),
            (other, _) => format!("  [{}]", kind(other)),
        };
        let state = row.in_target.map_or_else(String::new, |state| format!(" {state:<6}"));
        out += &format!("{:#14x} {bundle:>6}{state} {}{note}\n", r.handle, row.name);
    }
    out
}

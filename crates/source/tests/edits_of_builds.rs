//! Edits that a commit might make to build files. Their defines for the backend are followed, or the answers that
//! depend on them are undetermined: no tree contains the decisions of a machine, a compiler or a builder.

mod ours;

use ours::{changed, files, plain, tree};
use source::{Device, Overrides, Path, Shape, Survey};

const RULE: &str = "    return ne11 < 64;";
const AT: &str = "    add_compile_definitions(GGML_USE_HIP)\n";

/// Whether the rule sees the define that `condition` tests; None if that is undetermined.
fn seen(condition: &str, commands: &str, more: &[(&'static str, &str)]) -> Option<bool> {
    let mut all = files();
    for (path, text) in &mut all {
        match *path {
            "CMakeLists.txt" => *text = text.replace(AT, &format!("{AT}{commands}\n")),
            "src/cuda/mmq.cu" => {
                *text = text.replace(RULE, &format!("{condition}\n    return false;\n#else\n    return true;\n#endif"));
            }
            _ => {}
        }
    }
    all.extend(more.iter().map(|(path, text)| (*path, (*text).to_owned())));
    plain(&tree(all), "gfx1030", "Q4_K", &[200]).remove(0).map(|(path, _)| path != Path::Mmq)
}

fn defined(commands: &str) -> Option<bool> {
    seen("#ifdef EDITED", commands, &[])
}

#[test]
fn what_build_files_say_plainly_is_followed() {
    for (commands, wanted) in [
        ("add_compile_definitions(EDITED)", true),
        ("ADD_COMPILE_DEFINITIONS(EDITED)", true),
        ("target_compile_definitions(ggml-hip PRIVATE EDITED)", true),
        ("target_compile_definitions(ggml-hip PRIVATE -DEDITED)", true),
        ("target_compile_definitions(ggml-base PUBLIC EDITED)", true),
        ("add_definitions(-DEDITED)", true),
        ("set(L OTHER EDITED)\nadd_compile_definitions(${L})", true),
        ("foreach(d IN ITEMS OTHER EDITED)\nadd_compile_definitions(${d})\nendforeach()", true),
        ("function(f name)\nadd_compile_definitions(${name})\nendfunction()\nf(EDITED)", true),
        ("function(f)\nadd_compile_definitions(EDITED)\nendfunction()", false),
        (
            "function(f v)\nset(${v} ON PARENT_SCOPE)\nendfunction()\nf(W)\nif (W)\nadd_compile_definitions(EDITED)\nendif()",
            true,
        ),
        ("function(f)\nset(W ON)\nendfunction()\nf()\nif (W)\nadd_compile_definitions(EDITED)\nendif()", false),
        ("if (\"$ENV{EDITED}\" STREQUAL \"\")\nadd_compile_definitions(EDITED)\nendif()", true),
        ("if (EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/src/cuda/mmq.cu)\nadd_compile_definitions(EDITED)\nendif()", true),
        ("find_package(hip REQUIRED)\nif (hip_FOUND)\nadd_compile_definitions(EDITED)\nendif()", true),
        ("set(GPU_TARGETS gfx1030)\nif (GPU_TARGETS MATCHES gfx1030)\nadd_compile_definitions(EDITED)\nendif()", true),
        (
            "if (CMAKE_CXX_COMPILER_ID STREQUAL Clang)\nadd_compile_definitions(OTHER)\nendif()\nif (FALSE)\nadd_compile_definitions(EDITED)\nendif()",
            false,
        ),
        ("return()\nadd_compile_definitions(EDITED)", false),
        ("set(P _USE)\nset(EDIT${P}D ED)\nadd_compile_definitions(${EDIT${P}D}ITED)", true),
        ("set(P [[${Q}]])\nset(Q EDITED)\nadd_compile_definitions(\"OTHER=${P}\")", false),
    ] {
        assert_eq!(defined(commands), Some(wanted), "{commands}");
    }
}

#[test]
fn what_no_tree_says_is_open() {
    for condition in [
        "${hip_VERSION} VERSION_GREATER_EQUAL 7.0",
        "CMAKE_VERSION VERSION_GREATER_EQUAL 3.30",
        "CMAKE_CXX_COMPILER_ID STREQUAL \"Clang\"",
        "GPU_TARGETS MATCHES \"gfx1201\"",
        "EXISTS /opt/rocm/include/rocwmma",
        "editlib_FOUND",
        "HAS_IT",
        "HAS_HEADER",
        "SAID MATCHES \"7\"",
        "COPIED",
        "hipblas_VERSION_MAJOR GREATER 2",
        "CMAKE_HIP_COMPILER_ID STREQUAL \"Clang\"",
    ] {
        let asked = "find_package(editlib QUIET)\ncheck_cxx_source_compiles(\"int main() {}\" HAS_IT)\n\
            check_include_file(\"hip/hip_fp8.h\" HAS_HEADER)\nexecute_process(COMMAND hipconfig OUTPUT_VARIABLE SAID)\nset(COPIED ${HAS_IT})\n";
        for (then, other) in [("add_compile_definitions(EDITED)", ""), ("", "add_compile_definitions(EDITED)")] {
            let commands = format!("{asked}if ({condition})\n{then}\nelse()\n{other}\nendif()");
            assert_eq!(defined(&commands), None, "{commands}");
            let set = commands.replace("add_compile_definitions(EDITED)", "set(W ON)");
            let set = format!("{set}\nif (W)\nadd_compile_definitions(EDITED)\nendif()");
            assert_eq!(defined(&set), None, "{set}");
        }
    }
    for then in [
        "foreach(d ED OTH)\nadd_compile_definitions(${d}ITED)\nendforeach()",
        "function(f name)\nadd_compile_definitions(${name})\nendfunction()\nf(EDITED)",
        "include(${CMAKE_CURRENT_SOURCE_DIR}/edit.cmake)",
    ] {
        let file = [("edit.cmake", "add_compile_definitions(EDITED)\n")];
        for condition in ["GPU_TARGETS", "NOT GPU_TARGETS"] {
            let commands = format!("if ({condition})\nset(GPU_TARGETS x)\n{then}\nendif()");
            assert_eq!(seen("#ifdef EDITED", &commands, &file), None, "{commands}");
        }
    }
    // Code after a return that may be taken.
    for condition in ["CMAKE_VERSION VERSION_LESS 3.20", "NOT CMAKE_VERSION VERSION_LESS 3.20"] {
        for around in ["if (TRUE)\nIF\nendif()\nadd_compile_definitions(EDITED)", "IF\nadd_compile_definitions(EDITED)"]
        {
            let commands = around.replace("IF", &format!("if ({condition})\nreturn()\nendif()"));
            assert_eq!(defined(&commands), None, "{commands}");
        }
    }
    let again = "add_compile_definitions(EDITED)\nif (GPU_TARGETS)\nadd_compile_definitions(EDITED)\nendif()";
    assert_eq!(defined(again), Some(true), "once more changes nothing");
    let other = "add_compile_definitions(EDITED)\nif (GPU_TARGETS)\nadd_compile_definitions(EDITED=0)\nendif()";
    assert_eq!(seen("#if EDITED", other, &[]), None);
    let local = "function(f)\nset(GPU_TARGETS x)\nendfunction()\nf()\nif (GPU_TARGETS)\nadd_compile_definitions(EDITED)\nendif()";
    assert_eq!(defined(local), None, "what a function sets is its own");
    let left = "function(f)\nif (CMAKE_VERSION VERSION_LESS 3.20)\nreturn()\nendif()\nendfunction()\nf()\nadd_compile_definitions(EDITED)";
    assert_eq!(defined(left), Some(true), "the function alone is left");
}

#[test]
fn what_is_said_in_another_way_is_never_wrong() {
    for (commands, wanted) in [
        ("target_compile_definitions(ggml-base PRIVATE EDITED)", false),
        ("target_compile_options(ggml-hip PRIVATE -DEDITED)", true),
        ("add_compile_options(-DEDITED=1)", true),
        ("set(CMAKE_HIP_FLAGS \"${CMAKE_HIP_FLAGS} -DEDITED\")", true),
        ("string(APPEND CMAKE_HIP_FLAGS \" -DEDITED\")", true),
        ("add_compile_definitions($<$<BOOL:${TREE_WIDE}>:EDITED>)", true),
        ("add_compile_definitions($<$<COMPILE_LANGUAGE:HIP>:EDITED>)", true),
        ("add_compile_definitions($<$<CONFIG:Debug>:EDITED>)", false),
        ("string(REGEX REPLACE a b V aa)\nif (V STREQUAL bb)\nadd_compile_definitions(EDITED)\nendif()", true),
        ("set(L EDITED OTHER)\nlist(FILTER L EXCLUDE REGEX \"D$\")\nadd_compile_definitions(${L})", false),
        ("set(L EDITED OTHER)\nlist(REMOVE_ITEM L EDITED)\nadd_compile_definitions(${L})", false),
        ("add_definitions(-DEDITED)\nremove_definitions(-DEDITED)", false),
        ("set_property(DIRECTORY APPEND PROPERTY COMPILE_DEFINITIONS EDITED)", true),
        ("set_property(TARGET ggml-hip APPEND PROPERTY COMPILE_DEFINITIONS EDITED)", true),
        ("set_target_properties(ggml-hip PROPERTIES COMPILE_DEFINITIONS \"EDITED;OTHER\")", true),
        ("set_target_properties(ggml-hip PROPERTIES COMPILE_FLAGS \"-DEDITED\")", true),
        ("file(GLOB S src/cuda/*.cu)\nset_source_files_properties(${S} PROPERTIES COMPILE_DEFINITIONS EDITED)", true),
        (
            "add_compile_definitions(EDITED)\nset_source_files_properties(src/cuda/mmq.cu PROPERTIES COMPILE_OPTIONS -UEDITED)",
            false,
        ),
        ("set(N 0)\nwhile (N LESS 3)\nadd_compile_definitions(EDITED)\nmath(EXPR N \"${N} + 1\")\nendwhile()", true),
    ] {
        assert!(defined(commands).is_none_or(|found| found == wanted), "{commands}");
    }
    let module = [("cmake/edit.cmake", "add_compile_definitions(EDITED)\n")];
    assert!(seen("#ifdef EDITED", "include(edit)", &module).is_none_or(|found| found));
    let below = [("src/ggml-hip/sub/CMakeLists.txt", "add_compile_definitions(EDITED)\n")];
    assert!(seen("#ifdef EDITED", "add_subdirectory(src/ggml-hip/sub)", &below).is_none_or(|found| !found));
}

#[test]
fn a_value_that_is_computed_is_never_wrong() {
    for commands in [
        "math(EXPR N \"1 + 2\")\nadd_compile_definitions(EDITED=${N})",
        "set(L a b c)\nlist(LENGTH L N)\nadd_compile_definitions(EDITED=${N})",
        "set(N 0)\nwhile (N LESS 3)\nmath(EXPR N \"${N} + 1\")\nendwhile()\nadd_compile_definitions(EDITED=${N})",
        "set(N 3)\nadd_compile_definitions(EDITED=${N})",
    ] {
        assert!(seen("#if EDITED >= 3", commands, &[]).is_none_or(|found| found), "{commands}");
    }
}

#[test]
fn what_is_too_much_to_follow_is_refused() {
    let loops = "foreach(a 1 2 3 4 5 6 7 8 9 10)\n".repeat(7) + "set(x 1)\n" + &"endforeach()\n".repeat(7);
    let doubled = "set(x aa)\n".to_owned() + &"set(x ${x}${x})\n".repeat(40);
    let deep = "function(f)\nf()\nendfunction()\nf()\n".to_owned();
    for (commands, wanted) in [(loops, "200000 commands"), (doubled, "1048576 bytes"), (deep, "60 deep")] {
        let question = Shape::MulMat { rows: 4096, k: 4096 };
        let question =
            question.question(vec![Device::find("gfx1030").expect("known")], vec!["Q4_K".to_owned()], vec![1]);
        let tree = changed(AT, &format!("{commands}{AT}"));
        let error = Survey::run(&tree, question, &Overrides::default()).expect_err("refused").to_string();
        assert!(error.contains(wanted), "{error}");
    }
}

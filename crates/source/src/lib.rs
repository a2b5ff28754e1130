//! Evaluates the dispatch rules that a ggml tree declares: which path, kernel and tile a product takes on a GPU, for
//! every type and column count; the conditions behind it, its thresholds, and where two trees decide differently.
//!
//! Nothing from the tree is ever executed: the evaluator of `cxx` interprets its host code, under the defines from its
//! own build files. Code that is not understood makes the answer undetermined, with its position. No unsafe; only
//! `tree` opens files.
#![forbid(unsafe_code)]

pub mod answers;
mod argument;
pub mod atlas;
mod backend_table;
mod build_script;
pub mod carried_answers;
pub mod cause;
pub mod choices;
mod cmake;
pub mod comparison;
pub mod decision_diff;
pub mod decision_table;
mod declared;
pub mod device;
mod device_globals;
mod device_queries;
mod dispatcher;
pub mod exact;
pub mod explain;
mod fused_paths;
mod ggml_dialect;
pub mod graph;
pub mod history;
mod infer_tile;
mod inputs;
mod kernel_facts;
mod launch_shape;
pub mod lines;
mod metal;
pub mod model;
mod node_loop;
mod op;
mod outcome;
mod path;
pub mod pins;
pub mod preset;
mod question;
pub mod ranges;
pub mod reason;
mod registered;
mod reuse;
mod rules;
mod session;
mod supports;
mod survey;
pub mod tree;
mod unknown_defines;
mod variants;
pub mod versions;
mod vulkan;
pub mod words;

pub use argument::Argument;
pub use cxx::eval::CallValue;
pub use declared::{Because, Build, Bypass, Condition, Declared, Launch};
pub use device::{ALL as ALL_GPUS, DEFAULT as DEFAULT_GPUS, Device, DeviceError, Vendor};
pub use fused_paths::FusedPath;
pub use gpu::cuda_occupancy::CubinNeeds;
pub use inputs::InputError;
pub use launch_shape::{LaunchShape, PARTS as SHAPE_PARTS, ShapeAt, ShapeDiff, shown as dims_text};
pub use metal::{
    MetalChoice, MetalCondition, MetalDeclared, MetalDiff, MetalDifference, MetalLaunch, MetalProperty, MetalRules,
    metal_properties,
};
pub use op::{Op, Shape};
pub use outcome::{Answer, DeviceAnswers, Launched, Outcome, Reason};
pub use path::{Choice, Path};
pub use preset::{Builder, Defines, Preset};
pub use question::{ALL_TYPES, DEFAULT_COLUMNS, DEFAULT_TYPES, Overrides, Question};
pub use rules::{Rules, RulesError};
pub use survey::{Backend, Row, Survey};
pub use tree::{Skipped, Tree, TreeError};
pub use vulkan::{ReportedError, VulkanChoice, VulkanDeclared, VulkanProfile, VulkanRules};

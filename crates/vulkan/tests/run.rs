//! Handmade traces: which dispatches count as run, how often, and which are known to have completed.

use launch::record::{FIRST, MAGIC};
use proptest::prelude::*;
use vulkan::record::{done, kind};
use vulkan::{Ending, Kernel, Run};

const BUFFER: u64 = 0x10;
const QUEUE: u64 = 0x20;
const FENCE: u64 = 0x30;
const PIPELINE: u64 = 0x40;

/// Fields of 4 and 8 bytes.
enum Field {
    Word(u32),
    Long(u64),
    Bytes(Vec<u8>),
}
use Field::{Bytes, Long, Word};

#[derive(Default)]
struct Made(Vec<u8>);

impl Made {
    fn add(mut self, kind: u32, fields: &[Field]) -> Self {
        let mut body = Vec::new();
        for field in fields {
            match field {
                Word(word) => body.extend(word.to_le_bytes()),
                Long(long) => body.extend(long.to_le_bytes()),
                Bytes(bytes) => body.extend(bytes),
            }
        }
        body.resize(body.len().next_multiple_of(8), 0);
        self.0.extend(u32::try_from(body.len() + 8).unwrap().to_le_bytes());
        self.0.extend(kind.to_le_bytes());
        self.0.extend(body);
        self
    }

    fn pipeline(self, handle: u64, name: &str, constants: &[u32]) -> Self {
        let list = constants.iter().enumerate().flat_map(|(place, _)| {
            let place = u32::try_from(place).unwrap();
            [place, place * 4, 4, 0].map(Word)
        });
        let mut fields = vec![Long(handle), Long(1), Long(0), Long(0), Word(64), Word(0)];
        let count = u32::try_from(constants.len()).unwrap();
        fields.extend([Word(count), Word(count * 4), Word(0), Word(0)]);
        fields.extend(list);
        fields.extend(constants.iter().map(|value| Word(*value)));
        let named = [Long(handle), Word(19), Word(u32::try_from(name.len()).unwrap()), Bytes(name.into())];
        self.add(kind::PIPELINE, &fields).add(kind::NAME, &named)
    }

    fn begin(self) -> Self {
        self.add(kind::BEGIN, &[Long(BUFFER)])
    }

    fn dispatch(self, pipeline: u64, push: &[u32]) -> Self {
        let bytes: Vec<u8> = push.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.add(kind::BIND, &[Long(BUFFER), Long(pipeline)])
            .add(kind::PUSH, &[Long(BUFFER), Word(0), Word(u32::try_from(bytes.len()).unwrap()), Bytes(bytes)])
            .add(kind::DISPATCH, &[Long(BUFFER), Word(7), Word(1), Word(1), Word(0)])
    }

    /// A dispatch with its number among the timed ones.
    fn timed(self, number: u32) -> Self {
        self.add(kind::DISPATCH, &[Long(BUFFER), Word(1), Word(1), Word(1), Word(number << 8)])
    }

    fn times(self, buffer: u64, first: u32, pairs: &[(u64, u64)]) -> Self {
        let count = u32::try_from(pairs.len()).unwrap();
        let mut fields = vec![Long(buffer), Word(10.0_f32.to_bits()), Word(64), Word(first), Word(count)];
        fields.extend(pairs.iter().flat_map(|(begin, end)| [Long(*begin), Long(*end)]));
        self.add(kind::TIMES, &fields)
    }

    fn submit(self, fence: u64, result: u32) -> Self {
        self.add(kind::SUBMIT, &[Long(5), Long(QUEUE), Long(fence), Word(result), Word(1), Long(BUFFER)])
    }

    fn done(self, what: u32, handle: u64) -> Self {
        self.add(kind::DONE, &[Long(6), Long(handle), Word(what), Word(0)])
    }

    fn bytes(self) -> Vec<u8> {
        let mut bytes = vec![0; usize::try_from(FIRST).unwrap()];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[40..44].copy_from_slice(&3_u32.to_le_bytes());
        bytes.extend(self.0);
        let used = bytes.len() as u64;
        bytes[8..16].copy_from_slice(&used.to_le_bytes());
        bytes
    }

    fn run(self) -> Run {
        Run::read(&self.bytes()).expect("a trace")
    }
}

fn endings(run: &Run) -> Vec<Ending> {
    run.dispatches.iter().map(|dispatch| dispatch.ending).collect()
}

#[test]
fn what_is_recorded_and_never_submitted_did_not_run() {
    let run = Made::default().pipeline(PIPELINE, "add_f32", &[]).begin().dispatch(PIPELINE, &[1]).run();
    assert_eq!((run.recorded, run.dispatches.len()), (1, 0));
}

#[test]
fn a_buffer_counts_as_often_as_it_is_submitted_and_begins_anew() {
    let made = Made::default().pipeline(PIPELINE, "add_f32", &[]).begin().dispatch(PIPELINE, &[1]).submit(0, 0);
    let run = made.submit(0, 0).begin().dispatch(PIPELINE, &[2]).dispatch(PIPELINE, &[3]).submit(0, 0).run();
    let pushed: Vec<u8> = run.dispatches.iter().map(|dispatch| dispatch.push[0]).collect();
    assert_eq!(pushed, [1, 1, 2, 3]);
}

#[test]
fn a_refused_submission_ran_nothing() {
    let run = Made::default().pipeline(PIPELINE, "add_f32", &[]).begin().dispatch(PIPELINE, &[1]).submit(0, 4).run();
    assert_eq!((run.dispatches.len(), run.refused), (0, 1));
}

#[test]
fn a_fence_ends_what_was_submitted_before_it_and_nothing_behind() {
    let made = Made::default().pipeline(PIPELINE, "add_f32", &[]).begin().dispatch(PIPELINE, &[1]);
    let made = made.submit(0, 0).submit(FENCE, 0).submit(0, 0).done(done::FENCE, FENCE);
    assert_eq!(endings(&made.run()), [Ending::Completed, Ending::Completed, Ending::Submitted]);
    // A fence without a submission completes nothing.
    let made = Made::default().begin().dispatch(PIPELINE, &[1]).submit(0, 0).done(done::FENCE, FENCE);
    assert_eq!(endings(&made.run()), [Ending::Submitted]);
}

#[test]
fn an_idle_queue_ends_its_own_and_a_lost_device_nothing() {
    let made = Made::default().begin().dispatch(PIPELINE, &[1]).submit(0, 0);
    assert_eq!(endings(&made.done(done::QUEUE, QUEUE).run()), [Ending::Completed]);
    let made = Made::default().begin().dispatch(PIPELINE, &[1]).submit(0, 0);
    assert_eq!(endings(&made.done(done::QUEUE, QUEUE + 1).run()), [Ending::Submitted]);
    let device = [Long(1), Word(2), Word(3), Word(2), Word(0), Word(0), Word(0), Word(0), Word(0), Word(0), Word(0)];
    let made = Made::default().add(kind::DEVICE, &device).begin().dispatch(PIPELINE, &[1]).submit(0, 0);
    assert_eq!(endings(&made.done(done::LOST, 1).run()), [Ending::Lost]);
}

fn took(run: &Run) -> Vec<Option<u64>> {
    run.dispatches.iter().map(|dispatch| dispatch.took.map(|took| took.ns)).collect()
}

/// Timestamps belong to a buffer's last submission, by the numbers of its dispatches; a dispatch without one gets none.
#[test]
fn times_are_given_to_their_own_dispatches_and_to_nobody_else() {
    let made = || Made::default().begin().timed(1).timed(0).timed(2);
    let run = made().submit(FENCE, 0).times(BUFFER, 1, &[(5, 7), (7, 12)]).done(done::FENCE, FENCE).run();
    assert_eq!(took(&run), [Some(20), None, Some(50)]);
    // The times arrive in two records, for another buffer, after the end, or never.
    let run = made().submit(0, 0).times(BUFFER, 1, &[(5, 7)]).times(BUFFER, 2, &[(7, 8)]).run();
    assert_eq!(took(&run), [Some(20), None, Some(10)]);
    assert_eq!(took(&made().submit(0, 0).times(BUFFER + 1, 1, &[(5, 7)]).run()), [None; 3]);
    assert_eq!(took(&made().submit(FENCE, 0).done(done::FENCE, FENCE).times(BUFFER, 1, &[(5, 7)]).run()), [None; 3]);
    // Submitted twice: only the last submission gets times.
    let run = made().submit(0, 0).submit(0, 0).times(BUFFER, 1, &[(5, 7), (8, 9)]).run();
    assert_eq!(took(&run), [None, None, None, Some(20), None, Some(10)]);
    // A record was lost, and two dispatches have one number: it is unknown to which one the time belongs.
    let run = Made::default().begin().timed(1).timed(1).submit(0, 0).times(BUFFER, 1, &[(5, 7)]).run();
    assert_eq!(took(&run), [None; 2]);
    // Invalid numbers.
    for first in [0, 2, u32::MAX] {
        assert_eq!(took(&made().submit(0, 0).times(BUFFER, first, &[]).run()), [None; 3]);
    }
    let cut = [Long(BUFFER), Word(10.0_f32.to_bits()), Word(64), Word(1), Word(u32::MAX), Long(5), Long(7)];
    assert_eq!(took(&made().submit(0, 0).add(kind::TIMES, &cut).run()), [Some(20), None, None]);
}

/// With several devices it is unknown whose queue is lost: nothing in progress completes any more.
#[test]
fn after_a_loss_a_fence_is_no_evidence() {
    let device = |handle: u64| {
        [Long(handle), Word(2), Word(3), Word(2), Word(0), Word(0), Word(0), Word(0), Word(0), Word(0), Word(0)]
    };
    let two = Made::default().add(kind::DEVICE, &device(1)).add(kind::DEVICE, &device(2));
    let made = two.begin().dispatch(PIPELINE, &[1]).submit(FENCE, 0).done(done::LOST, 2).done(done::FENCE, FENCE);
    assert_eq!(endings(&made.run()), [Ending::Submitted]);
}

/// Names, constants and push constants as ggml 0.27 gave them on RADV.
#[test]
fn ggml_names_constants_and_push_constants_give_type_and_columns() {
    let asked = |name: &str, constants: &[u32], push: &[u32]| {
        let run =
            Made::default().pipeline(PIPELINE, name, constants).begin().dispatch(PIPELINE, push).submit(0, 0).run();
        let dispatch = &run.dispatches[0];
        Kernel::of(run.pipeline(dispatch).expect("bound"), &dispatch.push)
            .multiplies
            .map(|of| (of.path.name(), of.ggml_type, of.columns, of.by_id))
    };
    let some = |path, kind: &str, columns, by_id| Some((path, Some(kind.to_owned()), columns, by_id));
    assert_eq!(asked("mul_mat_vec_q5_0_f32_f32", &[64, 2, 1], &[896]), some("mul_mat_vec", "Q5_0", Some(1), false));
    let quantised = asked("mul_mat_vec_q4_k_q8_1_f32", &[64, 1, 8], &[4864]);
    assert_eq!(quantised, some("mul_mat_vec", "Q4_K", Some(8), false));
    let hidden = [128, 64, 64, 32, 64, 32, 2, 16, 16, 16, 64, 1, 12];
    let matrix = asked("matmul_quant_f16_f16acc_aligned_1", &hidden, &[896, 64, 4864]);
    assert_eq!(matrix, some("matmul", "Q4_K", Some(64), false));
    assert_eq!(asked("matmul_q8_0_q8_1_1", &[128], &[128, 290, 896]), some("matmul", "Q8_0", Some(290), false));
    assert_eq!(asked("matmul_id_iq4_nl_f16", &[128], &[128, 290, 896]), some("matmul", "IQ4_NL", None, true));
    assert_eq!(asked("rms_norm_mul_f32", &[0, 1], &[1, 2, 3]), None);
    assert_eq!(asked("mul_mat_vec_p021_f16_f32", &[64], &[1]), None);
    // A number that is not a type is not guessed.
    let unknown = asked("matmul_quant_f16", &[1, 9_999], &[1, 2, 3]);
    assert_eq!(unknown, Some(("matmul", None, Some(2), false)));
}

#[test]
fn other_traces_are_refused() {
    assert!(Run::read(b"").is_err());
    assert!(Run::read(&[7; 5000]).is_err());
    let mut bytes = Made::default().bytes();
    bytes[40] = 2;
    assert!(Run::read(&bytes).is_err());
}

proptest! {
    #[test]
    fn nothing_panics(flips in prop::collection::vec((4096_usize..6000, any::<u8>()), 0..64), cut in 0_usize..6000) {
        let made = Made::default().pipeline(PIPELINE, "matmul_quant_f16", &[1, 12]).begin().dispatch(PIPELINE, &[1, 2, 3]);
        let made = made.timed(1).submit(FENCE, 0).times(BUFFER, 1, &[(5, 7)]);
        let mut bytes = made.done(done::FENCE, FENCE).bytes();
        for (at, byte) in flips {
            if let Some(place) = bytes.get_mut(at) {
                *place = byte;
            }
        }
        let keep = bytes.len().saturating_sub(cut % 900);
        if let Ok(run) = Run::read(&bytes[..keep]) {
            prop_assert!(run.dispatches.len() <= keep && run.pipelines.len() <= keep, "a record takes bytes");
        }
    }
}

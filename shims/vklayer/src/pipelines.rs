//! Modules and pipelines that the program creates.

use crate::abi::*;
use crate::bodies::{self, kind};
use crate::text::text;
use crate::trace::{bytes, write};
use crate::{code, next, record};
use core::ffi::c_void;
use core::sync::atomic::{AtomicU64, Ordering};

/// Words of a module in one record; a longer module is identified by its hash.
const MOST_WORDS: usize = 500 << 10;
/// The maximum number of constants recorded per pipeline.
const MOST_CONSTANTS: usize = 64;

/// SAFETY: must be the program's own module.
unsafe fn module(handle: u64, info: &ModuleInfo) {
    // SAFETY: guaranteed by the caller.
    let code = if info.code.is_null() { &[] } else { unsafe { core::slice::from_raw_parts(info.code, info.size) } };
    let kept = if code.len() <= MOST_WORDS { code } else { &[] };
    let body = bodies::Module {
        handle,
        size: code.len() as u64,
        hash: record::fnv(record::FNV, code),
        len: kept.len() as u32,
        reserved: 0,
    };
    write(kind::MODULE, &[bytes(&body), kept]);
}

pub unsafe extern "C" fn create_module(device: Handle, info: *const ModuleInfo, allocator: *const c_void, to: *mut u64) -> Result {
    type Next = unsafe extern "C" fn(Handle, *const ModuleInfo, *const c_void, *mut u64) -> Result;
    let next = next!(device, vkCreateShaderModule as Next);
    // SAFETY: forwards the program's own call.
    unsafe {
        let result = next.map_or(ERROR_INITIALIZATION_FAILED, |next| next(device, info, allocator, to));
        if let (SUCCESS, Some(info)) = (result, info.as_ref()) {
            module(*to, info);
        }
        result
    }
}

pub unsafe extern "C" fn create_pipelines(
    device: Handle,
    cache: u64,
    count: u32,
    infos: *const ComputePipelineInfo,
    allocator: *const c_void,
    to: *mut u64,
) -> Result {
    type Next = unsafe extern "C" fn(Handle, u64, u32, *const ComputePipelineInfo, *const c_void, *mut u64) -> Result;
    let Some(next) = next!(device, vkCreateComputePipelines as Next) else { return ERROR_INITIALIZATION_FAILED };
    // SAFETY: forwards the program's own call.
    unsafe {
        let result = code::pipelines(count, infos, |infos| next(device, cache, count, infos, allocator, to));
        for place in 0..count as usize {
            // The handles of pipelines that failed are null.
            let (info, handle) = (&*infos.add(place), *to.add(place));
            if handle != 0 {
                pipeline(device, handle, info);
                code::tell(device, handle);
            }
        }
        result
    }
}

/// SAFETY: must be the program's own structure.
unsafe fn pipeline(device: Handle, handle: u64, info: &ComputePipelineInfo) {
    static INLINE: AtomicU64 = AtomicU64::new(1 << 63);
    let (mut subgroup, mut inline) = (0, 0);
    let mut at = info.stage.base.next;
    // SAFETY: guaranteed by the caller.
    while let Some(base) = unsafe { at.as_ref() } {
        match base.kind {
            // SAFETY: the kind determines the type.
            SUBGROUP_SIZE_CREATE_INFO => subgroup = unsafe { (*at.cast::<SubgroupSize>()).size },
            SHADER_MODULE_CREATE_INFO if info.stage.module == 0 => {
                inline = INLINE.fetch_add(1, Ordering::Relaxed);
                // SAFETY: as above.
                unsafe { module(inline, &*at.cast::<ModuleInfo>()) };
            }
            _ => {}
        }
        at = base.next;
    }
    let mut constants = [bodies::Constant { id: 0, offset: 0, size: 0, reserved: 0 }; MOST_CONSTANTS];
    let (mut count, mut data): (usize, &[u8]) = (0, &[]);
    // SAFETY: guaranteed by the caller.
    if let Some(of) = unsafe { info.stage.specialization.as_ref() } {
        for (place, to) in constants.iter_mut().enumerate().take(of.count as usize) {
            // SAFETY: the program's own list.
            let entry = unsafe { &*of.entries.add(place) };
            *to = bodies::Constant { id: entry.id, offset: entry.offset, size: entry.size as u32, reserved: 0 };
            count = place + 1;
        }
        if !of.data.is_null() {
            // SAFETY: as above.
            data = unsafe { core::slice::from_raw_parts(of.data, of.size.min(4096)) };
        }
        if of.count as usize > MOST_CONSTANTS {
            crate::blind(b"specialization constants");
        }
    }
    // SAFETY: as above.
    let entry = unsafe { text(info.stage.entry) };
    let body = bodies::Pipeline {
        handle,
        device: device as u64,
        module: info.stage.module,
        inline,
        subgroup,
        flags: info.flags,
        constants: count as u32,
        data_len: data.len() as u32,
        entry_len: entry.len() as u32,
        reserved: 0,
    };
    // SAFETY: plain data.
    let list = unsafe { core::slice::from_raw_parts(constants.as_ptr().cast::<u8>(), count * size_of::<bodies::Constant>()) };
    write(kind::PIPELINE, &[bytes(&body), list, data, entry]);
}

pub unsafe extern "C" fn set_name(device: Handle, info: *const ObjectName) -> Result {
    // SAFETY: the program's own structure.
    if let Some(info) = unsafe { info.as_ref() } {
        // SAFETY: as above.
        let name = unsafe { text(info.name) };
        let body = bodies::Name { handle: info.handle, object: info.object, len: name.len() as u32 };
        write(kind::NAME, &[bytes(&body), name]);
    }
    let next = next!(device, vkSetDebugUtilsObjectNameEXT as unsafe extern "C" fn(Handle, *const ObjectName) -> Result);
    // SAFETY: forwards the program's own call.
    next.map_or(SUCCESS, |next| unsafe { next(device, info) })
}

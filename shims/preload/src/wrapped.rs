//! A wrapped function: the real one is looked up once and then called. If there is none, the caller gets the result of
//! a runtime without that call.

use crate::{image, lookup, runtimes, unknown};
use core::ffi::{CStr, c_void};
use core::sync::atomic::{AtomicPtr, Ordering};

/// `wrap! { fn name(arg: Type, ...) -> Result, or ANSWER; |real| body }`: exports `name`, whose body may call
/// `real(..)`.
///
/// A module of the same name stores the real function's address, for lookups through `dlsym` and similar functions.
macro_rules! wrap {
    ($(fn $name:ident($($arg:ident: $type:ty),* $(,)?) $(-> $ret:ty)?, or $none:expr; |$real:ident| $body:block)*) => {$(
        pub mod $name {
            use core::sync::atomic::AtomicPtr;
            pub static REAL: AtomicPtr<core::ffi::c_void> = AtomicPtr::new(core::ptr::null_mut());
            // SAFETY: one NUL, at the end.
            pub const NAME: &core::ffi::CStr =
                unsafe { core::ffi::CStr::from_bytes_with_nul_unchecked(concat!(stringify!($name), "\0").as_bytes()) };
        }
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name($($arg: $type),*) $(-> $ret)? {
            type Real = unsafe extern "C-unwind" fn($($type),*) $(-> $ret)?;
            $crate::start();
            let found = $crate::wrapped::behind(&$name::REAL, $name::NAME);
            if found.is_null() {
                return $none;
            }
            // SAFETY: the function of that name.
            let $real = unsafe { core::mem::transmute::<*mut c_void, Real>(found) };
            let _crossed = $crate::unwound::Crossed;
            $body
        }
    )*};
}

/// The real function behind a wrapper.
#[inline]
pub fn behind(cache: &AtomicPtr<c_void>, name: &CStr) -> *mut c_void {
    let known = cache.load(Ordering::Acquire);
    if known.is_null() { find(cache, name) } else { known }
}

/// Programs open the runtime late and locally, where RTLD_NEXT does not search: then the loaded runtime itself is
/// queried.
#[cold]
fn find(cache: &AtomicPtr<c_void>, name: &CStr) -> *mut c_void {
    let mut found = lookup::next(name);
    for library in libraries(name.to_bytes()) {
        if !found.is_null() {
            break;
        }
        let handle = lookup::loaded(library);
        if !handle.is_null() {
            found = lookup::symbol(handle, name);
        }
    }
    if found.is_null() && !crate::sys::sealed() {
        found = image::anywhere(name.to_bytes(), cache);
    }
    if !found.is_null() {
        // A program may close its runtime and open it again; the stored address must stay valid.
        keep(name.to_bytes(), found);
        cache.store(found, Ordering::Release);
    }
    found
}

/// Pins the library, and remembers launch functions.
fn keep(name: &[u8], found: *mut c_void) {
    lookup::pin(found);
    if name.windows(6).any(|part| part == b"Launch") {
        runtimes::met(found as usize);
        unknown::look();
    }
}

/// The libraries that define a function, by its name.
fn libraries(name: &[u8]) -> &'static [&'static CStr] {
    match name {
        [b'h', b'i', b'p', b'b', b'l', b'a', b's', b'L', b't', ..] => &[c"libhipblaslt.so.1", c"libhipblaslt.so.0"],
        [b'h', b'i', b'p', b'b', b'l', b'a', b's', ..] => &[c"libhipblas.so.2", c"libhipblas.so.3"],
        [b'r', b'o', b'c', ..] => &[c"librocblas.so.4", c"librocblas.so.5"],
        [b'c', b'u', b'd', b'a', ..] | [b'_', b'_', b'c', ..] => {
            &[c"libcudart.so.13", c"libcudart.so.12", c"libcudart.so.11.0"]
        }
        [b'c', b'u', ..] => &[c"libcuda.so.1"],
        _ => &[c"libamdhip64.so.6", c"libamdhip64.so.7", c"libamdhip64.so.5", c"libamdhip64.so"],
    }
}

/// One wrapped function, for lookups by name.
pub struct Wrapped {
    pub name: &'static CStr,
    pub wrapper: *const c_void,
    pub real: &'static AtomicPtr<c_void>,
}

// SAFETY: names and addresses of functions.
unsafe impl Sync for Wrapped {}

macro_rules! table {
    ($($module:ident: $($name:ident)*;)*) => {
        pub static TABLE: &[Wrapped] = &[$($(Wrapped {
            name: crate::$module::$name::NAME,
            wrapper: crate::$module::$name as *const c_void,
            real: &crate::$module::$name::REAL,
        },)*)*];
    };
}

table! {
    launch: hipLaunchKernel hipLaunchKernel_spt hipLaunchCooperativeKernel hipLaunchCooperativeKernel_spt hipExtLaunchKernel
        hipLaunchKernelExC hipModuleLaunchKernel hipModuleLaunchCooperativeKernel hipExtModuleLaunchKernel hipSetDevice
        hipExtLaunchMultiKernelMultiDevice hipLaunchCooperativeKernelMultiDevice hipModuleLaunchCooperativeKernelMultiDevice
        cudaLaunchCooperativeKernelMultiDevice cuLaunchCooperativeKernelMultiDevice hipHccModuleLaunchKernel
        hipDrvLaunchKernelEx hipLaunchByPtr
        _Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j
        _Z24hipHccModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_;
    blas: hipblasGemmEx hipblasGemmEx_v2 hipblasGemmBatchedEx hipblasGemmBatchedEx_v2 hipblasGemmStridedBatchedEx
        hipblasGemmStridedBatchedEx_v2 hipblasSgemm rocblas_sgemm rocblas_gemm_ex rocblas_gemm_batched_ex
        rocblas_gemm_strided_batched_ex hipblasLtMatmul;
    modules: __hipRegisterFunction __hipRegisterFatBinary __hipUnregisterFatBinary hipModuleGetFunction hipModuleLoad hipModuleLoadData hipModuleLoadDataEx hipModuleUnload;
    graph: hipStreamBeginCapture hipStreamBeginCapture_spt hipStreamEndCapture hipStreamEndCapture_spt hipGraphInstantiate
        hipGraphInstantiateWithFlags hipGraphInstantiateWithParams hipGraphExecUpdate hipGraphLaunch hipGraphLaunch_spt
        hipGraphAddKernelNode hipGraphAddChildGraphNode hipGraphExecKernelNodeSetParams hipGraphKernelNodeSetParams
        hipStreamBeginCaptureToGraph hipGraphDestroy hipGraphExecDestroy hipGraphExecNodeSetParams
        hipGraphExecChildGraphNodeSetParams hipGraphNodeSetEnabled;
    cuda: __cudaRegisterFatBinary __cudaUnregisterFatBinary __cudaRegisterFunction cudaLaunchKernel cudaLaunchKernel_ptsz cudaLaunchCooperativeKernel cudaLaunchCooperativeKernel_ptsz
        cudaLaunchKernelExC cudaLaunchKernelExC_ptsz cuLaunchKernel cuLaunchKernel_ptsz cuLaunchKernelEx
        cuLaunchKernelEx_ptsz cuLaunchCooperativeKernel cuLaunchCooperativeKernel_ptsz
        cuModuleGetFunction cuLibraryGetKernel cuKernelGetFunction;
    cuda_graph: cudaGraphLaunch cudaGraphLaunch_ptsz cuGraphLaunch cuGraphLaunch_ptsz cudaGraphInstantiate
        cudaGraphInstantiateWithFlags cuGraphInstantiate cuGraphInstantiate_v2 cuGraphInstantiateWithFlags
        cuGraphInstantiateWithParams cuGraphInstantiateWithParams_ptsz
        cudaStreamBeginCapture cudaStreamBeginCapture_ptsz cuStreamBeginCapture_v2 cuStreamBeginCapture_v2_ptsz
        cuStreamBeginCapture cuStreamBeginCapture_ptsz
        cudaStreamEndCapture cudaStreamEndCapture_ptsz cuStreamEndCapture cuStreamEndCapture_ptsz
        cudaGraphExecUpdate cuGraphExecUpdate cuGraphExecUpdate_v2
        cudaGraphInstantiateWithParams cudaGraphInstantiateWithParams_ptsz
        cudaStreamBeginCaptureToGraph cudaStreamBeginCaptureToGraph_ptsz cuStreamBeginCaptureToGraph
        cuStreamBeginCaptureToGraph_ptsz cudaGraphExecKernelNodeSetParams cuGraphExecKernelNodeSetParams
        cuGraphExecKernelNodeSetParams_v2 cudaGraphExecNodeSetParams cuGraphExecNodeSetParams
        cudaGraphExecChildGraphNodeSetParams cuGraphExecChildGraphNodeSetParams cudaGraphNodeSetEnabled
        cuGraphNodeSetEnabled cudaGraphDestroy cuGraphDestroy cudaGraphExecDestroy cuGraphExecDestroy;
    copy: hipMemcpy hipMemcpy_spt cudaMemcpy cudaMemcpy_ptds hipMemcpyAsync hipMemcpyAsync_spt hipMemcpyWithStream
        cudaMemcpyAsync cudaMemcpyAsync_ptsz hipMemcpyDtoH hipMemcpyDtoHAsync cuMemcpyDtoHAsync_v2 cuMemcpyDtoH_v2
        cuMemcpyDtoHAsync_v2_ptsz cuMemcpyDtoH_v2_ptds
        hipMemcpy2DAsync hipMemcpy2D;
    lookup: cuGetProcAddress cuGetProcAddress_v2 hipGetProcAddress cudaGetDriverEntryPoint cudaGetDriverEntryPoint_ptsz
        cudaGetDriverEntryPointByVersion cudaGetDriverEntryPointByVersion_ptsz;
}

/// Every wrapped function is in the table (a test looks up each by name).
pub fn by_name(name: &[u8]) -> Option<&'static Wrapped> {
    if !matches!(name.first(), Some(b'h' | b'c' | b'_' | b'r')) {
        return None;
    }
    TABLE.iter().find(|wrapped| wrapped.name.to_bytes() == name)
}

impl Wrapped {
    /// The result for a lookup of this function that found `real`: the wrapper, if it wraps exactly that function. A
    /// second runtime's function is returned unchanged, and reported.
    pub fn instead_of(&self, real: *mut c_void) -> *mut c_void {
        if real.is_null() || real.cast_const() == self.wrapper {
            return real;
        }
        let mut known = self.real.load(Ordering::Acquire);
        if known.is_null() {
            // Importers of the function get this one: their calls must not go to another runtime that happened to be
            // looked up first.
            let imported = lookup::next(self.name);
            if !imported.is_null() && imported != real {
                known = imported;
                keep(self.name.to_bytes(), imported);
                self.real.store(imported, Ordering::Release);
            }
        }
        if known.is_null() {
            keep(self.name.to_bytes(), real);
            self.real.store(real, Ordering::Release);
        }
        if known.is_null() || known == real { self.wrapper.cast_mut() } else { core::ptr::null_mut() }
    }
}

/// A runtime function that is not wrapped; null if there is none with that name.
pub fn unwrapped(name: &CStr) -> *mut c_void {
    let found = lookup::next(name);
    // Searching further may open files.
    if !found.is_null() || crate::sys::sealed() {
        return found;
    }
    let each = libraries(name.to_bytes()).iter().map(|library| lookup::loaded(library)).filter(|handle| !handle.is_null());
    each.map(|handle| lookup::symbol(handle, name)).find(|found| !found.is_null()).unwrap_or(core::ptr::null_mut())
}

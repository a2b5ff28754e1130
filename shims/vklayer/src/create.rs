//! Instances and devices: the next layer in the chain, and the device's identity.

use crate::abi::*;
use crate::bodies::{self, kind};
use crate::tables::{self, DEVICES, Get, INSTANCES};
use crate::text::field;
use crate::{code, next, times, trace};
use core::ffi::{CStr, c_char, c_void};

const TOO_MANY_OBJECTS: Result = -10;

type CreateInstance = unsafe extern "C" fn(*const Base, *const c_void, *mut Handle) -> Result;
type CreateDevice = unsafe extern "C" fn(Handle, *const DeviceInfo, *const c_void, *mut Handle) -> Result;
type Destroy = unsafe extern "C" fn(Handle, *const c_void);

pub unsafe extern "C" fn get_instance(instance: Handle, name: *const c_char) -> Function {
    if name.is_null() {
        return None;
    }
    // SAFETY: the loader's own string.
    let wanted = unsafe { CStr::from_ptr(name) };
    let own: *const () = match wanted.to_bytes() {
        b"vkGetInstanceProcAddr" => get_instance as *const (),
        b"vkCreateInstance" => create_instance as *const (),
        b"vkDestroyInstance" => destroy_instance as *const (),
        b"vkCreateDevice" => create_device as *const (),
        b"vkGetDeviceProcAddr" => get_device as *const (),
        _ => core::ptr::null(),
    };
    if !own.is_null() {
        // SAFETY: only called with the type of the function of this name.
        return unsafe { core::mem::transmute::<*const (), Function>(own) };
    }
    // SAFETY: the loader's own handle and string.
    let below = unsafe { tables::get(&INSTANCES, instance).and_then(|(get, _)| get(instance, name)) };
    below?;
    tables::wrapper(wanted).map_or(below, |(_, function)| function)
}

pub unsafe extern "C" fn get_device(device: Handle, name: *const c_char) -> Function {
    if name.is_null() {
        return None;
    }
    // SAFETY: the program's own string.
    let wanted = unsafe { CStr::from_ptr(name) };
    if wanted.to_bytes() == b"vkGetDeviceProcAddr" {
        // SAFETY: only called with the type of the function of this name.
        return unsafe { core::mem::transmute::<*const (), Function>(get_device as *const ()) };
    }
    // SAFETY: the program's own handle and string.
    let below = unsafe { tables::get(&DEVICES, device).and_then(|(get, _)| get(device, name)) };
    below?;
    tables::wrapper(wanted).map_or(below, |(_, function)| function)
}

/// The loader's link for this layer in a chain; advances the chain to the next.
///
/// SAFETY: must be the loader's own chain.
unsafe fn link(mut at: *mut Base, wanted: u32) -> Option<&'static Link> {
    // SAFETY: guaranteed by the caller.
    while let Some(base) = unsafe { at.as_mut() } {
        if base.kind == wanted {
            // SAFETY: the kind determines the type.
            let info = unsafe { &mut *at.cast::<LayerInfo>() };
            if info.function == LINK_INFO {
                // SAFETY: as above.
                let own = unsafe { info.link.as_ref() }?;
                info.link = own.next;
                return Some(own);
            }
        }
        at = base.next;
    }
    None
}

/// SAFETY: the function of this name must have this type.
unsafe fn found<T: Copy>(get: Get, handle: Handle, name: &CStr) -> Option<T> {
    const { assert!(size_of::<T>() == size_of::<usize>()) };
    // SAFETY: guaranteed by the caller.
    let function = unsafe { get(handle, name.as_ptr()) }?;
    // SAFETY: both are function pointers.
    Some(unsafe { core::mem::transmute_copy::<unsafe extern "C" fn(), T>(&function) })
}

unsafe extern "C" fn create_instance(info: *const Base, allocator: *const c_void, instance: *mut Handle) -> Result {
    // SAFETY: the loader's own chain.
    let Some(link) = (unsafe { info.as_ref().and_then(|info| link(info.next, LOADER_INSTANCE_CREATE_INFO)) }) else {
        return ERROR_INITIALIZATION_FAILED;
    };
    let Some(get) = link.instance else { return ERROR_INITIALIZATION_FAILED };
    // SAFETY: the function of this name has this type.
    let Some(create) = (unsafe { found::<CreateInstance>(get, core::ptr::null_mut(), c"vkCreateInstance") }) else {
        return ERROR_INITIALIZATION_FAILED;
    };
    // SAFETY: forwards the program's own call.
    let result = unsafe { create(info, allocator, instance) };
    // SAFETY: the handle was just created.
    if result == SUCCESS && !unsafe { tables::enter(&INSTANCES, *instance, get, false) } {
        return TOO_MANY_OBJECTS;
    }
    result
}

unsafe extern "C" fn destroy_instance(instance: Handle, allocator: *const c_void) {
    // SAFETY: the program's own handle.
    let below = unsafe { tables::get(&INSTANCES, instance) };
    let destroy = below.and_then(|(get, _)| {
        // SAFETY: the function of this name has this type.
        unsafe { found::<Destroy>(get, instance, c"vkDestroyInstance") }
    });
    // SAFETY: as above.
    unsafe {
        tables::leave(&INSTANCES, instance);
        if let Some(destroy) = destroy {
            destroy(instance, allocator);
        }
    }
}

unsafe extern "C" fn create_device(physical: Handle, info: *const DeviceInfo, allocator: *const c_void, device: *mut Handle) -> Result {
    // SAFETY: the loader's own chain.
    let Some(link) = (unsafe { info.as_ref().and_then(|info| link(info.base.next, LOADER_DEVICE_CREATE_INFO)) }) else {
        return ERROR_INITIALIZATION_FAILED;
    };
    let (Some(get), Some(get_device)) = (link.instance, link.device) else { return ERROR_INITIALIZATION_FAILED };
    // SAFETY: the program's own handle.
    let instance = unsafe { tables::get(&INSTANCES, physical) }.map_or(core::ptr::null_mut(), |(_, instance)| instance);
    // SAFETY: the function of this name has this type.
    let Some(create) = (unsafe { found::<CreateDevice>(get, instance, c"vkCreateDevice") }) else {
        return ERROR_INITIALIZATION_FAILED;
    };
    // SAFETY: forwards the program's own call, with only the requested additions.
    let result = unsafe { code::create(get, instance, physical, info, |info| create(physical, info, allocator, device)) };
    if result != SUCCESS {
        return result;
    }
    // SAFETY: the handle was just created.
    unsafe {
        if !tables::enter(&DEVICES, *device, get_device, true) {
            return TOO_MANY_OBJECTS;
        }
        tell(get, instance, physical, *device, get_device);
    }
    result
}

/// Records the device's identity, as its driver reports it.
///
/// SAFETY: must be the program's own handles.
unsafe fn tell(get: Get, instance: Handle, physical: Handle, device: Handle, of_device: Get) {
    type GetProperties = unsafe extern "C" fn(Handle, *mut Properties2);
    // SAFETY: the function of this name has this type.
    let Some(properties) = (unsafe { found::<GetProperties>(get, instance, c"vkGetPhysicalDeviceProperties2") }) else {
        return crate::blind(b"vkGetPhysicalDeviceProperties2");
    };
    let mut driver = DriverProperties {
        base: Base { kind: DRIVER_PROPERTIES, next: core::ptr::null_mut() },
        id: 0,
        name: [0; 256],
        info: [0; 256],
        conformance: [0; 4],
    };
    let mut all = Properties2 {
        base: Base { kind: PROPERTIES_2, next: (&raw mut driver).cast() },
        properties: Properties { api: 0, driver: 0, vendor: 0, device: 0, device_type: 0, name: [0; 256], rest: [0; 1024] },
    };
    // SAFETY: both structures live for the call and have the length that the driver writes.
    unsafe { properties(physical, &raw mut all) };
    let of = &all.properties;
    // SAFETY: guaranteed by the caller.
    unsafe { times::opened(get, instance, physical, device, of_device, of) };
    let (name, driver_name, driver_info) = (field(&of.name), field(&driver.name), field(&driver.info));
    let body = bodies::Device {
        handle: device as u64,
        vendor: of.vendor,
        device: of.device,
        device_type: of.device_type,
        api: of.api,
        driver: of.driver,
        driver_id: driver.id,
        name_len: name.len() as u32,
        driver_len: driver_name.len() as u32,
        info_len: driver_info.len() as u32,
        reserved: 0,
    };
    trace::write(kind::DEVICE, &[trace::bytes(&body), name, driver_name, driver_info]);
}

pub unsafe extern "C" fn destroy_device(device: Handle, allocator: *const c_void) {
    let destroy = next!(device, vkDestroyDevice as Destroy);
    // SAFETY: forwards the program's own call.
    unsafe {
        if !device.is_null() {
            times::closed(device);
        }
        tables::leave(&DEVICES, device);
        if let Some(destroy) = destroy {
            destroy(device, allocator);
        }
    }
}

//! Lines of the HIP runtime (AMD_LOG_LEVEL >= 3): `:LEVEL:FILE :LINE: TIME us: [pid:N tid: 0xN] MESSAGE`, the brackets from
//! level 4 on (ROCm clr, rocclr/utils/debug.cpp). A call is printed when it begins (`hipLaunchKernel ( .. )`) and when
//! it returns; between them, for a dispatch, `ShaderName : NAME` (rocvirtual.cpp).

/// The meaning of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line<'a> {
    /// A launch call begins.
    Launch { api: &'static str, handle: u64, grid: [u32; 3], block: [u32; 3], shared: u32 },
    /// The runtime put this kernel into a queue.
    Shader(&'a str),
    /// A launch call returned: whether it succeeded.
    Returned { api: &'static str, success: bool },
    /// A GPU that the runtime found at startup.
    Device(String),
    /// The host reads data back.
    Readback,
    /// Another line of the same log.
    Other,
}

/// Thread and message of a line of this log; None for other lines.
pub fn split(line: &str) -> Option<(&str, &str)> {
    let rest = line.trim_start().strip_prefix(':')?;
    let (level, rest) = rest.split_once(':')?;
    level.trim().parse::<u8>().ok()?;
    let (_, message) = rest.split_once(" us: ")?;
    let message = message.trim_start();
    Some(match message.strip_prefix("[pid:").and_then(|rest| rest.split_once(']')) {
        Some((thread, message)) => (thread, message),
        None => ("", message),
    })
}

const LAUNCHES: [&str; 6] = [
    "hipLaunchKernel",
    "hipModuleLaunchKernel",
    "hipExtModuleLaunchKernel",
    "hipExtLaunchKernel",
    "hipLaunchCooperativeKernel",
    "hipLaunchKernelExC",
];

pub fn read(message: &str) -> Line<'_> {
    let message = message.trim().trim_start_matches("\u{1b}[32m").trim_end_matches("\u{1b}[0m").trim();
    if let Some((_, name)) = message.split_once("ShaderName : ") {
        return Line::Shader(name.trim());
    }
    // rocdevice.cpp prints this once for each agent that it treats as a GPU.
    if let Some((_, numbers)) = message.split_once("Gfx Major/Minor/Stepping: ") {
        let mut parts = numbers.trim().split('/').map(|part| part.parse::<u32>());
        if let (Some(Ok(major)), Some(Ok(minor)), Some(Ok(stepping))) = (parts.next(), parts.next(), parts.next()) {
            return Line::Device(format!("gfx{major}{minor:x}{stepping:x}"));
        }
    }
    if let Some((name, rest)) = message.split_once(": Returned ") {
        let api = LAUNCHES.iter().find(|api| **api == name.trim());
        return api.map_or(Line::Other, |api| Line::Returned { api, success: rest.starts_with("hipSuccess") });
    }
    let Some((name, arguments)) = message.split_once(" ( ") else { return Line::Other };
    let name = name.trim();
    if name.starts_with("hipMemcpy") && (arguments.contains("hipMemcpyDeviceToHost") || name.contains("DtoH")) {
        return Line::Readback;
    }
    match LAUNCHES.iter().find(|api| **api == name) {
        Some(api) => launch(api, arguments.trim_end_matches([' ', ')'])),
        None => Line::Other,
    }
}

fn launch<'a>(api: &'static str, arguments: &str) -> Line<'a> {
    let handle = arguments.split(',').next().and_then(|text| text.trim().strip_prefix("0x"));
    let handle = handle.and_then(|hex| u64::from_str_radix(hex, 16).ok()).unwrap_or(0);
    let number = |text: &str| text.trim().parse::<u32>().unwrap_or(0);
    let three = |text: &str| {
        let mut parts = text.split(',').map(number);
        [parts.next().unwrap_or(0), parts.next().unwrap_or(0), parts.next().unwrap_or(0)]
    };
    let mut braces = arguments.split('{').skip(1).filter_map(|part| part.split_once('}'));
    if let (Some((grid, _)), Some((block, rest))) = (braces.next(), braces.next()) {
        // handle, {grid}, {block}, arguments, shared memory, stream
        let shared = rest.split(',').nth(2).map_or(0, number);
        return Line::Launch { api, handle, grid: three(grid), block: three(block), shared };
    }
    let parts: Vec<u32> = arguments.split(',').skip(1).map(number).collect();
    let at = |place: usize| parts.get(place).copied().unwrap_or(0);
    let (mut grid, block) = ([at(0), at(1), at(2)], [at(3), at(4), at(5)]);
    if api == "hipExtModuleLaunchKernel" {
        // This call counts the grid in threads.
        for (grid, block) in grid.iter_mut().zip(block) {
            *grid = if block == 0 { 0 } else { grid.div_ceil(block) };
        }
    }
    Line::Launch { api, handle, grid, block, shared: at(6) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From Debian's libamdhip64.so.6.4.43484 with AMD_LOG_LEVEL=4, on a machine without a GPU.
    const BEGIN: &str = ":3:hip_module.cpp           :744 : 14644558318 us: [pid:8015 tid: 0x7fc36f3dd8c0] \u{1b}[32m hipLaunchKernel ( 0x56439cb62148, {1,2,3}, {64,1,1}, 0x7ffe949d3140, 512, stream:<null> ) \u{1b}[0m";
    const END: &str = ":3:hip_module.cpp           :744 : 14644558329 us: [pid:8015 tid: 0x7fc36f3dd8c0] hipLaunchKernel: Returned hipErrorNoDevice : ";

    #[test]
    fn lines_of_a_real_runtime() {
        let (thread, message) = split(BEGIN).expect("a line of the log");
        assert_eq!(thread, "8015 tid: 0x7fc36f3dd8c0");
        let launch = Line::Launch {
            api: "hipLaunchKernel",
            handle: 0x5643_9cb6_2148,
            grid: [1, 2, 3],
            block: [64, 1, 1],
            shared: 512,
        };
        assert_eq!(read(message), launch);
        let (_, message) = split(END).expect("a line of the log");
        assert_eq!(read(message), Line::Returned { api: "hipLaunchKernel", success: false });
        assert_eq!(split("load_tensors: offloaded 29/29 layers to GPU"), None);
    }

    /// In the form printed by clr's sources (rocvirtual.cpp; without a thread below level 4).
    #[test]
    fn shaders_and_module_launches() {
        let line = ":3:rocvirtual.cpp           :3190: 0000012345 us:  ShaderName : Cijk_Alik_Bljk_HHS_BH_MT64x64x32";
        let (thread, message) = split(line).expect("a line of the log");
        assert_eq!((thread, read(message)), ("", Line::Shader("Cijk_Alik_Bljk_HHS_BH_MT64x64x32")));
        let module = "hipExtModuleLaunchKernel ( 0x10, 512, 2, 1, 256, 1, 1, 64, stream:0x1, 0x0, 0x7f, 0, 0, 0 )";
        let Line::Launch { grid, block, shared, .. } = read(module) else { panic!("a launch") };
        assert_eq!((grid, block, shared), ([2, 2, 1], [256, 1, 1], 64));
        assert_eq!(read("Gfx Major/Minor/Stepping: 9/0/10"), Line::Device("gfx90a".into()));
        assert_eq!(read("Gfx Major/Minor/Stepping: 12/0/1"), Line::Device("gfx1201".into()));
        assert_eq!(read("hipMemcpyAsync ( 0x1, 0x2, 64, hipMemcpyDeviceToHost, stream:0x3 )"), Line::Readback);
    }
}
